from twinsmith.core.execution import Execution, Outcome, ProbeResult
from twinsmith.core.probe import Origin, Probe, Probes
from twinsmith.core.program import Candidate, Program
from twinsmith.flow.build.critique import critique

CANDIDATE = Candidate(number=1, program=Program(entry="f", source="def f(): ..."))


def probes(*origins: Origin) -> Probes:
    return Probes(
        checks=tuple(
            Probe(name=f"p{n}", source="assert f()", origin=origin)
            for n, origin in enumerate(origins)
        )
    )


def execution(*outcomes: Outcome) -> Execution:
    return Execution(
        candidate=1,
        results=tuple(
            ProbeResult(name=f"p{n}", outcome=outcome, detail=f"d{n}")
            for n, outcome in enumerate(outcomes)
        ),
    )


def test_every_check_of_the_plan_has_to_pass() -> None:
    assert critique(CANDIDATE, probes("plan", "plan"), execution("passed", "passed")).accepted
    verdict = critique(CANDIDATE, probes("plan", "plan"), execution("passed", "raised"))
    assert (verdict.accepted, verdict.passed, verdict.total) == (False, 1, 2)
    assert [(f.what, f.where, f.evidence) for f in verdict.findings] == [("raised", "p1", "d1")]


def test_where_a_person_gave_tests_the_models_checks_are_notes() -> None:
    verdict = critique(CANDIDATE, probes("person", "plan"), execution("passed", "failed"))
    assert verdict.accepted
    assert [finding.severity for finding in verdict.findings] == ["note"]
    assert not critique(CANDIDATE, probes("person", "plan"), execution("failed", "passed")).accepted


def test_what_was_not_run_did_not_pass() -> None:
    verdict = critique(CANDIDATE, probes("plan", "plan"), execution("passed"))
    assert not verdict.accepted
    assert verdict.findings[0].evidence == "not run: the sandbox gave no result"


def test_nothing_to_check_with_is_not_a_pass() -> None:
    assert not critique(CANDIDATE, Probes(), execution()).accepted


def test_no_program_is_a_finding_with_its_reason() -> None:
    candidate = Candidate(number=2, program=None, problem="the reply was a poem")
    verdict = critique(candidate, probes("plan"), execution())
    assert (verdict.accepted, verdict.total) == (False, 1)
    assert verdict.findings[0].evidence == "the reply was a poem"
