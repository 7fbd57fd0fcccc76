"""What every store of record promises, and what they share: values, limits, words."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from itertools import accumulate, islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from twinsmith.core.knowing.knowledge import Document, Passage, Piece

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

FORMAT = 2
"""Of what a store keeps; 1 tied a document to one embedder."""
MOST_WORDS = 64
"""Of a question; what follows them hardly changes the order and costs a look-up each."""
MOST_MATCHES = 20_000
"""That are scored for a question; the rarest of its words is always."""
LONGEST_WORD = 128
"""Longer runs of letters are data, not names."""
BATCH = 2048
NEWEST = 2**63 - 1
"""No passage has a higher number."""
PASSAGE_FIELDS = tuple(field.name for field in fields(Passage))

_UNKEPT = re.compile("[\0\ud800-\udfff]")
_NAME = re.compile(r"\w+(?:(?:\.|::)\w+)*")
_PART = re.compile(r"\.|::")
_HUMP = re.compile(r"_+|(?<=[a-z0-9ß-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zß-ÿ])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What happened to the store since some generation."""

    generation: int
    newest: int
    """The highest number given to a passage so far."""
    deleted: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFigures:
    """How much of a source is kept."""

    source: str
    documents: int
    passages: int
    added: str
    """When its newest document was added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFigures:
    """How much is kept in all."""

    sources: int
    documents: int
    passages: int
    deleted: int
    bytes: int


class KeptDocument(NamedTuple):
    """A row: a document as a store keeps it."""

    number: int
    source: str
    path: str
    digest: str
    language: str
    licence: str
    added: str
    who: str


class KeptPassage(NamedTuple):
    """A row: a passage as a store keeps it."""

    number: int
    document: int
    text: str
    symbol: str
    first_line: int
    last_line: int


class KeptEmbedder(NamedTuple):
    """An embedder, and how many passages have its vector."""

    id: str
    dimensions: int
    vectors: int


class Content(Protocol):
    """All that a store keeps, at one moment; everything comes in the order of its number."""

    @property
    def generation(self) -> int:
        """Of the store; no document has a higher number."""

    @property
    def newest(self) -> int:
        """The highest number given to a passage so far."""

    @property
    def counts(self) -> tuple[int, int]:
        """How many documents and how many passages there are."""

    @property
    def embedders(self) -> tuple[KeptEmbedder, ...]:
        """All that have vectors."""

    def documents(self) -> Iterator[KeptDocument]:
        """One after the other."""

    def passages(self) -> Iterator[KeptPassage]:
        """One after the other."""

    def vectors(self, embedder: str) -> Iterator[tuple[Numbers, Vectors]]:
        """Batch by batch."""


class Documents(Protocol):
    """The documents of a store, for whoever adds to a source and takes away from it."""

    def known(self, source: str) -> dict[str, str]:
        """The digest of every document of a source, by path, the oldest first."""

    def put(
        self,
        document: Document,
        pieces: Sequence[Piece],
        vectors: Vectors,
        *,
        embedder: str,
        who: str,
        added: str,
    ) -> tuple[int, ...]:
        """Keep a document instead of its earlier version: all of it, durably, or nothing."""

    def drop(self, source: str, path: str | None = None) -> int:
        """Delete a document, or all of a source; the number of documents that went."""


class Passages(Protocol):
    """The passages of a store, for whoever answers a question."""

    def passages(self, numbers: Collection[int]) -> list[Passage]:
        """The passages that are still there, in the order asked for."""

    def lexical(self, query: str, k: int, language: str = "") -> list[tuple[int, float]]:
        """The numbers of the passages that share the rarest words with a question, best first."""


class Followed(Protocol):
    """The vectors of a store, for an index that follows them.

    Numbers of passages are never used twice, and whoever sees one sees all lower ones: "after this
    number" is all that an index has to remember, together with the lineage.
    """

    def lineage(self, embedder: str) -> str:
        """Another one as soon as "after this number" may have missed vectors of this embedder."""

    def vectors(
        self, embedder: str, after: int = 0, upto: int = NEWEST
    ) -> Iterator[tuple[Numbers, Vectors]]:
        """An embedder's vectors with numbers in (after, upto], in order, batch by batch."""

    def count(self, embedder: str, after: int = 0, upto: int = NEWEST) -> int:
        """How many vectors of an embedder have numbers in (after, upto]."""

    def changed_since(self, generation: int) -> Changes:
        """The present generation, and the passages deleted after the given one."""


