"""The tables of a PostgreSQL store: made, read and written."""

import hashlib
import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from twinsmith.adapters.knowledge.dialect import Spelling, Values
from twinsmith.adapters.knowledge.store import BATCH, FORMAT, KeptDocument, KeptPassage, words_of
from twinsmith.core.errors import EngineError

Database = Connection[tuple[Any, ...]]

MOST_OCCURRENCES = 200
"""Of a word in a passage; PostgreSQL keeps 255, and so many say as much."""
MOST_BYTES = 900_000
"""Of the words of a passage; PostgreSQL keeps a million."""
_MAKING = 7_461_905_137
"""What a process holds that makes the tables: two at once would both find nothing."""

# A number is taken from `state`, never from a sequence: that row is locked by whoever writes until
# the commit is seen by all, so numbers grow in the order in which they are seen. A document is
# named by a hash, because an index cannot hold the longest paths; its number is the generation
# that put it. `epoch` and `complete` are what they are in SQLite.
_SCHEMA = """
CREATE TABLE state(format INTEGER NOT NULL, identity TEXT NOT NULL, generation BIGINT NOT NULL,
  newest BIGINT NOT NULL);
CREATE TABLE documents(number BIGINT PRIMARY KEY, name BYTEA NOT NULL UNIQUE,
  source TEXT NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL, language TEXT NOT NULL,
  licence TEXT NOT NULL, added TEXT NOT NULL, who TEXT NOT NULL);
CREATE INDEX documents_source ON documents USING hash (source);
CREATE TABLE passages(number BIGINT PRIMARY KEY,
  document BIGINT NOT NULL REFERENCES documents ON DELETE CASCADE, text TEXT NOT NULL,
  symbol TEXT NOT NULL, first_line BIGINT NOT NULL, last_line BIGINT NOT NULL,
  words TSVECTOR NOT NULL);
CREATE INDEX passages_document ON passages(document);
CREATE INDEX passages_words ON passages USING gin (words);
CREATE TABLE embedders(number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL, epoch BIGINT NOT NULL,
  complete BIGINT NOT NULL DEFAULT 0);
CREATE TABLE vectors(passage BIGINT NOT NULL REFERENCES passages ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders, raw BYTEA NOT NULL,
  PRIMARY KEY(passage, embedder));
ALTER TABLE vectors ALTER raw SET STORAGE EXTERNAL;
CREATE TABLE tombstones(number BIGINT PRIMARY KEY, generation BIGINT NOT NULL);
CREATE INDEX tombstones_generation ON tombstones(generation);
"""

SPELLING = Spelling(
    value="%s",
    newest="(SELECT newest FROM state)",
    among="= ANY(translate(?, '[]', '{}')::bigint[])",
    # As `name_of` makes it.
    named="name = sha256(convert_to(?, 'UTF8') || '\\x00' || convert_to(?, 'UTF8'))",
)


def prepare(database: Database, schema: str, where: str) -> None:
    """Make the tables if there are none; EngineError when those that are there are not ours."""
    if not _is_made(database, schema):
        with database.transaction():
            database.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
            if not _is_made(database, schema):
                _make(database, schema)
    ((found,),) = database.execute("SELECT format FROM state").fetchall()
    if found != FORMAT:
        raise EngineError(
            f"knowledge {where} has format {found}, this version reads {FORMAT}; "
            "use the version that wrote it, or another database"
        )


def name_of(source: str, path: str) -> bytes:
    """What a document is found by."""
    return hashlib.sha256(f"{source}\0{path}".encode()).digest()


def lexeme(word: str) -> str:
    """A word as PostgreSQL reads it, without its accents, as SQLite does it."""
    plain = (c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return f"'{''.join(plain)}'"


def tsvector(words: Iterable[str]) -> str:
    """Words and how often they occur, as PostgreSQL reads them; where they stand is not used."""
    made, room = [], MOST_BYTES
    for word, count in Counter(lexeme(word) for word in words).items():
        times = min(count, MOST_OCCURRENCES)
        room -= len(word.encode()) + 2 * times + 8
        if room < 0:
            break
        made.append(f"{word}:{','.join(map(str, range(1, times + 1)))}")
    return " ".join(made)


class PostgresSession:
    """Statements within the transaction that a connection is in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """All rows that a statement gives."""
        return self._database.execute(SPELLING.of(sql), values).fetchall()

    def stream(self, sql: str, values: Values = ()) -> Iterator[Any]:
        """The rows that a statement gives, fetched batch by batch."""
        with self._database.cursor(uuid.uuid4().hex) as cursor:
            cursor.itersize = BATCH
            cursor.execute(SPELLING.of(sql), values)
            yield from cursor

    def run(self, sql: str, values: Values = ()) -> int:
        """Run a statement; the number of rows that it changed."""
        return self._database.execute(SPELLING.of(sql), values).rowcount

    def insert(self, into: str, rows: Iterable[Values]) -> None:
        """Add many rows at once to `table(column, column, …)`."""
        with self._database.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def add_documents(self, documents: Iterable[KeptDocument]) -> None:
        """Add documents, which are then found by their names."""
        columns = "name, number, source, path, digest, language, licence, added, who"
        rows = ((name_of(one.source, one.path), *one) for one in documents)
        self.insert(f"documents({columns})", rows)

    def add_passages(self, passages: Iterable[KeptPassage]) -> None:
        """Add passages, which are then found by their words."""
        columns = "number, document, text, symbol, first_line, last_line, words"
        rows = ((*one, tsvector(words_of(one.symbol, one.text))) for one in passages)
        self.insert(f"passages({columns})", rows)


def _is_made(database: Database, schema: str) -> bool:
    # Not by to_regclass: right after waiting for the lock it still sees what was there before.
    found = database.execute(
        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relname = 'state'",
        (schema,),
    )
    return found.fetchone() is not None


def _make(database: Database, schema: str) -> None:
    # Who may not make a schema may have been given one.
    if not database.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone():
        database.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
    database.execute(_SCHEMA)
    database.execute("INSERT INTO state VALUES (%s, %s, 0, 0)", (FORMAT, uuid.uuid4().hex))
