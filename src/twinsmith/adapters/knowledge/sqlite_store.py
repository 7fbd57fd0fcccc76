"""The store of record in one SQLite file."""

import json
import os
import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from twinsmith.adapters.knowledge.sqlite_tables import (
    ADVANCE,
    INSERT_PASSAGE,
    INSERT_VECTOR,
    INSERT_WORDS,
    NEWEST_NUMBER,
    SqliteContent,
    connect,
    fill,
    prepare,
    transaction,
)
from twinsmith.adapters.knowledge.store import (
    BATCH,
    MOST_MATCHES,
    NEWEST,
    PASSAGE_FIELDS,
    Changes,
    Content,
    Numbers,
    SourceFigures,
    StoreFigures,
    Vectors,
    asked_words,
    checked,
    cleaned,
    cleaned_document,
    joined,
    words_of,
    worth_scoring,
)
from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.knowing.knowledge import Document, Passage, Piece

Values = tuple[object, ...] | dict[str, object]

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class SqliteStore:
    """A store that needs no server; words are ranked by FTS5's BM25."""

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
            self._database = connect(path)
            try:
                prepare(self._database, path)
            except BaseException:
                self._database.close()
                raise

    @property
    def identity(self) -> str:
        """Which store this is; another after it was restored."""
        return str(self._rows("SELECT identity FROM state")[0][0])

    def lineage(self, embedder: str) -> str:
        """Another one as soon as "after this number" may have missed vectors of this embedder."""
        ((identity, epoch),) = self._rows(
            "SELECT identity, (SELECT epoch FROM embedders WHERE id = ?) FROM state", (embedder,)
        )
        return f"{identity}:{epoch}"

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._database.close()

    def known(self, source: str) -> dict[str, str]:
        """The digest of every document of a source, by path, the oldest first."""
        rows = self._rows(
            "SELECT path, digest FROM documents WHERE source = ? ORDER BY number",
            (cleaned(source),),
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
        vectors, document = checked(len(pieces), "pieces", vectors), cleaned_document(document)
        with self._writing() as database:
            self._delete("source = ? AND path = ?", (document.source, document.path))
            of = database.execute(
                "INSERT INTO documents(source, path, digest, language, licence, added, who) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(document.source, document.path, document.digest, document.language),
                    *(document.licence, added, cleaned(who)),
                ),
            ).lastrowid
            if not pieces:
                return ()
            by = self._embedder(embedder, vectors.shape[1])
            (newest,) = database.execute(NEWEST_NUMBER).fetchone()
            numbers = range(newest + 1, newest + 1 + len(pieces))
            for number, piece, vector in zip(numbers, pieces, vectors, strict=True):
                symbol, text = cleaned(piece.symbol), cleaned(piece.text)
                row = (number, of, text, symbol, piece.first_line, piece.last_line)
                database.execute(INSERT_PASSAGE, row)
                database.execute(INSERT_WORDS, (number, " ".join(words_of(symbol, text))))
                database.execute(INSERT_VECTOR, (number, by, vector.tobytes()))
            database.execute(ADVANCE, (by,))
            return tuple(numbers)

    def drop(self, source: str, path: str | None = None) -> int:
        """Delete a document, or all of a source; the number of documents that went."""
        with self._writing():
            if path is None:
                return self._delete("source = ?", (cleaned(source),))
            return self._delete("source = ? AND path = ?", (cleaned(source), cleaned(path)))

    def passages(self, numbers: Collection[int]) -> list[Passage]:
        """Those that are still there, in the order asked for."""
        rows = self._rows(
            # In the order of PASSAGE_FIELDS.
            "SELECT p.number, text, symbol, language, path, source, licence, digest, "
            "first_line, last_line, added, who FROM passages p JOIN documents d "
            "ON d.number = p.document WHERE p.number IN (SELECT value FROM json_each(?))",
            (json.dumps([int(number) for number in numbers]),),
        )
        found = {row[0]: Passage(**dict(zip(PASSAGE_FIELDS, row, strict=True))) for row in rows}
        return [found[number] for number in numbers if number in found]

    def lexical(self, query: str, k: int, language: str = "") -> list[tuple[int, float]]:
        """The numbers of the passages that share the rarest words with a question, best first."""
        # Every word is quoted: what a person asks is never read as FTS5's own language.
        asked = ['"' + word.replace('"', '""') + '"' for word in asked_words(query)]
        count = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        counted = [(self._rows(count, (word, MOST_MATCHES))[0][0], word) for word in asked]
        wanted = " OR ".join(word for _, word in worth_scoring(counted))
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
                (wanted, cleaned(language), k),
            )
        return [(int(number), float(score)) for number, score in rows]

    def vectors(
        self, embedder: str, after: int = 0, upto: int = NEWEST
    ) -> Iterator[tuple[Numbers, Vectors]]:
        """An embedder's vectors with numbers in (after, upto], in order, batch by batch."""
        while rows := self._rows(
            "SELECT passage, raw FROM vectors WHERE passage > ? AND passage <= ? AND embedder = "
            "(SELECT number FROM embedders WHERE id = ?) ORDER BY passage LIMIT ?",
            (after, upto, embedder, BATCH),
        ):
            numbers, vectors = joined(rows)
            yield numbers, vectors
            after = int(numbers[-1])

    def count(self, embedder: str, after: int = 0, upto: int = NEWEST) -> int:
        """How many vectors of an embedder have numbers in (after, upto]."""
        ((count,),) = self._rows(
            "SELECT count(*) FROM vectors WHERE passage > ? AND passage <= ? AND embedder = "
            "(SELECT number FROM embedders WHERE id = ?)",
            (after, upto, embedder),
        )
        return int(count)

    def without_vector(self, embedder: str, limit: int) -> list[tuple[int, str, str]]:
        """Number, symbol and text of the first passages that lack a vector of this embedder."""
        return self._rows(
            "SELECT p.number, p.symbol, p.text FROM passages p WHERE p.number > "
            "(SELECT coalesce(max(complete), 0) FROM embedders WHERE id = :id) "
            "AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage = p.number AND "
            "v.embedder = (SELECT number FROM embedders WHERE id = :id)) "
            "ORDER BY p.number LIMIT :limit",
            {"id": embedder, "limit": limit},
        )

    def add_vectors(self, embedder: str, numbers: Sequence[int], vectors: Vectors) -> int:
        """Give old passages vectors; how many did not have one and are still there."""
        vectors = checked(len(numbers), "passages", vectors)
        if not len(numbers):
            return 0
        with self._writing() as database:
            by = self._embedder(embedder, vectors.shape[1])
            added = 0
            for number, vector in zip(numbers, vectors, strict=True):
                added += database.execute(
                    "INSERT OR IGNORE INTO vectors(passage, embedder, raw) "
                    "SELECT number, ?, ? FROM passages WHERE number = ?",
                    (by, vector.tobytes(), int(number)),
                ).rowcount
            if added:
                database.execute(
                    "UPDATE embedders SET epoch = (SELECT generation FROM state) WHERE number = ?",
                    (by,),
                )
            database.execute(ADVANCE, (by,))
            return added

    def embedders(self) -> dict[str, int]:
        """How many passages have a vector of each embedder."""
        rows = self._rows(
            "SELECT id, count(*) FROM vectors v JOIN embedders e ON e.number = v.embedder "
            "GROUP BY e.number"
        )
        return dict(rows)

    def drop_embedder(self, embedder: str) -> None:
        """Forget all of its vectors."""
        with self._writing() as database:
            database.execute(
                "DELETE FROM vectors WHERE embedder = (SELECT number FROM embedders WHERE id = ?)",
                (embedder,),
            )
            database.execute("DELETE FROM embedders WHERE id = ?", (embedder,))

    def changed_since(self, generation: int) -> Changes:
        """The present generation, and the passages deleted after the given one."""
        # One statement, so that it is one moment.
        rows = self._rows(
            f"SELECT s.generation, ({NEWEST_NUMBER}), t.number FROM state s "  # noqa: S608
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

    @contextmanager
    def content(self) -> Iterator[Content]:
        """All that is kept, at one moment, while others go on writing."""
        with self._telling(), closing(connect(self._path)) as database:
            database.execute("BEGIN")
            yield SqliteContent(database)

    def replace(self, content: Content) -> None:
        """Keep this instead of all that there is, or raise and change nothing."""
        with self._telling(), closing(connect(self._path)) as database, transaction(database):
            try:
                fill(database, content)
            except sqlite3.IntegrityError as error:
                raise ValueError(str(error)) from error

    def _rows(self, sql: str, values: Values = ()) -> list[Any]:
        with self._lock, self._telling():
            return self._database.execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._telling(), transaction(self._database):
            self._database.execute("UPDATE state SET generation = generation + 1")
            yield self._database

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _DAMAGED:
                raise EngineError(
                    f"knowledge {self._path} is damaged ({error}); "
                    "move it away and add your sources again"
                ) from error
            advice = "; make room on its disk, or mend it" if code in _NO_ROOM else ""
            raise EngineError(f"knowledge {self._path} cannot be used: {error}{advice}") from error

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
            "INSERT OR IGNORE INTO embedders(id, dimensions, epoch) "
            "SELECT ?, ?, generation FROM state",
            (name, dimensions),
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
