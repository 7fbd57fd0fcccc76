"""When the best candidate is good enough to be called solved."""

from dataclasses import replace

import pytest

from tests.worlds import DOUBLE, job_of
from twinsmith.core.execution import Execution, Outcome, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection
from twinsmith.core.outcome import Work
from twinsmith.core.probe import Probes, read_tests
from twinsmith.core.profile import Profile
from twinsmith.core.program import Candidate, Program
from twinsmith.core.verdict import Verdict
from twinsmith.flow.build.accept import reason_for


@pytest.mark.parametrize(("offered", "solved"), [((), True), (("add(a, b)", "cut(a)"), False)])
def test_a_library_is_right_only_where_all_that_it_offers_is(
    offered: tuple[str, ...], *, solved: bool
) -> None:
    given = Probes(checks=read_tests("assert double(2) == 4\n", file="tests").checks)
    made = Candidate(number=1, ensemble=1, program=Program(language="python", source=DOUBLE))
    pool = Pool().with_given(given).with_candidates([made])
    pool = pool.with_execution(
        Execution(candidate=1, results=(ProbeResult(name="", outcome="passed"),))
    )
    work = Work(
        profile=Profile(calls=offered), pool=pool, selection=Selection(winner=1, confidence=0.7)
    )
    job = job_of()
    job = replace(job, effort=replace(job.effort, least=0.65))
    verdict = Verdict(candidate=1, accepted=True, passed=1, total=1)
    accepted, reason = reason_for(job, work, (verdict,))
    assert accepted is solved, reason
    assert ("0.49 in all: too little" in reason) is not solved


@pytest.mark.parametrize(
    ("results", "solved"),
    [
        ((("passed", ""), ("raised", "KeyError: 'x'")), False),
        ((("passed", ""), ("raised", "ValueError: no numeral")), True),
        ((("passed", ""), ("passed", "")), False),
    ],
)
def test_an_exception_that_was_asked_for_has_to_be_seen(
    results: tuple[tuple[Outcome, str], ...], *, solved: bool
) -> None:
    source = "assert double(2) == 4\nassert double(3) == 6\n"
    given = Probes(checks=read_tests(source, file="tests").checks)
    made = Candidate(number=1, ensemble=1, program=Program(language="python", source=DOUBLE))
    pool = Pool().with_given(given).with_candidates([made])
    seen = tuple(ProbeResult(name="", outcome=o, detail=d) for o, d in results)
    pool = pool.with_execution(Execution(candidate=1, results=seen))
    work = Work(pool=pool, selection=Selection(winner=1, confidence=0.95))
    job = job_of()
    task = replace(job.task, text="double(n) raises ValueError where n is none", tests="")
    job = replace(job, task=task, effort=replace(job.effort, least=0.65))
    verdict = Verdict(candidate=1, accepted=True, passed=2, total=2)
    accepted, reason = reason_for(job, work, (verdict,))
    assert accepted is solved, reason
    assert ("made it raise ValueError" in reason) is not solved
    tested = replace(job, task=replace(task, tests=source))
    assert reason_for(tested, work, (verdict,))[0], "a person's tests decide"
