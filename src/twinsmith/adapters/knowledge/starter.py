"""Knowledge that comes with the product: notes and small reference pieces, read from its files."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from twinsmith.core.knowing.knowledge import Document

SOURCE = "starter"
FOLDER = Path(__file__).parents[2] / "starter"
TOPICS = (
    *("services", "authentication", "passwords", "sql", "validation", "cli", "concurrency"),
    *("errors", "tests", "containers", "files", "text", "data", "time", "design"),
)
NOTE = "note"
KINDS = ("function", "cli", "service", NOTE)
LANGUAGES = ("python", "rust", "go", "c", "cpp", "perl", "dockerfile", "text")
CHECK = "check"
FENCE = "```"
HEAD = re.compile(r"topic: (\w+) · kind: (\w+)(?: · requires: ([\w.-]+(?:, [\w.-]+)*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One piece: what it is for, its code, and the check that the code has to pass."""

    file: str
    title: str
    topic: str
    kind: str
    requires: tuple[str, ...]
    """Packages beyond the language's own library."""
    prose: str
    language: str
    """Of the code; empty where there is none."""
    code: str
    check: str
    """Python statements, as the sandbox runs them; empty for a note."""


def entries(folder: Path = FOLDER) -> tuple[Entry, ...]:
    """All entries, file by file; ValueError names what is malformed."""
    return tuple(
        entry
        for path in sorted(folder.glob("*.md"))
        for entry in read(path.name, path.read_text("utf-8"))
    )


def documents() -> Iterator[Document]:
    """An entry is a document of its own: small enough, and never cut."""
    for entry in entries():
        text = f"{entry.title}\n{entry.prose}\n\n{entry.code}".rstrip() + "\n"
        yield Document(
            source=SOURCE,
            path=f"{entry.file}#{entry.title}",
            text=text,
            digest=hashlib.sha256(text.encode()).hexdigest(),
            language=entry.language or "text",
            licence="Apache-2.0",
        )


def read(file: str, text: str) -> tuple[Entry, ...]:
    """The entries of one file; what stands before the first is for people."""
    found: list[tuple[str, list[str]]] = []
    fenced = False
    for line in text.splitlines():
        if line.startswith(FENCE):
            fenced = not fenced
        if line.startswith("## ") and not fenced:
            found.append((line[3:].strip(), []))
        elif found:
            found[-1][1].append(line)
    if fenced:
        raise ValueError(f"{file}: {found[-1][0] if found else '?'}: a fence is not closed")
    return tuple(_entry(file, title, lines) for title, lines in found)


def _entry(file: str, title: str, lines: list[str]) -> Entry:
    head = HEAD.fullmatch(lines[0]) if lines else None
    if head is None:
        raise ValueError(
            f"{file}: {title}: the line under the title is not 'topic: … · kind: … [· requires: …]'"
        )
    prose, blocks = _parts(lines[1:])
    check = blocks.pop()[1] if blocks and blocks[-1][0] == CHECK else ""
    language, code = blocks[0] if blocks else ("", "")
    entry = Entry(
        file=file,
        title=title,
        topic=head[1],
        kind=head[2],
        requires=tuple(head[3].split(", ")) if head[3] else (),
        prose=prose,
        language=language,
        code=code,
        check=check,
    )
    wrong = "more than one code block" if len(blocks) > 1 else _wrong(entry)
    if wrong:
        raise ValueError(f"{file}: {title}: {wrong}")
    return entry


def _parts(lines: list[str]) -> tuple[str, list[tuple[str, str]]]:
    """The prose, and the fenced blocks with the word behind their fence."""
    prose: list[str] = []
    blocks: list[tuple[str, list[str]]] = []
    fenced = False
    for line in lines:
        if line.startswith(FENCE):
            fenced = not fenced
            if fenced:
                blocks.append((line.removeprefix(FENCE).strip(), []))
        elif fenced:
            blocks[-1][1].append(line)
        else:
            prose.append(line)
    return (
        "\n".join(prose).strip(),
        [(word, "\n".join(block).strip("\n") + "\n") for word, block in blocks],
    )


def _wrong(entry: Entry) -> str:
    """Nothing, or what an entry breaks of the format."""
    runs = entry.kind != NOTE
    rules = (
        (not entry.title, "no title"),
        (entry.topic not in TOPICS, f"unknown topic {entry.topic!r}"),
        (entry.kind not in KINDS, f"unknown kind {entry.kind!r}"),
        (not entry.prose, "no prose"),
        (bool(entry.code) and entry.language not in LANGUAGES, f"language {entry.language!r}"),
        (bool(entry.requires) and entry.language != "python", "only Python requires packages"),
        (runs and not entry.code.strip(), "no code to run"),
        (runs and entry.language in ("dockerfile", "text"), f"{entry.language} cannot be run"),
        (runs and not entry.check.strip(), "no check"),
        (not runs and bool(entry.check), "a note has no check"),
    )
    return next((reason for broken, reason in rules if broken), "")
