"""Programs and candidates as values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from twinsmith.core.errors import BadReply

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
ENDINGS: Mapping[str, tuple[str, ...]] = {
    "python": (".py",),
    "perl": (".pl", ".pm"),
    "rust": (".rs",),
    "go": (".go",),
    "c": (".c", ".h"),
    "cpp": (".cpp", ".hpp", ".h"),
}
"""The endings of file names in each language, that of the main file first."""
MOST_FILES = 8
MOST_BYTES = 100_000
RESERVED = frozenset(
    {"calls.c", "calls.cpp", "driver.h", "driver.hpp", "driver_all.hpp", "driver.pl", "glue.go"}
)
"""Names of files that the sandbox puts beside a program, so that its functions can be called."""
_NAME = re.compile(
    r"(?:(?P<folder>[A-Za-z_][\w-]{0,59})/)?[A-Za-z_][\w-]{0,59}(?P<ending>\.[a-z]{1,3})", re.ASCII
)
Way = Literal["direct", "noted", "planned", "refined", "varied"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file of a program beside its main one; its name is plain, at most one folder deep."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A main source file, which defines the entry point or is a command or a service by itself.

    A service listens on the port that the environment variable PORT names. Names of further files
    come from a model: BadReply where one is not plain, so that no such program is ever made.
    """

    source: str
    entry: str = ""
    language: str = "python"
    kind: Kind = "function"
    requires: tuple[str, ...] = ()
    """Packages that the program needs beyond the language's own library."""

    @property
    def text(self) -> str:
        """The text of all files of the program, one after the other."""
        return "\n".join((self.source, *(file.text for file in self.files)))

    files: tuple[SourceFile, ...] = ()
    """The files beside the main one, which is called as FILE_NAMES says."""

    def __post_init__(self) -> None:
        problem = file_problem(self.files, self.language)
        if problem:
            raise BadReply(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One answer of the coder; without a program, `problem` says why."""

    number: int
    program: Program | None
    problem: str = ""
    ensemble: int = 1
    way: Way = "direct"
    repairs: tuple[str, ...] = ()
    """Repairs of the answer that were made without asking a model."""
    told: str = ""
    """The complaints about an earlier version that the coder was told."""
    of: tuple[int, ...] = ()
    """The numbers of the candidates that it was made of; none where it was written anew."""


def file_problem(files: Sequence[SourceFile], language: str) -> str:
    """The reason, in one line, why files cannot be part of a program; empty where they can."""
    if len(files) > MOST_FILES:
        return f"the program has {len(files)} files beside its main one; at most {MOST_FILES}"
    size = sum(len(file.text.encode("utf-8", "surrogatepass")) for file in files)
    if size > MOST_BYTES:
        return f"the files beside the main one have {size} bytes; at most {MOST_BYTES} in all"
    taken = {FILE_NAMES.get(language)}
    for file in files:
        why = "it is there already" if file.name in taken else _name_problem(file.name, language)
        if why:
            return f"the file {file.name[:80]!r} cannot be part of a {language} program: {why}"
        taken.add(file.name)
    return ""


def _name_problem(name: str, language: str) -> str:
    found = _NAME.fullmatch(name)
    if found is None:
        return "its name has to be letters, digits, _ and -, at most one folder deep"
    if found["ending"] not in ENDINGS.get(language, ()):
        return f"its name has to end in {' or '.join(ENDINGS.get(language, ()))}"
    if name in RESERVED or found["folder"] == MODULE:
        return "that name is the sandbox's own"
    return ""
