"""The store of record: documents, their passages and vectors, in one SQLite file."""

import json
import os
import re
import sqlite3
import threading
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.knowledge import Document, Passage, Piece

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

FORMAT = 1
MOST_WORDS = 64
"""Of a question; what follows them hardly changes the order and costs a look-up each."""
MOST_MATCHES = 20_000
"""That are scored for a question, about 1.5 µs each; the rarest of its words is always."""
LONGEST_WORD = 128
"""Longer runs of letters are data, not names."""
BATCH = 2048
_LAST = 2**63 - 1

# Numbers of passages are never used twice: what comes later has a higher number, so "after
# this number" is all that a reader has to remember, and a deleted number stays deleted.
_SCHEMA = """
CREATE TABLE documents(number INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL,
  digest TEXT NOT NULL, language TEXT NOT NULL, licence TEXT NOT NULL, embedder TEXT NOT NULL,
  added TEXT NOT NULL, who TEXT NOT NULL, UNIQUE(source, path));
CREATE TABLE passages(number INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, text TEXT NOT NULL,
  symbol TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL);
CREATE INDEX passages_document ON passages(document);
CREATE TABLE embedders(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL);
CREATE TABLE vectors(passage INTEGER NOT NULL REFERENCES passages ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders, raw BLOB NOT NULL,
  UNIQUE(passage, embedder));
CREATE TABLE tombstones(number INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE INDEX tombstones_generation ON tombstones(generation);
CREATE TABLE state(identity TEXT NOT NULL, generation INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(text,
  tokenize = "unicode61 remove_diacritics 2 tokenchars '_.:'");
"""

_FIELDS = tuple(field.name for field in fields(Passage))
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
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


