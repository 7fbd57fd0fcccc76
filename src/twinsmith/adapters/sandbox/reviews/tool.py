"""What a review has to know about a tool: where it is, how it is called, what it means."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from twinsmith.adapters.sandbox.languages.language import Toolchain
from twinsmith.core.execution import ProbeResult
from twinsmith.core.verdict import Finding, Severity

SOURCE = "solution"
"""What the program's file is called, without its ending."""
LONGEST_EVIDENCE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A tool on this machine, and how it is called in the folder with the program's file."""

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
    read: Callable[[ProbeResult, str], Iterable[Finding]]
    """What it said about a source; raises ValueError, KeyError or TypeError where it cannot be."""
    files: Callable[[str, Toolchain], Mapping[str, str]] = field(default=lambda _source, _tools: {})
    """What it reads beside the program's file, or instead of it."""


def finding(what: str, line: int, evidence: str, *, blocks: bool = False) -> Finding:
    """A finding of a tool's at a line of the source."""
    said = " ".join(evidence.split())[:LONGEST_EVIDENCE]
    severity: Severity = "blocking" if blocks else "note"
    return Finding(what=what, where=f"line {line}", evidence=said, severity=severity)


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
