from dataclasses import replace

from tests.worlds import job_of
from twinsmith.core.budget import Spent
from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection, Separation
from twinsmith.core.knowing.insight import Insight
from twinsmith.core.outcome import RunOutcome, Work
from twinsmith.core.probe import Call, Probes, read_check
from twinsmith.core.program import Candidate, Program, Way
from twinsmith.flow.build.share import LONGEST_TASK, SURE, lessons, verified

JOB = job_of("double\n a number")
END = RunOutcome(
    run="r1",
    solved=True,
    reason="",
    out="/out",
    verdicts=(),
    winner=2,
    confidence=0.9,
    spent=Spent(),
    models=("m",),
)
BETWEEN = Separation(call=Call(function="double", args=("3",)), winner="6", runner_up="9")


def work_of(way: Way = "direct", separating: Separation | None = None) -> Work:
    """The first candidate fails what was given, the second passes."""
    check = read_check("assert double(3) == 6", number=1)
    assert check is not None
    candidates = [
        Candidate(number=n, program=Program(source=f"# {n}", entry="double"), ensemble=2, way=way)
        for n in (1, 2)
    ]
    pool = Pool().with_given(Probes(checks=(check,))).with_candidates(candidates)
    for number, value in ((1, "9"), (2, "6")):
        result = ProbeResult(name="p", outcome="passed", value=value)
        pool = pool.with_execution(Execution(candidate=number, results=(result,)))
    chosen = Selection(winner=2, confidence=0.9, separating=separating)
    return Work(pool=pool, selection=chosen, plans={2: "Add it to itself."})


def learned(work: Work) -> list[Insight]:
    return list(lessons(JOB, work, END, "2026-01-01"))


def test_a_plan_that_worked_is_worth_telling() -> None:
    (insight,) = learned(work_of("planned"))
    assert (insight.kind, insight.text) == ("plan", "double a number: Add it to itself.")
    assert (insight.language, insight.run, insight.learned) == ("python", "r1", "2026-01-01")
    assert learned(replace(work_of("planned"), plans={1: "Not its own."})) == []


def test_a_repair_that_helped_is_worth_telling() -> None:
    (insight,) = learned(work_of("refined"))
    assert insight.kind == "fix"
    assert insight.text == "double a number: double(3) gave 9; right is 6"
    assert insight.error == "wrong result"


def test_an_input_that_separates_good_from_bad_is_worth_telling() -> None:
    (insight,) = learned(work_of(separating=BETWEEN))
    assert insight.kind == "counterexample"
    assert insight.text == "double a number: double(3) gives 6"
    assert insight.subject == "double a number: double(3)"


def test_a_run_without_surprises_has_nothing_to_tell() -> None:
    assert learned(work_of()) == []
    nobody = replace(work_of("planned"), selection=Selection(winner=None, confidence=0.0))
    assert learned(nobody) == []


def test_a_long_task_is_told_short() -> None:
    job = job_of("double " * 500)
    (insight,) = lessons(job, work_of(separating=BETWEEN), END, "now")
    assert len(insight.subject) < LONGEST_TASK + 20


def test_the_program_of_a_sure_solution_is_worth_keeping() -> None:
    made = verified(JOB, work_of(), END)
    assert made is not None
    assert (made.run, made.task, made.language) == ("r1", "double\n a number", "python")
    assert (made.entry, made.source, made.confidence) == ("double", "# 2", 0.9)


def test_what_was_rejected_or_is_hardly_more_than_a_guess_is_not_kept() -> None:
    rejected = replace(END, solved=False, winner=None)
    assert verified(JOB, work_of(), rejected) is None
    assert verified(JOB, Work(), replace(rejected, confidence=0.0)) is None
    unsure = replace(END, confidence=SURE - 0.01)
    assert verified(JOB, work_of(), unsure) is None
    tested = replace(JOB, task=replace(JOB.task, tests="assert double(3) == 6"))
    made = verified(tested, work_of(), unsure)
    assert made is not None
    assert made.confidence == 1.0
