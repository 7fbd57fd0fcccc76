"""Near misses that small edits mend, on fakes."""

from dataclasses import replace

import pytest

from tests.worlds import BROKEN, DOUBLE, SQUARE, TRIPLE, World, job_of, saying, with_effort
from twinsmith.core.effort import Effort
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.program import Candidate, Program, SourceFile
from twinsmith.flow.build.vary import MOST_PROGRAMS, near_misses

EXAMPLES = "Write a function double(n) that gives twice a number: double(4) == 8, double(5) == 10."
JOB = with_effort(job_of(EXAMPLES, effort=Effort()), votes=0)


async def test_an_edit_that_keeps_the_examples_wins_without_a_question_to_a_model() -> None:
    world = World(saying(slow=["Plan."], coder=[TRIPLE]))
    outcome = await world.build(with_effort(JOB, least=0.5))
    assert (outcome.solved, outcome.winner) == (True, 13)
    assert world.files(JOB)["solution.py"] == DOUBLE
    assert "vary 12" in world.stages()
    assert not any(stage.startswith("refine") for stage in world.stages())
    told = [entry.event for entry in world.journal.entries("r1")]
    (varied,) = [event for event in told if event.kind == "candidates.varied"]
    assert varied.data["kept"] == [1]
    assert "- 13 (ensemble 1, varied): **chosen**" in world.files(JOB)["report.md"]
    assert "one edit of candidate 1" in world.files(JOB)["report.md"]


@pytest.mark.parametrize(("variants", "coder"), [(0, TRIPLE), (400, BROKEN), (400, SQUARE)])
async def test_where_none_does_a_model_is_asked(variants: int, coder: str) -> None:
    world = World(saying(slow=["Plan."], coder=[coder]))
    job = with_effort(JOB, variants=variants)
    outcome = await world.build(job)
    assert not outcome.solved
    assert "refine 1" in world.stages()
    assert ("vary 12" in world.stages()) == bool(variants)


async def test_a_small_model_is_not_asked_to_mend_what_edits_were_tried_on() -> None:
    world = World(saying(slow=["Plan."], coder=[SQUARE]))
    await world.build(with_effort(JOB, mending=False))
    assert "vary 12" in world.stages()
    assert not any(stage.startswith("refine") for stage in world.stages())
    # Where there was nothing to edit, it is.
    other = World(saying(slow=["Plan."], coder=[SQUARE]))
    await other.build(with_effort(JOB, mending=False, variants=0))
    assert "refine 1" in other.stages()


async def test_edits_join_what_keeps_the_examples_and_a_sure_round_needs_none() -> None:
    coders = [*[TRIPLE] * 11, DOUBLE]
    world = World(saying(slow=["Plan."], coder=coders, critic=["Hm."]))
    outcome = await world.build(with_effort(JOB, enough=1.0))
    # Each program once, and what was made of it is not edited again.
    assert [stage for stage in world.stages() if stage.startswith("vary")] == ["vary 12"]
    assert [v.candidate for v in outcome.verdicts][-5:] == [13, 14, 15, 16, 17]
    sure = World(saying())
    await sure.build(JOB)
    assert not any(stage.startswith("vary") for stage in sure.stages())


async def test_a_run_that_goes_on_does_not_try_them_again() -> None:
    world = World(saying(slow=["Plan."], coder=[TRIPLE]))
    await world.build(JOB)
    tried = world.runs
    again = World(saying(slow=["Plan."], coder=[TRIPLE]))
    again.records = world.records
    await again.build(JOB)
    assert tried > 20
    assert again.runs == 0


def failing_pool(*programs: Program | None, gave: str = "12") -> Pool:
    """Candidates that were run and break the only example."""
    call = Call(function="double", args=("4",), expected="8")
    example = Probe(name="example 1", origin="task", source="assert double(4) == 8", call=call)
    pool = Pool().with_given(Probes(checks=(example,)))
    pool = pool.with_candidates(
        Candidate(number=n, program=program, ensemble=2) for n, program in enumerate(programs, 1)
    )
    seen = (ProbeResult(name="", outcome="passed", value=gave),)
    return replace(pool, seen=dict.fromkeys(range(1, len(programs) + 1), seen))


def test_only_functions_of_one_file_in_python_are_near_misses() -> None:
    beside = (SourceFile(name="b.py", text=""),)
    pool = failing_pool(
        Program(source=TRIPLE),
        Program(source=TRIPLE),
        Program(source=TRIPLE, files=beside),
        Program(source=TRIPLE, kind="library"),
        Program(source=TRIPLE, language="go"),
        None,
    )
    assert [each.number for each in near_misses(pool)] == [1]
    assert near_misses(failing_pool(Program(source=DOUBLE), gave="8")) == ()
    many = failing_pool(*(Program(source=f"{TRIPLE}# {n}") for n in range(20)))
    assert len(near_misses(many)) == MOST_PROGRAMS
    assert [each.number for each in near_misses(many, after=18)] == [19, 20]
    assert near_misses(pool, after=1) == ()


@pytest.mark.parametrize(("least", "goes_on"), [(0.0, False), (0.99, True)])
async def test_edits_that_agree_end_it_where_the_result_can_be_called_solved(
    least: float, goes_on: bool
) -> None:
    near = [TRIPLE.replace("n * 3", other) for other in ("n * 3", "3 * n", "1 + n * 3")]
    world = World(saying(slow=["Plan."], coder=[each for each in near for _ in range(4)]))
    outcome = await world.build(with_effort(JOB, enough=0.6, least=least))
    assert ("rethink" in world.stages()) == goes_on
    assert outcome.solved != goes_on
