"""Programs as values."""

from dataclasses import dataclass

MODULE = "solution"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One source file that defines the entry point."""

    entry: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One answer of the coder; without a program, `problem` says why."""

    number: int
    program: Program | None
    problem: str = ""
