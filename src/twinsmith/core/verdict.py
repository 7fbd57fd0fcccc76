"""What the critic thinks of a candidate, with the evidence."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["blocking", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the critic saw."""

    what: str
    where: str
    evidence: str
    severity: Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One candidate, judged."""

    candidate: int
    accepted: bool
    passed: int
    total: int
    findings: tuple[Finding, ...] = ()
