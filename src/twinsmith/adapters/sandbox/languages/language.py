"""A language as the sandbox sees it: its tools, recipes and preparation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from twinsmith.core.program import Kind, Program

ARTEFACT = "@"
"""The word in a recipe's command that stands for the program which the build made."""
WORK = "/tmp/work"  # noqa: S108  (a folder inside the sandbox)
CACHE = "/run/cache"
"""The folder inside the sandbox where a language finds what it prepared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """A language's tools, found on this machine."""

    version: str
    commands: Mapping[str, str]
    """The absolute paths of commands by name, the same inside the sandbox as outside."""
    mounts: tuple[str, ...] = ()
    """Folders outside /usr that the tools need, mounted read-only at the same place."""
    placed: Mapping[str, str] = field(default_factory=dict)
    """Folders that are mounted read-only elsewhere: the paths inside, and the folders there."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one program is built and run, inside the sandbox, in the folder WORK.

    A function's program speaks the driver's protocol on two pipes whose numbers are its last two
    arguments: where requests come from and where replies go.
    """

    files: Mapping[str, str]
    run: tuple[str, ...]
    """The command that runs the program; empty: the sandbox's own Python runs it."""
    build: tuple[tuple[str, ...], ...] = ()
    artefact: str = ""
    """The name of the file that the build makes."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language: how its tools are found, and how its programs are built and run."""

    name: str
    suffix: str
    install: str
    """The command line that installs the language's tools."""
    locate: Callable[[], Toolchain | None]
    recipe: Callable[[Program, Toolchain], Recipe]
    """The recipe of a program; raises BadProgram where the source has nothing to call."""
    prepare: Callable[[Toolchain, Path], None] | None = None
    """Fills a folder, once for a version of the tools, with what is mounted read-only at CACHE."""
    prepared_kinds: tuple[Kind, ...] = ("function", "library")
    """The kinds of programs that need the prepared folder."""


def written(program: Program, main: str, source: str | None = None) -> dict[str, str]:
    """The program's files by their names, the main one first, perhaps with another source."""
    texts = {file.name: file.text for file in program.files}
    return {main: program.source if source is None else source, **texts}


class BadProgram(Exception):
    """A source that cannot be built at all; the message says why. A result, not a failure."""
