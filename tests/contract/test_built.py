"""Programs that runs made, in a real library on every store of record."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.models import installed
from tests.stores import Place, new_place
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.knowledge import built
from twinsmith.adapters.knowledge.embedder import Embedder, HashedEmbedder
from twinsmith.adapters.knowledge.library import Library
from twinsmith.adapters.knowledge.library_masked import MaskedLibrary
from twinsmith.adapters.knowledge.minilm import MiniLm
from twinsmith.adapters.knowledge.nothing import NothingKnown
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.adapters.knowledge.store import Store
from twinsmith.core.knowing.knowledge import BUILT, Built, Hit, program_in
from twinsmith.core.masking import Masking
from twinsmith.flow.build.retrieve import LEAST_SCORE_OF_BUILT

pytestmark = pytest.mark.xdist_group("durable")

ROMAN = "def to_roman(n):\n    return ''.join(digits_of(n))\n"
MADE = Built(
    run="20261115-101500-a3f9",
    task="a function that gives the Roman numeral\n of a number",
    language="python",
    entry="to_roman",
    source=ROMAN,
    confidence=0.9,
)
SECRET = "correct-horse-battery"


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return new_place(request.param, request, tmp_path)


@pytest.fixture
async def library(place: Place, tmp_path: Path) -> AsyncIterator[Library]:
    made = library_on(place.open(), tmp_path)
    yield made
    await made.close()


@pytest.fixture
def files() -> tuple[Path, Path]:
    return installed("minilm-l6-v2"), installed("minilm-l6-v2-tokenizer")


def library_on(store: Store, folder: Path, embedder: Embedder | None = None) -> Library:
    return Library(store, folder, embedder or HashedEmbedder(), SystemClock(), "user:test")


async def found(library: Library, task: str = MADE.task, language: str = "python") -> list[Hit]:
    return list(await library.search(task, 10, language, "dense"))


async def runs(library: Library, task: str = MADE.task, language: str = "python") -> list[str]:
    return [hit.passage.path for hit in await found(library, task, language)]


async def test_a_program_is_found_by_its_task_with_its_lineage(library: Library) -> None:
    assert await library.keep(MADE) == "kept"
    (hit,) = await found(library, "the Roman numeral of a number, in a function to_roman")
    passage = hit.passage
    assert (passage.source, passage.path, passage.symbol) == (BUILT, MADE.run, "to_roman")
    assert (passage.language, passage.licence, passage.who) == ("python", "own", "user:test")
    assert program_in(passage) == ROMAN
    assert passage.text.startswith("a function that gives the Roman numeral of a number\n")


async def test_what_the_program_says_is_found_by_its_words_and_changes_no_meaning(
    library: Library,
) -> None:
    await library.keep(MADE)
    assert [hit.channel for hit in await library.search("digits_of", 3)] == ["lexical"]
    (short,) = await found(library)
    await library.keep(replace(MADE, source=f"{ROMAN}# {'something else ' * 100}\n"))
    (long,) = await found(library)
    assert long.score == short.score > 0.9
    assert long.passage.version != short.passage.version


async def test_a_run_is_kept_once(library: Library) -> None:
    for _ in range(2):
        assert await library.keep(MADE) == "kept"
    figures = library.stats()
    assert (figures.documents, figures.passages, figures.deleted) == (1, 1, 0)


async def test_only_a_program_that_is_as_sure_takes_the_place_of_another(library: Library) -> None:
    await library.keep(MADE)
    doubtful = replace(MADE, run="r2", confidence=0.899)
    assert await library.keep(doubtful) == (
        "not kept: run 20261115-101500-a3f9 was surer of its program for this task"
    )
    assert await runs(library) == [MADE.run]
    assert await library.keep(replace(doubtful, confidence=0.9)) == "kept"
    assert await runs(library) == ["r2"]
    await library.keep(replace(MADE, run="r3", language="perl", confidence=0.8))
    await library.keep(replace(MADE, run="r4", task=f"{MADE.task} below 10", confidence=0.8))
    assert await runs(library, language="perl") == ["r3"]
    assert sorted(await runs(library)) == ["r2", "r4"]


async def test_what_was_interrupted_between_keeping_and_forgetting_is_done_again(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    await library.keep(MADE)
    later = replace(MADE, run="r2")
    with monkeypatch.context() as patched:
        # As it is when the first run is not forgotten yet.
        patched.setattr(built, "same_task", lambda _known, _made: {})
        await library.keep(later)
    assert sorted(await runs(library)) == [MADE.run, "r2"]
    assert await library.keep(later) == "kept"
    assert await runs(library) == ["r2"]


async def test_the_oldest_go_when_there_are_too_many(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(built, "MOST_PROGRAMS", 3)
    for run in ("z", "b", "y", "a", "x"):
        assert await library.keep(replace(MADE, run=run, task=f"{MADE.task} {run}")) == "kept"
    assert sorted(await runs(library)) == ["a", "x", "y"]
    assert library.stats().documents == 3


async def test_a_program_that_is_too_long_is_not_kept_and_a_long_task_is_cut(
    library: Library,
) -> None:
    longest = "x" * built.LONGEST_PROGRAM
    assert await library.keep(replace(MADE, source=f"{longest}x")) == (
        "not kept: it has 8001 characters; at most 8000"
    )
    assert library.sources() == []
    assert await library.keep(replace(MADE, source=longest, task="word " * 12_000)) == "kept"
    (hit,) = await found(library, "word")
    assert program_in(hit.passage) == longest
    assert len(hit.passage.text) < built.LONGEST_PROGRAM + built.LONGEST_TASK + 5


async def test_programs_are_a_source_like_any_other(library: Library, tmp_path: Path) -> None:
    await library.keep(MADE)
    await library.keep(replace(MADE, run="r2", task="another task"))
    assert library.sources() == [BUILT]
    await library.snapshot(tmp_path / "known.zip", lambda _done, _of: None)
    assert library.remove(BUILT) == 2
    assert await runs(library) == []
    await library.restore(tmp_path / "known.zip", lambda _done, _of: None)
    assert await library.keep(replace(MADE, run="r3", confidence=0.5)) != "kept"
    assert MADE.run in await runs(library)


async def test_no_secret_is_kept(place: Place, library: Library) -> None:
    masked = MaskedLibrary(library, Masking(secrets=(SECRET,)))
    planted = replace(
        MADE, task=f"{MADE.task} {SECRET}", source=f"{ROMAN}KEY = 'sk-{'a' * 20}'\n# {SECRET}\n"
    )
    assert await masked.keep(planted) == "kept"
    (hit,) = await masked.search(MADE.task, 3, "python", "dense")
    assert program_in(hit.passage) == f"{ROMAN}KEY = '[masked]'\n# [masked]\n"
    assert "of a number [masked]\n" in hit.passage.text
    if not place.schema:
        files = Path(place.address).parent.glob("*.db*")
        assert all(SECRET.encode() not in file.read_bytes() for file in files)


async def test_another_embedder_reads_the_task_and_not_the_program(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "knowledge.db")
    first = library_on(store, tmp_path)
    await first.keep(replace(MADE, source=f"{ROMAN}# {'something else ' * 100}\n"))
    other = library_on(store, tmp_path, HashedEmbedder(512))
    await other.upkeep(lambda _done, _of: None)
    (hit,) = await found(other)
    assert hit.score > 0.9
    await other.close()


async def test_where_there_is_no_library_nothing_is_kept() -> None:
    assert await NothingKnown().keep(MADE) == "not kept: there is no library"


async def test_the_real_embedder_tells_a_similar_task_from_one_that_is_worded_alike(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    library = library_on(SqliteStore(tmp_path / "k.db"), tmp_path, MiniLm(*files, threads=1))
    await library.keep(MADE)
    (similar,) = await found(library, "Convert a number to Roman numerals with to_roman(n).")
    assert similar.score >= LEAST_SCORE_OF_BUILT
    alike = await found(library, "a function that gives the square root of a number")
    assert all(hit.score < LEAST_SCORE_OF_BUILT for hit in alike)
    await library.close()
