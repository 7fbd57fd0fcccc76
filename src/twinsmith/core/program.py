"""Programs as values."""

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["function", "library", "cli", "service"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MODULE = "solution"
FILE_NAMES = {
    "python": f"{MODULE}.py",
    "perl": f"{MODULE}.pl",
    "rust": f"{MODULE}.rs",
    "go": f"{MODULE}.go",
    "c": f"{MODULE}.c",
    "cpp": f"{MODULE}.cpp",
}
Way = Literal["direct", "planned", "refined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file beside the main one."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One source file: it defines the entry point, or is a command or a service by itself.

    A service listens on the port that the environment variable PORT names.
    """

    source: str
    entry: str = ""
    language: str = "python"
    kind: Kind = "function"
    files: tuple[SourceFile, ...] = ()
    requires: tuple[str, ...] = ()
    """Packages it asks for beyond the language's own library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One answer of the coder; without a program, `problem` says why."""

    number: int
    program: Program | None
    problem: str = ""
    ensemble: int = 1
    way: Way = "direct"
    repairs: tuple[str, ...] = ()
    """What was mended in the answer without asking anybody."""
