"""The critic's verdict on a candidate, with the evidence."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["blocking", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that the critic found in a candidate."""

    what: str
    where: str
    evidence: str
    severity: Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one candidate."""

    candidate: int
    accepted: bool
    passed: int
    total: int
    findings: tuple[Finding, ...] = ()
