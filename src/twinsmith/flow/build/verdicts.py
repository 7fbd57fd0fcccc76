"""A pool in, a verdict on each of its candidates out."""

from twinsmith.core.checks.inputs import input_text, observed
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Check
from twinsmith.core.probe import Probe
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Finding, Severity, Verdict

MOST_FINDINGS = 5
LONGEST_EVIDENCE = 500
LONGEST_VALUE = 200


def judge(pool: Pool) -> tuple[Verdict, ...]:
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
    blocking = [_finding(*each, severity="blocking") for each in missed]
    known = {check.probe for check, _, _ in missed}
    doubts = [
        _finding(check, probe, result, severity="note")
        for check, probe, result in pool.failing(candidate.number, given=False)
        if check.probe not in known
    ]
    return (*seen, *blocking, *doubts[:MOST_FINDINGS])


def _finding(check: Check, probe: Probe, result: ProbeResult, *, severity: Severity) -> Finding:
    told, where = result.detail, probe.name
    if asked := probe.asks:
        saw = observed(asked, result) or result.detail or _complaint(result)
        told = f"{input_text(asked)} gave {saw[:LONGEST_VALUE]}"
        if check.expected:
            told += f", not {check.expected[:LONGEST_VALUE]}"
        if check.expected and not check.given and probe.call:
            # Critics may expect different results of one call, whose name is the first one's.
            where = f"{input_text(asked)} == {check.expected}"
    return Finding(
        what=result.outcome if result.outcome != "passed" else "failed",
        where=where[:LONGEST_EVIDENCE],
        evidence=told[:LONGEST_EVIDENCE],
        severity=severity,
    )


def _complaint(result: ProbeResult) -> str:
    """The last line that a program complained in, where it gave nothing else."""
    lines = [line for line in result.errors.splitlines() if line.strip()]
    if result.outcome != "passed" or not lines:
        return result.outcome if result.outcome != "passed" else "nothing that can be compared"
    return f"{lines[-1].strip()} (exit code {result.exit_code})"


def _blocking(what: str, where: str, evidence: str) -> Finding:
    return Finding(
        what=what, where=where, evidence=evidence[:LONGEST_EVIDENCE], severity="blocking"
    )
