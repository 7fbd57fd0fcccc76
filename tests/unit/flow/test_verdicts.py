from collections.abc import Mapping

from tests.proposals import proposals
from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Probe, Probes, read_check
from twinsmith.core.program import Candidate, Program
from twinsmith.core.verdict import Finding, Verdict
from twinsmith.flow.build.verdicts import MOST_FINDINGS, judge

CANDIDATE = Candidate(number=1, program=Program(entry="f", source="def f(n): ..."))


def given(*sources: str) -> Probes:
    probes = (read_check(source, number=n) for n, source in enumerate(sources, 1))
    return Probes(checks=tuple(probe for probe in probes if probe is not None))


def judged(
    probes: Probes,
    proposed: Mapping[str, int],
    results: tuple[ProbeResult, ...],
    candidate: Candidate = CANDIDATE,
) -> Verdict:
    pool = (
        Pool().with_given(probes).with_proposed(proposals(proposed), 1).with_candidates([candidate])
    )
    (verdict,) = judge(pool.with_execution(Execution(candidate=1, results=results)))
    return verdict


def gave(value: str) -> ProbeResult:
    return ProbeResult(name="p", outcome="passed", value=value)


def test_what_was_given_decides() -> None:
    verdict = judged(given("assert f(1) == 1", "assert f(2) == 2"), {}, (gave("1"), gave("3")))
    assert (verdict.accepted, verdict.passed, verdict.total) == (False, 1, 2)
    (finding,) = verdict.findings
    assert (finding.what, finding.where, finding.evidence) == (
        "failed",
        "check 2",
        "f(2) gave 3, not 2",
    )
    assert finding.severity == "blocking"
    assert judged(given("assert f(1) == 1"), {}, (gave("1.0"),)).accepted


def test_what_a_critic_proposed_is_a_note() -> None:
    raised = ProbeResult(name="p", outcome="raised", detail="ValueError()")
    verdict = judged(given("assert f(1) == 1"), {"assert f(2) == 2": 1}, (gave("1"), raised))
    assert (verdict.accepted, verdict.passed, verdict.total) == (True, 1, 2)
    (note,) = verdict.findings
    assert (note.severity, note.what, note.where) == ("note", "raised", "f(2) == 2")
    assert note.evidence == "f(2) gave ValueError(), not 2"


def test_a_note_names_the_result_that_was_expected_of_a_call() -> None:
    proposed = {"assert f(2) == 2": 1, "assert f(2) == 5": 1}
    verdict = judged(given("assert f(1) == 1"), proposed, (gave("1"), gave("2")))
    (note,) = verdict.findings
    assert (note.where, note.evidence) == ("f(2) == 5", "f(2) gave 2, not 5")


def test_what_was_given_is_not_told_twice() -> None:
    proposed = {"assert f(1) == 1": 1, "assert f(1) == 2": 1}
    verdict = judged(given("assert f(1) == 1"), proposed, (gave("3"),))
    assert [(f.where, f.severity) for f in verdict.findings] == [("check 1", "blocking")]


def test_a_test_that_judges_by_itself_tells_its_detail() -> None:
    probe = Probe(name="t.py:3 test_big", origin="person", source="def test_big(): ...")
    failed = ProbeResult(name="p", outcome="failed", detail="20 is not 21")
    verdict = judged(Probes(checks=(probe,)), {}, (failed,))
    assert [(f.where, f.evidence) for f in verdict.findings] == [
        ("t.py:3 test_big", "20 is not 21")
    ]


def test_findings_are_bounded() -> None:
    probes = given(*(f"assert f({n}) == {n}" for n in range(20)))
    verdict = judged(probes, {}, tuple(gave("'x'") for _ in range(20)))
    assert (verdict.passed, verdict.total) == (0, 20)
    assert len(verdict.findings) == MOST_FINDINGS


def test_what_was_not_run_did_not_pass() -> None:
    verdict = judged(given("assert f(1) == 1", "assert f(2) == 2"), {}, ())
    assert (verdict.accepted, verdict.passed) == (False, 0)
    assert verdict.findings[0].evidence == "the budget was spent before"


def test_nothing_to_check_with_is_not_a_pass_and_no_budget_is_blamed() -> None:
    verdict = judged(Probes(), {}, ())
    assert not verdict.accepted
    assert verdict.findings[0].evidence == "there is nothing to try it with"


def test_no_program_is_a_finding_with_its_reason() -> None:
    poem = Candidate(number=1, program=None, problem="the reply was a poem")
    verdict = judged(given("assert f(1) == 1"), {}, (), poem)
    assert (verdict.accepted, verdict.total) == (False, 1)
    assert verdict.findings[0].evidence == "the reply was a poem"


def test_a_program_that_does_not_compile_is_a_finding_with_its_reason() -> None:
    pool = Pool().with_given(given("assert f(1) == 1")).with_candidates([CANDIDATE])
    problem = Execution(candidate=1, results=(), problem="line 1: expected ';'")
    (verdict,) = judge(pool.with_execution(problem))
    assert [(f.what, f.evidence) for f in verdict.findings] == [
        ("does not run", "line 1: expected ';'")
    ]


def test_what_a_reviewer_found_blocks_a_candidate() -> None:
    pool = Pool().with_given(given("assert f(1) == 1")).with_candidates([CANDIDATE])
    pool = pool.with_execution(Execution(candidate=1, results=(gave("1"),)))
    finding = Finding(what="S105", where="line 2", evidence="a password", severity="blocking")
    (verdict,) = judge(pool.with_findings(1, (finding,), barred=True))
    assert (verdict.accepted, verdict.findings) == (False, (finding,))


def test_a_program_that_only_complained_is_quoted() -> None:
    words = "Traceback (most recent call last):\n  line 6\nFileNotFoundError: 'stdin'\n"
    broken = ProbeResult(name="p", outcome="passed", errors=words, exit_code=1)
    (finding,) = judged(given("assert f(1) == 1"), {}, (broken,)).findings
    assert finding.evidence == "f(1) gave FileNotFoundError: 'stdin' (exit code 1), not 1"
    silent = ProbeResult(name="p", outcome="passed")
    (finding,) = judged(given("assert f(1) == 1"), {}, (silent,)).findings
    assert finding.evidence == "f(1) gave nothing that can be compared, not 1"
