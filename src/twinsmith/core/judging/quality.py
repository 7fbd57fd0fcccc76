"""The quality of a program that is right: findings and thresholds in, reasons to refuse it out.

Executions decide whether a program is right, and nothing here overrules them: a program that
failed is not saved by good looks.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.efficiency import SLOW
from twinsmith.core.verdict import Finding

UNDEFINED = "undefined behaviour"
_REPORT = re.compile(
    r"runtime error: (?P<undefined>.+)|ERROR: AddressSanitizer: (?P<address>[\w-]+)"
    r"|(?P<assertion>Assertion '.+' failed)"
)
_LINE = re.compile(r"\bsolution\.(?:c|cpp):(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits that a program's findings and speed must keep, or it is refused."""

    allowed: tuple[str, ...] = ()
    """Rules whose findings are only notes here, spelled as in findings: `ruff S105`."""
    most_notes: int = 0
    """The most notes that a program may have; 0: any number."""
    slow: float = SLOW
    """A candidate that is this many times slower than the fastest gets a note."""
    too_slow: float = 0.0
    """A candidate that is this many times slower than the fastest is refused; 0: never."""


def regarded(findings: Iterable[Finding], thresholds: Thresholds) -> tuple[Finding, ...]:
    """The findings, with those of allowed rules as mere notes."""
    return tuple(
        replace(finding, severity="note") if finding.what in thresholds.allowed else finding
        for finding in findings
    )


def objections(findings: Iterable[Finding], thresholds: Thresholds) -> tuple[str, ...]:
    """The reasons to refuse a program, a line each; empty where it is accepted."""
    seen = regarded(findings, thresholds)
    reasons = [
        f"{finding.what}, {finding.where}: {finding.evidence}"
        for finding in seen
        if finding.severity == "blocking"
    ]
    notes = len(seen) - len(reasons)
    if thresholds.most_notes and notes > thresholds.most_notes:
        reasons.append(f"{notes} notes; at most {thresholds.most_notes} are allowed")
    return tuple(reasons)


def undefined_behaviour(plain: Execution, sanitized: Execution) -> tuple[Finding, ...]:
    """Undefined behaviour that sanitizers reported in probes which pass without them, each once."""
    passed = {result.name for result in plain.results if result.outcome == "passed"}
    seen = (_reported(result) for result in sanitized.results if result.name in passed)
    return tuple({found.evidence: found for found in seen if found is not None}.values())


def _reported(result: ProbeResult) -> Finding | None:
    said = f"{result.output}\n{result.errors}"
    report = _REPORT.search(said)
    if result.outcome != "killed" or report is None:
        return None
    what = report["undefined"] or report["address"] or report["assertion"]
    line = _LINE.search(said)
    place = f", line {line[1]}" if line else ""
    return Finding(
        what=UNDEFINED, where=result.name, evidence=f"{what[:200]}{place}", severity="blocking"
    )
