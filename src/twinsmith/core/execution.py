"""What happened when a program ran: failing is a result, never an exception."""

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["passed", "failed", "raised", "timed out", "output too large", "killed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one execution may use."""

    probe_seconds: float = 5.0
    memory_mb: int = 512
    output_bytes: int = 65_536
    processes: int = 64
    scratch_mb: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What one probe saw."""

    name: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What all probes of one candidate saw, in one start of the sandbox.

    `problem` says why there are no results when nothing was run.
    """

    candidate: int
    results: tuple[ProbeResult, ...]
    output: str = ""
    seconds: float = 0.0
    problem: str = ""