class Embeddings(Protocol):
    """The embedders of a store, for whoever gives every passage a vector of the one in force."""

    def embedders(self) -> dict[str, int]:
        """How many passages have a vector of each embedder."""

    def without_vector(self, embedder: str, limit: int) -> list[tuple[int, str, str]]:
        """Number, symbol and text of the first passages that lack a vector of this embedder."""

    def add_vectors(self, embedder: str, numbers: Sequence[int], vectors: Vectors) -> int:
        """Give old passages vectors; how many did not have one and are still there."""

    def drop_embedder(self, embedder: str) -> None:
        """Forget all vectors of an embedder."""


class Figures(Protocol):
    """The figures of a store, for whoever shows a person what is kept."""

    def stats(self) -> StoreFigures:
        """How much is kept in all."""

    def sources(self) -> list[SourceFigures]:
        """How much is kept of each source, by name."""


class Whole(Protocol):
    """All that a store keeps, for snapshots."""

    def content(self) -> AbstractContextManager[Content]:
        """All that is kept, at one moment, while others go on writing."""

    def replace(self, content: Content) -> None:
        """Keep this instead of all that there is, or raise and change nothing.

        ValueError says that it contradicts itself. The store has another identity afterwards.
        """


class Store(Documents, Passages, Followed, Embeddings, Figures, Whole, Protocol):
    """The store of record, for the library, which hands each of its parts to who needs it.

    Threads and processes may use it at once; what a method has written survives a crash.
    """

    @property
    def identity(self) -> str:
        """Which store this is; another after it was restored."""

    def close(self) -> None:
        """Let everything go."""


def cleaned(text: str) -> str:
    """A text that every database takes: without NUL and without halves of characters."""
    return _UNKEPT.sub("\N{REPLACEMENT CHARACTER}", text)


def cleaned_document(document: Document) -> Document:
    """A document whose names every database takes; its text is kept in pieces."""
    return replace(
        document,
        source=cleaned(document.source),
        path=cleaned(document.path),
        language=cleaned(document.language),
        licence=cleaned(document.licence),
    )


def checked(count: int, what: str, vectors: Vectors) -> Vectors:
    """Vectors as they are kept, if there are as many as there should be and all are numbers."""
    vectors = np.ascontiguousarray(vectors, dtype="<f4")
    if len(vectors) != count or not np.isfinite(vectors).all():
        raise ValueError(f"{count} {what} need as many finite vectors: {vectors.shape}")
    return vectors


def joined(rows: Sequence[tuple[int, bytes]]) -> tuple[Numbers, Vectors]:
    """Numbers and raw vectors as arrays."""
    numbers = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
    vectors = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4")
    return numbers, vectors.reshape(len(rows), -1)


def asked_words(query: str) -> list[str]:
    """The words of a question that are looked up."""
    return list(islice(dict.fromkeys(split_identifiers(cleaned(query))), MOST_WORDS))


def worth_scoring(counted: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Of words and their matches the rarest, and others while there are not too many matches."""
    found = sorted((matches, word) for matches, word in counted if matches)
    totals = accumulate(matches for matches, _ in found)
    return [
        (matches, word)
        for (matches, word), total in zip(found, totals, strict=True)
        if total <= MOST_MATCHES or word == found[0][1]
    ]


def words_of(symbol: str, text: str) -> list[str]:
    """All that a passage can be found by."""
    return split_identifiers(f"{symbol} {text}")


def split_identifiers(text: str) -> list[str]:
    """The names in a text and the words they are made of, in lower case.

    `os.readFile` gives `os.readfile`, `os`, `readfile`, `read`, `file`.
    """
    words: list[str] = []
    for match in _NAME.finditer(text):
        parts = _PART.split(match[0])
        if len(parts) > 1 and len(match[0]) <= LONGEST_WORD:
            words.append(match[0].lower())
        for part in parts:
            if len(part) > LONGEST_WORD:
                continue
            humps = [hump.lower() for hump in _HUMP.split(part) if hump]
            words += [part.lower(), *humps] if humps != [part.lower()] else humps
    return words
