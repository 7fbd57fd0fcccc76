"""The tables of a SQLite store: made, brought up to date, read as a whole, filled anew."""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twinsmith.adapters.knowledge.store import (
    BATCH,
    FORMAT,
    Content,
    KeptDocument,
    KeptEmbedder,
    KeptPassage,
    Numbers,
    Vectors,
    joined,
    words_of,
)
from twinsmith.adapters.wal import use_wal
from twinsmith.core.errors import EngineError

_WORDS = """
CREATE VIRTUAL TABLE words USING fts5(text,
  tokenize = "unicode61 remove_diacritics 2 tokenchars '_.:'")"""

# `epoch` is the generation that last gave vectors of an embedder to old passages; up to `complete`
# no passage lacks one, so looking for those that do never begins at the beginning.
_SCHEMA = f"""
CREATE TABLE documents(number INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL,
  digest TEXT NOT NULL, language TEXT NOT NULL, licence TEXT NOT NULL,
  added TEXT NOT NULL, who TEXT NOT NULL, UNIQUE(source, path));
CREATE TABLE passages(number INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, text TEXT NOT NULL,
  symbol TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL);
CREATE INDEX passages_document ON passages(document);
CREATE TABLE embedders(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL, epoch INTEGER NOT NULL DEFAULT 0,
  complete INTEGER NOT NULL DEFAULT 0);
CREATE TABLE vectors(passage INTEGER NOT NULL REFERENCES passages ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders, raw BLOB NOT NULL,
  UNIQUE(passage, embedder));
CREATE TABLE tombstones(number INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE INDEX tombstones_generation ON tombstones(generation);
CREATE TABLE state(identity TEXT NOT NULL, generation INTEGER NOT NULL);
{_WORDS};
"""

_FROM_1 = """
ALTER TABLE documents DROP COLUMN embedder;
ALTER TABLE embedders ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE embedders ADD COLUMN complete INTEGER NOT NULL DEFAULT 0;
"""

NEWEST_NUMBER = (
    "SELECT coalesce(max(seq), 0) AS newest FROM sqlite_sequence WHERE name = 'passages'"
)
ADVANCE = (
    "UPDATE embedders SET complete = coalesce((SELECT p.number - 1 FROM passages p "  # noqa: S608
    "WHERE p.number > embedders.complete AND NOT EXISTS (SELECT 1 FROM vectors v "
    "WHERE v.passage = p.number AND v.embedder = embedders.number) ORDER BY p.number LIMIT 1), "
    f"({NEWEST_NUMBER})) WHERE number = ?"
)
INSERT_PASSAGE = (
    "INSERT INTO passages(number, document, text, symbol, first_line, last_line) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
INSERT_WORDS = "INSERT INTO words(rowid, text) VALUES (?, ?)"
INSERT_VECTOR = "INSERT INTO vectors(passage, embedder, raw) VALUES (?, ?, ?)"


def connect(path: Path) -> sqlite3.Connection:
    """A connection whose commits survive a crash; it begins and ends no transaction by itself."""
    database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA synchronous=FULL")
        database.execute("PRAGMA foreign_keys=ON")
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All that is written in the block, durably, or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    finally:
        # A commit that failed for want of room leaves the transaction open.
        if database.in_transaction:
            database.execute("ROLLBACK")


def prepare(database: sqlite3.Connection, path: Path) -> None:
    """Make the tables, or bring those of an older format up to date."""
    use_wal(database)
    if _format(database) == FORMAT:
        return
    with transaction(database):
        # Another process may have been quicker.
        match _format(database):
            case 0:
                _run(database, _SCHEMA)
                database.execute("INSERT INTO state VALUES (?, 0)", (uuid.uuid4().hex,))
            case 1:
                _run(database, _FROM_1)
                for (number,) in database.execute("SELECT number FROM embedders").fetchall():
                    database.execute(ADVANCE, (number,))
            case found if found != FORMAT:
                raise EngineError(
                    f"knowledge {path} has format {found}, this version reads {FORMAT}; "
                    "use the version that wrote it, or move it away and add your sources again"
                )
        database.execute(f"PRAGMA user_version={FORMAT}")


class SqliteContent:
    """All that is kept at the moment of the transaction that the connection is in."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        one = database.execute
        (self.generation,) = one("SELECT generation FROM state").fetchone()
        (self.newest,) = one(NEWEST_NUMBER).fetchone()
        self.counts: tuple[int, int] = one(
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM passages)"
        ).fetchone()
        rows = one(
            "SELECT id, dimensions, count(*) FROM vectors v JOIN embedders e "
            "ON e.number = v.embedder GROUP BY e.number ORDER BY id"
        )
        self.embedders = tuple(KeptEmbedder(*row) for row in rows)

    def documents(self) -> Iterator[KeptDocument]:
        """One after the other."""
        for row in self._database.execute(
            # In the order of the fields of KeptDocument.
            "SELECT number, source, path, digest, language, licence, added, who "
            "FROM documents ORDER BY number"
        ):
            yield KeptDocument(*row)

    def passages(self) -> Iterator[KeptPassage]:
        """One after the other."""
        for row in self._database.execute(
            "SELECT number, document, text, symbol, first_line, last_line "
            "FROM passages ORDER BY number"
        ):
            yield KeptPassage(*row)

    def vectors(self, embedder: str) -> Iterator[tuple[Numbers, Vectors]]:
        """Batch by batch."""
        rows = self._database.execute(
            "SELECT passage, raw FROM vectors WHERE embedder = "
            "(SELECT number FROM embedders WHERE id = ?) ORDER BY passage",
            (embedder,),
        )
        while batch := rows.fetchmany(BATCH):
            yield joined(batch)


def fill(database: sqlite3.Connection, content: Content) -> None:
    """Put a whole content in the place of all that there is, within the caller's transaction."""
    (newest,) = database.execute(NEWEST_NUMBER).fetchone()
    for table in ("vectors", "embedders", "passages", "documents", "tombstones"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608
    # Emptying it would take out every word one by one.
    database.execute("DROP TABLE words")
    database.execute(_WORDS)
    database.execute(
        "UPDATE state SET identity = ?, generation = max(generation, ?) + 1",
        (uuid.uuid4().hex, content.generation),
    )
    database.executemany(
        "INSERT INTO documents(number, source, path, digest, language, licence, added, who) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        content.documents(),
    )
    for passage in content.passages():
        words = " ".join(words_of(passage.symbol, passage.text))
        database.execute(INSERT_PASSAGE, passage)
        database.execute(INSERT_WORDS, (passage.number, words))
    database.execute("DELETE FROM sqlite_sequence WHERE name = 'passages'")
    database.execute(
        "INSERT INTO sqlite_sequence VALUES ('passages', ?)", (max(newest, content.newest),)
    )
    for number, embedder in enumerate(content.embedders, 1):
        database.execute(
            "INSERT INTO embedders(number, id, dimensions) VALUES (?, ?, ?)",
            (number, embedder.id, embedder.dimensions),
        )
        for numbers, vectors in content.vectors(embedder.id):
            raw = (vector.tobytes() for vector in vectors)
            rows = ((at, number, one) for at, one in zip(numbers.tolist(), raw, strict=True))
            database.executemany(INSERT_VECTOR, rows)
        database.execute(ADVANCE, (number,))


def _format(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _run(database: sqlite3.Connection, statements: str) -> None:
    """One by one: `executescript` would commit first."""
    for statement in statements.split(";\n"):
        database.execute(statement)
