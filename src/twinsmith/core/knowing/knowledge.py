"""Pieces of knowledge, small enough to hand to a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Channel = Literal["dense", "lexical"]
BUILT = "built"
"""The source name of programs that runs have built."""
PACK = "pack:"
"""The beginning of source names of installed documentation, which is found by names alone."""
MEANING_ENDS = "\x1e"
"""The mark that ends the part of a piece which an embedder reads; the rest is found by words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file of a source, with its text."""

    source: str
    """The source that a person added: a folder, a file, a repository, or `starter`."""
    path: str
    """The path of the file within its source."""
    text: str
    digest: str
    """The SHA-256 of the file's bytes, which serves as its version."""
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
    """A piece as it is stored, with where it comes from and since when."""

    number: int
    text: str
    symbol: str
    language: str
    path: str
    source: str
    licence: str
    version: str
    """The digest of the document that the passage was cut from."""
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
    """The program in a passage of a built program, without the words of its task."""
    return passage.text.partition(MEANING_ENDS)[2].lstrip("\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How much is known, and from where."""

    documents: int
    passages: int
    sources: Mapping[str, int]
    """The passages of each source."""
    messages: tuple[str, ...] = ()
