"""A pool in, a verdict on each of its candidates out."""

from twinsmith.core.checks.inputs import input_text, observed
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Probe
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Finding, Severity, Verdict

MOST_FINDINGS = 5
LONGEST_EVIDENCE = 500


def critique(pool: Pool) -> tuple[Verdict, ...]:
    """Judge every candidate by its executions: what was given decides, the rest are notes."""
    return tuple(_verdict(pool, candidate) for candidate in pool.candidates)


def _verdict(pool: Pool, candidate: Candidate) -> Verdict:
    findings = _findings(pool, candidate)
    passed, total = pool.passed(candidate.number)
    return Verdict(
        candidate=candidate.number,
        accepted=not any(finding.severity == "blocking" for finding in findings),
        passed=passed,
        total=total,
        findings=findings,
    )


def _findings(pool: Pool, candidate: Candidate) -> tuple[Finding, ...]:
    if candidate.program is None:
        return (_blocking("no program", "reply", candidate.problem),)
    if candidate.number in pool.problems:
        return (_blocking("does not run", "program", pool.problems[candidate.number]),)
    if candidate.number not in pool.seen:
        why = "the budget was spent before" if pool.probes else "there is nothing to try it with"
        return (_blocking("not run", "program", why),)
    seen = pool.findings.get(candidate.number, ())
    missed = pool.failing(candidate.number)[:MOST_FINDINGS]
    blocking = [_finding(probe, result, "blocking") for _, probe, result in missed]
    named = {finding.where for finding in blocking}
    doubts = [
        _finding(probe, result, "note")
        for _, probe, result in pool.failing(candidate.number, given=False)
        if probe.name not in named
    ]
    return (*seen, *blocking, *doubts[:MOST_FINDINGS])


def _finding(probe: Probe, result: ProbeResult, severity: Severity) -> Finding:
    told = result.detail
    if asked := probe.asks:
        saw = observed(asked, result) or result.detail or result.outcome
        told = f"{input_text(asked)} gave {saw}"
    return Finding(
        what=result.outcome if result.outcome != "passed" else "failed",
        where=probe.name,
        evidence=told[:LONGEST_EVIDENCE],
        severity=severity,
    )


def _blocking(what: str, where: str, evidence: str) -> Finding:
    return Finding(
        what=what, where=where, evidence=evidence[:LONGEST_EVIDENCE], severity="blocking"
    )
