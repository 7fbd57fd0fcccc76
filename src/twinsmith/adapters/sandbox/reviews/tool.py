"""What a review has to know about a tool: where it is, how it is called, what it means."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from twinsmith.adapters.sandbox.languages.language import WORK, Toolchain
from twinsmith.core.execution import ProbeResult
from twinsmith.core.program import FILE_NAMES, Program
from twinsmith.core.verdict import Finding, Severity

SOURCE = "solution"
"""What the program's main file is called, without its ending."""
Texts = Mapping[str, str]
"""What stands in the program's files, by name; in the main one, under SOURCE."""
LONGEST_EVIDENCE = 300
_LINE_ENDS = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A tool on this machine, and how it is called in the folder with the program's files."""

    command: tuple[str, ...]
    mounts: tuple[str, ...] = ()
    placed: Mapping[str, str] = field(default_factory=dict)
    """Folders that it needs elsewhere: where, and what lies there."""
    """Folders outside /usr that it needs beside its language's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool that reads a program without running it."""

    name: str
    install: str
    """The line that installs it."""
    find: Callable[[Toolchain], Found | None]
    read: Callable[[ProbeResult, Texts], Iterable[Finding]]
    """What it said about a program; raises ValueError, KeyError or TypeError where it cannot be."""
    files: Callable[[Program, Toolchain], Mapping[str, str]] = field(default=lambda _, _tools: {})
    """What it reads beside the program's files, or instead of them."""
    more: Callable[[Program], tuple[str, ...]] = field(default=lambda _: ())
    """What its command says of files beside the main one, where it does not find them itself."""


def finding(
    what: str, line: int, evidence: str, *, file: str = SOURCE, blocks: bool = False
) -> Finding:
    """A finding of a tool's at a line of a file."""
    said = " ".join(evidence.split())[:LONGEST_EVIDENCE]
    severity: Severity = "blocking" if blocks else "note"
    where = f"line {line}" if file == SOURCE else f"{file} line {line}"
    return Finding(what=what, where=where, evidence=said, severity=severity)


def file_at(path: str) -> str:
    """The name of the program's file that a tool speaks of; SOURCE for the main one."""
    name = path.removeprefix(f"{WORK}/").removeprefix("./")
    return SOURCE if name in FILE_NAMES.values() else name


def line_at(texts: Texts, file: str, line: int) -> str:
    """A line of the program, or nothing where it has none."""
    lines = _LINE_ENDS.split(texts.get(file, ""))
    return lines[line - 1] if 0 < line <= len(lines) else ""


def others(*endings: str) -> Callable[[Program], tuple[str, ...]]:
    """The names of a program's further files that end so."""
    return lambda program: tuple(file.name for file in program.files if file.name.endswith(endings))


def json_lines(text: str) -> Iterator[dict[str, object]]:
    """The objects in a text with one a line; a last line that was cut off is none."""
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def number(value: object) -> int:
    """A number that a tool gave."""
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no number")  # noqa: TRY004
    return value


def mapping(value: object) -> dict[str, object]:
    """An object that a tool gave."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no object")  # noqa: TRY004
    return value
