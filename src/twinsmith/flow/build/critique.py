"""A pool in, a verdict on each of its candidates out."""

from twinsmith.core.pool import Pool, call_text
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Finding, Verdict

MOST_NOTES = 5
LONGEST_EVIDENCE = 500


def critique(pool: Pool) -> tuple[Verdict, ...]:
    """Judge every candidate by its executions: what was given decides, the rest is counted."""
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
        return (_blocking("not run", "program", "the budget was spent before"),)
    failing = pool.failing(candidate.number)
    return tuple(
        _blocking(
            result.outcome if result.outcome != "passed" else "failed",
            probe.name,
            f"{call_text(probe.call)} gave {result.value or result.detail}"
            if probe.call
            else result.detail,
        )
        for _, probe, result in failing[:MOST_NOTES]
    )


def _blocking(what: str, where: str, evidence: str) -> Finding:
    return Finding(
        what=what, where=where, evidence=evidence[:LONGEST_EVIDENCE], severity="blocking"
    )
