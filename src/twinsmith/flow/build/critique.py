"""A candidate and what happened to it in, a verdict out."""

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Finding, Severity, Verdict


def critique(candidate: Candidate, probes: Probes, execution: Execution) -> Verdict:
    """Judge one candidate by its execution.

    Where a person gave tests, those decide and the model's own checks are notes: most checks that
    a small model writes are wrong one by one. Without them every check of the plan has to pass.
    """
    if candidate.program is None:
        finding = Finding(
            what="no program", where="reply", evidence=candidate.problem, severity="blocking"
        )
        return _verdict(candidate, 0, len(probes.checks), (finding,))
    person_decides = any(probe.origin == "person" for probe in probes.checks)
    results = {result.name: result for result in execution.results}
    findings = tuple(
        _finding(
            probe,
            results.get(probe.name) or _not_run(probe, execution),
            person_decides=person_decides,
        )
        for probe in probes.checks
        if not _passed(results.get(probe.name))
    )
    if not probes.checks:
        nothing = "neither the plan nor a person gave a usable check"
        findings = (
            Finding(what="unchecked", where="probes", evidence=nothing, severity="blocking"),
        )
    passed = sum(_passed(results.get(probe.name)) for probe in probes.checks)
    return _verdict(candidate, passed, len(probes.checks), findings)


def _verdict(
    candidate: Candidate, passed: int, total: int, findings: tuple[Finding, ...]
) -> Verdict:
    return Verdict(
        candidate=candidate.number,
        accepted=not any(finding.severity == "blocking" for finding in findings),
        passed=passed,
        total=total,
        findings=findings,
    )


def _passed(result: ProbeResult | None) -> bool:
    return result is not None and result.outcome == "passed"


def _not_run(probe: Probe, execution: Execution) -> ProbeResult:
    detail = f"not run: {execution.problem or 'the sandbox gave no result'}"
    return ProbeResult(name=probe.name, outcome="killed", detail=detail)


def _finding(probe: Probe, result: ProbeResult, *, person_decides: bool) -> Finding:
    severity: Severity = "note" if person_decides and probe.origin == "plan" else "blocking"
    return Finding(what=result.outcome, where=probe.name, evidence=result.detail, severity=severity)
