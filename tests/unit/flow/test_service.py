"""Services on fakes: how many are written, when it stops, what is mended and handed over."""

from dataclasses import replace

import pytest

from tests.worlds import World, job_of
from twinsmith.adapters.sandbox.canned import CannedSandbox
from twinsmith.core.effort import Effort
from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.model import Prompt
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program
from twinsmith.core.task import Job, Task

NOTES = "a REST API in {} that keeps notes"
EFFORT = Effort(candidates=10, refinements=1)


def service(language: str = "go", effort: Effort = EFFORT) -> Job:
    text = NOTES.format(language.capitalize())
    task = Task(text=text, language=language, kind="service")
    return replace(job_of(effort=effort), task=task)


def source(name: str) -> str:
    return f'package main\n\nfunc main() {{\n\tprintln("{name}")\n}}\n'


class Served(World):
    """A coder that writes services by name, and a sandbox in which only some of them work."""

    def __init__(self, *names: str, good: str = "good", log: str = "") -> None:
        super().__init__(self._answer)
        self._names = names
        self._good = good
        self._log = log
        self._passing = CannedSandbox()

    def _answer(self, prompt: Prompt) -> str:
        assert prompt.role == "coder", prompt
        return f"```go\n{source(self._names[prompt.nth])}```"

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        self.runs += 1
        execution = await self._passing.run(program, probes, limits)
        if f'"{self._good}"' in program.source:
            return execution
        first, *others = execution.results
        broken = ProbeResult(name=first.name, outcome="failed", detail="GET /health gave 500")
        return replace(execution, results=(broken, *others), log=self._log)


async def test_one_of_each_ensemble_is_asked_in_turn_and_the_first_that_passes_ends_it() -> None:
    world = Served("bad", "good")
    outcome = await world.build(service())
    assert (outcome.solved, outcome.winner) == (True, 2)
    assert [(p.nth, p.ensemble) for p in world.asked] == [(0, 1), (1, 2)]
    # The second is only asked for when the first is answered.
    kinds = [e.event for e in world.journal.entries("r1") if e.event.kind.startswith("model.")]
    assert [event.kind for event in kinds] == ["model.asked", "model.replied"] * 2
    assert world.stages() == ["clarify", "interface", "explore", "accept"]


async def test_more_are_written_and_then_the_best_is_mended_with_what_it_fails() -> None:
    world = Served(*["bad"] * 6, "good")
    outcome = await world.build(service())
    assert (outcome.solved, outcome.winner) == (True, 7)
    assert world.stages()[2:5] == ["explore", "widen", "refine"]
    mending = world.asked[-1].text
    assert 'println("bad")' in mending
    assert "GET /health gave 500" in mending


async def test_all_files_of_a_service_are_shown_to_whoever_mends_it() -> None:
    world = Served(*["bad"] * 7)
    more = 'words.go\n```go\npackage main\n\nfunc word() string { return "x" }\n```'
    main = source("bad").replace("println(", "println(word(), ")
    world.say = lambda _: f"solution.go\n```go\n{main}```\n\n{more}"
    await world.build(service())
    mending = world.asked[-1].text
    assert "words.go\n```go\npackage main\n\nfunc word() string" in mending
    assert mending.count("```go") == 2


@pytest.mark.parametrize(("candidates", "asked"), [(1, 1), (2, 2), (4, 4), (6, 6), (40, 6)])
async def test_no_more_are_written_than_was_said(candidates: int, asked: int) -> None:
    world = Served(*["bad"] * 10)
    outcome = await world.build(service(effort=Effort(candidates=candidates, refinements=0)))
    assert not outcome.solved
    assert len(world.asked) == asked
    assert "GET /health gave 500" in outcome.reason


async def test_what_is_handed_over_says_how_to_build_run_and_test_it() -> None:
    world, job = Served("good", "good"), service()
    await world.build(job)
    files = world.files(job)
    assert {"solution.go", "README.md", "checks.json", "test_solution.py", "report.md"} <= set(
        files
    )
    assert "PORT=8000 ./solution" in files["README.md"]
    assert "GET /notes/{id}" in files["README.md"]
    compile(files["test_solution.py"], "test_solution.py", "exec")


async def test_a_service_of_several_files_is_built_from_all_of_them() -> None:
    world, job = Served("good", "good"), service()
    more = 'words.go\n```go\npackage main\n\nfunc word() string { return "x" }\n```'
    main = source("good").replace("println(", "println(word(), ")
    world.say = lambda _: f"solution.go\n```go\n{main}```\n\n{more}"
    await world.build(job)
    files = world.files(job)
    assert "words.go" in files
    assert "go build -o solution solution.go words.go" in files["README.md"]
    assert "'words.go'" in files["test_solution.py"]


async def test_answers_without_a_program_are_no_candidates_that_run() -> None:
    world = Served(*["bad"] * 10)
    world.say = lambda _: "I would rather not."
    outcome = await world.build(service(effort=Effort(candidates=2)))
    assert not outcome.solved
    assert "does not define 'main'" in outcome.reason


async def test_with_a_budget_of_nothing_it_ends_honestly() -> None:
    world = Served("good", "good")
    poor = replace(service(), budget=replace(service().budget, tokens=10))
    outcome = await world.build(poor)
    assert not outcome.solved
    assert world.billed <= 10
