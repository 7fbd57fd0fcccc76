"""What a pack reads: one file of documentation in parts, each small enough to be a passage."""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from twinsmith.core.knowing.knowledge import Document, Piece

LONGEST_PART = 1400
"""Characters: a coder is told no more of a passage, and the embedder reads less."""
SHORTEST_PART = 40
"""Below it a text says no more than its name."""
LARGEST_FILE = 2_000_000

_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*?(?=\S|[ \t]+\S)")
_CODE = re.compile(r"\s*(?:>>>|```|\$ )|(?:[ \t]{3,}\S.*(?:\n|$))+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who made a file: the package it came with, its version and its licence."""

    package: str
    version: str
    licence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that is documented."""

    symbol: str
    text: str
    line: int
    """Where it begins in its file."""


Reader = Callable[[str, str], Iterable[Part]]
"""A text and the name of what it documents in, its parts out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file to read, and how."""

    file: Path
    path: str
    """What it is called in the lineage of its passages."""
    about: str
    """The module, package or page that it documents."""
    language: str
    origin: Origin
    read: Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """A file that was read."""

    place: Place
    parts: tuple[Part, ...]


def document_of(article: Article, source: str) -> Document:
    """An article as it is kept; its version names the package and what was read of it."""
    place = article.place
    text = "\f".join(f"{part.symbol}\n{part.text}" for part in article.parts)
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]
    return Document(
        source=source,
        path=place.path,
        text=text,
        digest=f"{place.origin.package} {place.origin.version} {digest}",
        language=place.language,
        licence=place.origin.licence,
    )


def pieces_in(article: Article) -> tuple[Piece, ...]:
    """The parts of an article, each a piece at its line."""
    return tuple(
        Piece(
            text=part.text,
            symbol=part.symbol,
            first_line=part.line,
            last_line=part.line + part.text.count("\n"),
        )
        for part in article.parts
    )


def part(symbol: str, head: str, body: str, line: int) -> Part | None:
    """A part, shortened; None where it says nothing."""
    text = shortened(head, body)
    if len(text) - len(head) < SHORTEST_PART:
        return None
    return Part(symbol=symbol[:200], text=text, line=line)


def shortened(head: str, body: str, most: int = LONGEST_PART) -> str:
    """As many paragraphs as there is room for; the first example takes the place of the last."""
    head = head.strip()[: most // 2]
    paragraphs = [each.rstrip() for each in _BLANK_LINES.split(body.strip("\n")) if each.strip()]
    left = most - len(head)
    kept: list[str] = []
    for paragraph in paragraphs:
        if len(paragraph) + 2 > left:
            break
        kept.append(paragraph)
        left -= len(paragraph) + 2
    if len(kept) < len(paragraphs) and not any(map(_CODE.match, kept)):
        kept = _with_example(kept, paragraphs[len(kept) :], left)
    if not kept and paragraphs:
        kept = [paragraphs[0][:left]]
    return "\n\n".join([head, *kept]).strip() + "\n"


def _with_example(kept: list[str], rest: list[str], left: int) -> list[str]:
    example = next((each for each in rest if _CODE.match(each)), "")
    kept = [*kept]
    while kept[1:] and len(example) + 2 > left:
        left += len(kept.pop()) + 2
    return [*kept, example] if example and len(example) + 2 <= left else kept
