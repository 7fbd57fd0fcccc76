"""What is known, in pieces small enough to hand to a model."""

from dataclasses import dataclass
from typing import Literal

Channel = Literal["dense", "lexical"]
BUILT = "built"
"""The source of programs that runs made."""
PACK = "pack:"
"""What the source of installed documentation begins with: it is found by names, not by meaning."""
MEANING_ENDS = "\x1e"
"""What stands behind it in a piece is kept and found by its words, but no embedder reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file of a source, as it was read."""

    source: str
    """What a person added: a folder, a file, a repository, or `starter`."""
    path: str
    """Where it lies in the source."""
    text: str
    digest: str
    """The SHA-256 of its bytes: its version."""
    language: str
    licence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file that was not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a document along its syntax: a function, a class, a section."""

    text: str
    symbol: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece that is kept, with its lineage."""

    number: int
    text: str
    symbol: str
    language: str
    path: str
    source: str
    licence: str
    version: str
    """The digest of the document it was cut from."""
    first_line: int
    last_line: int
    added: str
    who: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A program that a run made and verified, for later tasks to start from."""

    run: str
    task: str
    language: str
    entry: str
    source: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that answers a question, and how well."""

    passage: Passage
    score: float
    channel: Channel


def program_in(passage: Passage) -> str:
    """A built passage without the words of its task."""
    return passage.text.partition(MEANING_ENDS)[2].lstrip("\n")
