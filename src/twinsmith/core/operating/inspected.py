"""A program as a scan saw it: what was found, what of it blocks, how risky it is."""

from dataclasses import dataclass
from typing import Literal

Risk = Literal["low", "medium", "high", "critical"]
RISKS: tuple[Risk, ...] = ("low", "medium", "high", "critical")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """The findings of a scan, one a line."""

    findings: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()
    """Those that the policy lets nobody release with."""
    risk: Risk = "low"


def at_least(risk: Risk, level: str) -> bool:
    """Whether a risk is as high as a level, or higher."""
    return level in RISKS and RISKS.index(risk) >= RISKS.index(level)
