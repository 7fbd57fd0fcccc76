"""A review tool: where it is, how it is called, and how its output is read."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from twinsmith.adapters.sandbox.languages.language import WORK, Toolchain
from twinsmith.core.execution import ProbeResult
from twinsmith.core.program import FILE_NAMES, Program
from twinsmith.core.verdict import Finding, Severity

SOURCE = "solution"
"""The name of the program's main file, without its ending."""
Texts = Mapping[str, str]
"""The texts of the program's files by name, that of the main file under SOURCE."""
LONGEST_EVIDENCE = 300
_LINE_ENDS = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A tool on this machine, and how it is called in the folder with the program's files."""

    command: tuple[str, ...]
    mounts: tuple[str, ...] = ()
    """Folders outside /usr that the tool needs beside its language's own."""
    placed: Mapping[str, str] = field(default_factory=dict)
    """Folders that are mounted elsewhere for the tool: the paths inside, and the folders there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool that reads a program without running it."""

    name: str
    install: str
    """The command line that installs the tool."""
    find: Callable[[Toolchain], Found | None]
    read: Callable[[ProbeResult, Texts], Iterable[Finding]]
    """The findings in the tool's output; ValueError, KeyError or TypeError if unreadable."""
    files: Callable[[Program, Toolchain], Mapping[str, str]] = field(default=lambda _, _tools: {})
    """Files that the tool reads beside the program's files, or instead of them."""
    more: Callable[[Program], tuple[str, ...]] = field(default=lambda _: ())
    """Words of the command about further files, where the tool does not find them itself."""


def finding(
    what: str, line: int, evidence: str, *, file: str = SOURCE, blocks: bool = False
) -> Finding:
    """A finding of a tool, at a line of a file."""
    said = " ".join(evidence.split())[:LONGEST_EVIDENCE]
    severity: Severity = "blocking" if blocks else "note"
    where = f"line {line}" if file == SOURCE else f"{file} line {line}"
    return Finding(what=what, where=where, evidence=said, severity=severity)


def file_at(path: str) -> str:
    """The name of the program's file that a path means; SOURCE for the main one."""
    name = path.removeprefix(f"{WORK}/").removeprefix("./")
    return SOURCE if name in FILE_NAMES.values() else name


def line_at(texts: Texts, file: str, line: int) -> str:
    """A line of a program's file; empty where there is no such line."""
    lines = _LINE_ENDS.split(texts.get(file, ""))
    return lines[line - 1] if 0 < line <= len(lines) else ""


def others(*endings: str) -> Callable[[Program], tuple[str, ...]]:
    """A function that gives the names of a program's further files with these endings."""
    return lambda program: tuple(file.name for file in program.files if file.name.endswith(endings))


def json_lines(text: str) -> Iterator[dict[str, object]]:
    """The JSON objects of a text, one a line; a line that was cut off is left out."""
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def number(value: object) -> int:
    """A value of a tool's output that has to be a number; ValueError where it is none."""
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no number")  # noqa: TRY004
    return value


def mapping(value: object) -> dict[str, object]:
    """A value of a tool's output that has to be an object; ValueError where it is none."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no object")  # noqa: TRY004
    return value
