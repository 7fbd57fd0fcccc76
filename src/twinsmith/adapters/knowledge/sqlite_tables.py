"""The tables of a SQLite store: made, brought up to date, read and written."""

import sqlite3
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from twinsmith.adapters.knowledge.content import ADVANCE
from twinsmith.adapters.knowledge.dialect import Spelling, Values
from twinsmith.adapters.knowledge.store import BATCH, FORMAT, KeptDocument, KeptPassage, words_of
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

SPELLING = Spelling(
    value="?",
    newest="(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'passages')",
    among="IN (SELECT value FROM json_each(?))",
    named="source = ? AND path = ?",
)


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
                    database.execute(SPELLING.of(ADVANCE), (number,))
            case found if found != FORMAT:
                raise EngineError(
                    f"knowledge {path} has format {found}, this version reads {FORMAT}; "
                    "use the version that wrote it, or move it away and add your sources again"
                )
        database.execute(f"PRAGMA user_version={FORMAT}")


def begin_anew(database: sqlite3.Connection, newest: int) -> None:
    """Forget all words, and number passages after `newest` or what was newest."""
    # Emptying it would take out every word one by one.
    database.execute("DROP TABLE words")
    database.execute(_WORDS)
    ((before,),) = database.execute(f"SELECT {SPELLING.newest}").fetchall()
    database.execute("DELETE FROM sqlite_sequence WHERE name = 'passages'")
    database.execute("INSERT INTO sqlite_sequence VALUES ('passages', ?)", (max(before, newest),))


class SqliteSession:
    """Statements within the transaction that a connection is in."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """All rows that a statement gives."""
        return self._database.execute(SPELLING.of(sql), values).fetchall()

    def stream(self, sql: str, values: Values = ()) -> Iterator[Any]:
        """The rows that a statement gives, one after the other."""
        return self._database.execute(SPELLING.of(sql), values)

    def run(self, sql: str, values: Values = ()) -> int:
        """Run a statement; the number of rows that it changed."""
        return self._database.execute(SPELLING.of(sql), values).rowcount

    def insert(self, into: str, rows: Iterable[Values]) -> None:
        """Add many rows at once to `table(column, column, …)`."""
        marks = ", ".join("?" * (into.count(",") + 1))
        self._database.executemany(f"INSERT INTO {into} VALUES ({marks})", rows)  # noqa: S608

    def add_documents(self, documents: Iterable[KeptDocument]) -> None:
        """Add documents, which are then found by their names."""
        columns = "number, source, path, digest, language, licence, added, who"
        self.insert(f"documents({columns})", documents)

    def add_passages(self, passages: Iterable[KeptPassage]) -> None:
        """Add passages, which are then found by their words."""
        rest = iter(passages)
        while some := list(islice(rest, BATCH)):
            self.insert("passages(number, document, text, symbol, first_line, last_line)", some)
            words = ((one.number, " ".join(words_of(one.symbol, one.text))) for one in some)
            self.insert("words(rowid, text)", words)


def _format(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _run(database: sqlite3.Connection, statements: str) -> None:
    """One by one: `executescript` would commit first."""
    for statement in statements.split(";\n"):
        database.execute(statement)
