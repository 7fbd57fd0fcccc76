"""What one run made, the next one starts from: the flow on fakes, the library real."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.worlds import DOUBLE, SQUARE, TASK, World, job_of, saying, with_effort
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.knowledge.embedder import HashedEmbedder
from twinsmith.adapters.knowledge.library import Library
from twinsmith.adapters.knowledge.library_masked import MaskedLibrary
from twinsmith.adapters.knowledge.nothing import NothingKnown
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.core.errors import EngineError
from twinsmith.core.knowing.knowledge import Built
from twinsmith.core.masking import Masking
from twinsmith.core.task import Job

SURE = saying(coder=[DOUBLE])
SIMILAR = "Write a function double(n) that gives twice a whole number."
SECRET = "correct-horse-battery"


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    store = SqliteStore(tmp_path / "knowledge.db")
    made = Library(store, tmp_path, HashedEmbedder(), SystemClock(), "user:test")
    yield made
    await made.close()


def world_with(library: Library) -> World:
    world = World(SURE)
    world.retriever = MaskedLibrary(library, Masking(secrets=(SECRET,)))
    return world


def second(text: str = SIMILAR) -> Job:
    return replace(job_of(text), run="r2")


def said(world: World) -> object:
    """What the journal says became of the program; None where nothing did."""
    told = {entry.event.kind: entry.event.data for entry in world.journal.entries("r1")}
    return told["program.kept"]["said"] if "program.kept" in told else None


async def test_a_similar_task_is_told_the_program_of_the_first(library: Library) -> None:
    world = world_with(library)
    assert (await world.build(job_of())).solved
    assert said(world) == "kept"
    assert world.steps()[-2:] == ["share", "keep"]
    assert all(DOUBLE not in prompt.text for prompt in world.prompts("coder"))
    later = world_with(library)
    assert (await later.build(second())).solved
    coder = later.prompts("coder")[1].text
    assert DOUBLE.strip() in coder
    assert TASK not in coder
    report = json.loads(later.files(second())["report.json"])
    (piece,) = report["pieces"]
    assert (piece["source"], piece["path"], piece["licence"]) == ("built", "r1", "own")
    assert (piece["symbol"], report["copied"]) == ("double", 1.0)


async def test_a_task_about_something_else_is_told_nothing(library: Library) -> None:
    await world_with(library).build(job_of())
    later = world_with(library)
    await later.build(second("Write double(n), which sorts the lines of a file by their length."))
    assert all(DOUBLE.strip() not in prompt.text for prompt in later.prompts("coder"))


async def test_a_run_that_was_interrupted_while_keeping_adds_nothing_twice(
    library: Library,
) -> None:
    class Killed(MaskedLibrary):
        async def keep(self, made: Built) -> str:
            await super().keep(made)
            raise KeyboardInterrupt

    world = World(SURE)
    world.retriever = Killed(library, Masking())
    with pytest.raises(KeyboardInterrupt):
        await world.build(job_of())
    world.retriever = MaskedLibrary(library, Masking())
    for _ in range(2):
        assert (await world.build(job_of())).solved
    assert (library.stats().documents, library.stats().deleted) == (1, 0)
    assert world.kinds().count("program.kept") == 1


@pytest.mark.parametrize("changes", [{"least": 1.0}, {"retrieval": False}])
async def test_what_is_not_solved_or_not_wanted_adds_nothing(
    library: Library, changes: dict[str, float]
) -> None:
    world = world_with(library)
    await world.build(with_effort(job_of(), **changes))
    assert (library.sources(), said(world)) == ([], None)


async def test_what_is_hardly_more_than_a_guess_adds_nothing_unless_tests_decide(
    library: Library,
) -> None:
    world = world_with(library)
    world.say = saying(coder=[SQUARE, DOUBLE])
    outcome = await world.build(job_of())
    assert (outcome.solved, outcome.confidence < 0.75) == (True, True)
    assert library.sources() == []
    tested = world_with(library)
    tested.say = saying(coder=[SQUARE, DOUBLE])
    await tested.build(job_of(tests="assert double(3) == 6"))
    assert said(tested) == "kept"


async def test_a_library_that_is_away_stops_no_run(library: Library) -> None:
    class Away(NothingKnown):
        async def keep(self, made: Built) -> str:
            raise EngineError(f"no library for {made.run}")

    world = world_with(library)
    world.retriever = Away()
    assert (await world.build(job_of())).solved
    assert said(world) == "not kept: no library for r1"


async def test_a_secret_in_a_task_is_not_in_the_library(library: Library, tmp_path: Path) -> None:
    world = world_with(library)
    assert (await world.build(job_of(f"{TASK} My key is {SECRET}."))).solved
    assert said(world) == "kept"
    (hit,) = await library.search(TASK, 3, "python", "dense")
    assert "My key is [masked]." in hit.passage.text
    assert all(SECRET.encode() not in file.read_bytes() for file in tmp_path.glob("*.db*"))