class KnowledgeStore:
    """Several threads and processes may use it at once; what `put` returned survives a crash."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Made before SQLite sees it: it, its log and its index are never readable by others.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            path.chmod(0o600)
        except OSError as error:
            raise EngineError(f"knowledge {path} cannot be opened: {error.strerror}") from error
        with self._telling():
            self._database = sqlite3.connect(
                path, timeout=30, isolation_level=None, check_same_thread=False
            )
        try:
            self._prepare()
        except BaseException:
            self._database.close()
            raise

    @property
    def identity(self) -> str:
        """Which store this is: its numbers mean nothing in another."""
        return self._identity

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._database.close()

    def known(self, source: str, embedder: str = "") -> dict[str, str]:
        """The digest of every document of a source (that this embedder has seen), by path."""
        rows = self._rows(
            "SELECT path, digest FROM documents WHERE source = ? AND (? = '' OR embedder = ?)",
            (source, embedder, embedder),
        )
        return {str(path): str(digest) for path, digest in rows}

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
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if len(vectors) != len(pieces) or not np.isfinite(vectors).all():
            raise ValueError(f"{len(pieces)} pieces need as many finite vectors: {vectors.shape}")
        with self._writing() as database:
            self._delete("source = ? AND path = ?", (document.source, document.path))
            of = database.execute(
                "INSERT INTO documents(source, path, digest, language, licence, embedder, added, "
                "who) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(document.source, document.path, document.digest, document.language),
                    *(document.licence, embedder, added, who),
                ),
            ).lastrowid
            if not pieces:
                return ()
            by = self._embedder(embedder, vectors.shape[1])
            numbers = []
            for piece, vector in zip(pieces, vectors, strict=True):
                number = database.execute(
                    "INSERT INTO passages(document, text, symbol, first_line, last_line) "
                    "VALUES (?, ?, ?, ?, ?)",
                    (of, piece.text, piece.symbol, piece.first_line, piece.last_line),
                ).lastrowid
                assert number is not None
                words = " ".join(split_identifiers(f"{piece.symbol} {piece.text}"))
                database.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (number, words))
                database.execute(
                    "INSERT INTO vectors VALUES (?, ?, ?)", (number, by, vector.tobytes())
                )
                numbers.append(number)
            return tuple(numbers)

    def drop(self, source: str, path: str | None = None) -> int:
        """Delete a document, or all of a source; the number of documents that went."""
        with self._writing():
            if path is None:
                return self._delete("source = ?", (source,))
            return self._delete("source = ? AND path = ?", (source, path))

    def passages(self, numbers: Collection[int]) -> list[Passage]:
        """Those that are still there, in the order asked for."""
        rows = self._rows(
            # In the order of _FIELDS.
            "SELECT p.number, text, symbol, language, path, source, licence, digest, "
            "first_line, last_line, added, who FROM passages p JOIN documents d "
            "ON d.number = p.document WHERE p.number IN (SELECT value FROM json_each(?))",
            (json.dumps([int(number) for number in numbers]),),
        )
        found = {row[0]: Passage(**dict(zip(_FIELDS, row, strict=True))) for row in rows}
        return [found[number] for number in numbers if number in found]

    def lexical(self, query: str, k: int, language: str = "") -> list[tuple[int, float]]:
        """The numbers of the passages that share the rarest words with a question, best first."""
        # Every word is quoted: what a person asks is never read as FTS5's own language.
        asked = islice(dict.fromkeys(split_identifiers(query)), MOST_WORDS)
        wanted = " OR ".join(self._rarest(['"' + word.replace('"', '""') + '"' for word in asked]))
        if not wanted or k <= 0:
            return []
        if not language:
            rows = self._rows(
                "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
                (wanted, k),
            )
        else:
            rows = self._rows(
                "SELECT w.rowid, -w.rank FROM words w JOIN passages p ON p.number = w.rowid "
                "JOIN documents d ON d.number = p.document "
                "WHERE words MATCH ? AND d.language = ? ORDER BY w.rank LIMIT ?",
                (wanted, language, k),
            )
        return [(int(number), float(score)) for number, score in rows]

    def vectors(
        self, embedder: str, after: int = 0, upto: int | None = None
    ) -> Iterator[tuple[Numbers, Vectors]]:
        """An embedder's vectors with numbers in (after, upto], in order, batch by batch."""
        while rows := self._rows(
            "SELECT passage, raw FROM vectors WHERE passage > ? AND passage <= ? AND embedder = "
            "(SELECT number FROM embedders WHERE id = ?) ORDER BY passage LIMIT ?",
            (after, _LAST if upto is None else upto, embedder, BATCH),
        ):
            numbers = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
            joined = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float32)
            yield numbers, joined.reshape(len(rows), -1)
            after = int(numbers[-1])

    def count(self, embedder: str, after: int = 0, upto: int | None = None) -> int:
        """How many vectors of an embedder have numbers in (after, upto]."""
        ((count,),) = self._rows(
            "SELECT count(*) FROM vectors WHERE passage > ? AND passage <= ? AND embedder = "
            "(SELECT number FROM embedders WHERE id = ?)",
            (after, _LAST if upto is None else upto, embedder),
        )
        return int(count)

    def changed_since(self, generation: int) -> Changes:
        """The present generation, and the passages deleted after the given one."""
        # One statement, so that it is one moment.
        rows = self._rows(
            "SELECT s.generation, (SELECT coalesce(max(seq), 0) FROM sqlite_sequence "
            "WHERE name = 'passages'), t.number FROM state s "
            "LEFT JOIN tombstones t ON t.generation > ?",
            (generation,),
        )
        deleted = tuple(int(row[2]) for row in rows if row[2] is not None)
        return Changes(generation=int(rows[0][0]), newest=int(rows[0][1]), deleted=deleted)

    def stats(self) -> StoreFigures:
        """How much is kept."""
        ((sources, documents, passages, deleted),) = self._rows(
            "SELECT (SELECT count(DISTINCT source) FROM documents), "
            "(SELECT count(*) FROM documents), (SELECT count(*) FROM passages), "
            "(SELECT count(*) FROM tombstones)"
        )
        files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return StoreFigures(
            sources=sources,
            documents=documents,
            passages=passages,
            deleted=deleted,
            bytes=sum(file.stat().st_size for file in files if file.exists()),
        )

    def sources(self) -> list[SourceFigures]:
        """What was added, by name."""
        rows = self._rows(
            "SELECT source, count(*), sum((SELECT count(*) FROM passages p "
            "WHERE p.document = d.number)), max(added) FROM documents d "
            "GROUP BY source ORDER BY source"
        )
        return [
            SourceFigures(source=source, documents=documents, passages=passages, added=added)
            for source, documents, passages, added in rows
        ]

    def _rarest(self, words: list[str]) -> list[str]:
        """The words worth scoring: the rarest, and others while there are not too many matches."""
        count = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        counted = [(self._rows(count, (word, MOST_MATCHES))[0][0], word) for word in words]
        found = sorted((matches, word) for matches, word in counted if matches)
        totals = accumulate(matches for matches, _ in found)
        return [
            word
            for (_, word), total in zip(found, totals, strict=True)
            if total <= MOST_MATCHES or word == found[0][1]
        ]

    def _prepare(self) -> None:
        with self._telling():
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.execute("PRAGMA foreign_keys=ON")
        with self._transaction() as database:
            (found,) = database.execute("PRAGMA user_version").fetchone()
            if found == 0:
                for statement in _SCHEMA.split(";\n"):
                    database.execute(statement)
                database.execute("INSERT INTO state VALUES (?, 0)", (uuid.uuid4().hex,))
                database.execute(f"PRAGMA user_version={FORMAT}")
            elif found != FORMAT:
                raise EngineError(
                    f"knowledge {self._path} has format {found}, this version reads {FORMAT}; "
                    "use the version that wrote it, or move it away and add your sources again"
                )
        ((identity,),) = self._rows("SELECT identity FROM state")
        self._identity = str(identity)

    def _rows(self, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
        with self._lock, self._telling():
            return self._database.execute(sql, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._telling():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            finally:
                # A commit that failed for want of room leaves the transaction open.
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._transaction() as database:
            database.execute("UPDATE state SET generation = generation + 1")
            yield database

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                raise EngineError(
                    f"knowledge {self._path} is damaged ({error}); "
                    "move it away and add your sources again"
                ) from error
            raise EngineError(f"knowledge {self._path} cannot be used: {error}") from error

    def _delete(self, which: str, values: tuple[str, ...]) -> int:
        """Delete documents; only fixed words come into `which`."""
        gone = f"SELECT number FROM documents WHERE {which}"  # noqa: S608
        passages = f"SELECT number FROM passages WHERE document IN ({gone})"  # noqa: S608
        run = self._database.execute
        run(
            f"INSERT INTO tombstones SELECT number, (SELECT generation FROM state) "  # noqa: S608
            f"FROM ({passages})",
            values,
        )
        run(f"DELETE FROM words WHERE rowid IN ({passages})", values)  # noqa: S608
        return run(f"DELETE FROM documents WHERE {which}", values).rowcount  # noqa: S608

    def _embedder(self, name: str, dimensions: int) -> int:
        self._database.execute(
            "INSERT OR IGNORE INTO embedders(id, dimensions) VALUES (?, ?)", (name, dimensions)
        )
        ((number, known),) = self._rows(
            "SELECT number, dimensions FROM embedders WHERE id = ?", (name,)
        )
        if known != dimensions:
            raise ConfigError(
                f"embedder {name!r} gave {dimensions} dimensions, {self._path} has {known} of it; "
                "give another embedder another id"
            )
        return int(number)


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
