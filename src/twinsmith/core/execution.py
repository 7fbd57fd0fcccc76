"""Executions of a program: its failing is a result, never an exception."""

from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal[
    "passed", "failed", "raised", "timed out", "output too large", "out of memory", "killed"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one execution; seconds and output are counted for each probe."""

    probe_seconds: float = 5.0
    cpu_seconds: float = 5.0
    memory_mb: int = 512
    output_bytes: int = 65_536
    processes: int = 64
    scratch_mb: int = 64
    scratch_files: int = 4096
    build_seconds: float = 60.0
    build_memory_mb: int = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of one probe. What was measured is not compared: no two runs are alike in it."""

    name: str
    outcome: Outcome
    detail: str = ""
    value: str = ""
    """The result of a call, as a Python literal; of a check in code, all answers of the program."""
    output: str = ""
    errors: str = ""
    exit_code: int | None = field(default=None, compare=False)
    """The exit status of the program's process; negative: the signal that ended it."""
    cpu_seconds: float = field(default=0.0, compare=False)
    peak_mb: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The results of all probes of one candidate, in one start of the sandbox.

    `problem` says why there are no results when nothing was run: it does not compile, or asks for
    packages that are not allowed. `log` is what a service wrote while it was being asked.
    """

    candidate: int
    results: tuple[ProbeResult, ...]
    problem: str = ""
    log: str = ""
    peak_mb: float = field(default=0.0, compare=False)
