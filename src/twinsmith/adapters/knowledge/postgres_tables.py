"""The tables of a PostgreSQL store: made, read as a whole, filled anew."""

import hashlib
import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

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

ADVANCE = (
    "UPDATE embedders e SET complete = coalesce((SELECT p.number - 1 FROM passages p "
    "WHERE p.number > e.complete AND NOT EXISTS (SELECT 1 FROM vectors v "
    "WHERE v.passage = p.number AND v.embedder = e.number) ORDER BY p.number LIMIT 1), "
    "(SELECT newest FROM state)) WHERE number = %s"
)
COPY_PASSAGES = (
    "COPY passages(number, document, text, symbol, first_line, last_line, words) FROM STDIN"
)
COPY_VECTORS = "COPY vectors(passage, embedder, raw) FROM STDIN"


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


class PostgresContent:
    """All that is kept at the moment of the transaction that the connection is in."""

    def __init__(self, database: Database) -> None:
        self._database = database
        ((self.generation, self.newest, documents, passages),) = database.execute(
            "SELECT generation, newest, (SELECT count(*) FROM documents), "
            "(SELECT count(*) FROM passages) FROM state"
        ).fetchall()
        self.counts: tuple[int, int] = (documents, passages)
        rows = database.execute(
            "SELECT id, dimensions, count(*) FROM vectors v JOIN embedders e "
            "ON e.number = v.embedder GROUP BY e.number ORDER BY id"
        )
        self.embedders = tuple(KeptEmbedder(*row) for row in rows)

    def documents(self) -> Iterator[KeptDocument]:
        """One after the other."""
        with self._database.cursor("documents") as cursor:
            cursor.itersize = BATCH
            # In the order of the fields of KeptDocument.
            cursor.execute(
                "SELECT number, source, path, digest, language, licence, added, who "
                "FROM documents ORDER BY number"
            )
            for row in cursor:
                yield KeptDocument(*row)

    def passages(self) -> Iterator[KeptPassage]:
        """One after the other."""
        with self._database.cursor("passages") as cursor:
            cursor.itersize = BATCH
            cursor.execute(
                "SELECT number, document, text, symbol, first_line, last_line "
                "FROM passages ORDER BY number"
            )
            for row in cursor:
                yield KeptPassage(*row)

    def vectors(self, embedder: str) -> Iterator[tuple[Numbers, Vectors]]:
        """Batch by batch."""
        with self._database.cursor("vectors") as cursor:
            cursor.execute(
                "SELECT passage, raw FROM vectors WHERE embedder = "
                "(SELECT number FROM embedders WHERE id = %s) ORDER BY passage",
                (embedder,),
            )
            while rows := cursor.fetchmany(BATCH):
                yield joined(rows)


def fill(database: Database, content: Content) -> None:
    """Put a whole content in the place of all that there is, within the caller's transaction."""
    # Not by TRUNCATE: others would have to wait, and would then see nothing.
    for table in ("vectors", "embedders", "passages", "documents", "tombstones"):
        database.execute(SQL("DELETE FROM {}").format(Identifier(table)))
    database.execute(
        "UPDATE state SET identity = %s, generation = greatest(generation, %s) + 1, "
        "newest = greatest(newest, %s)",
        (uuid.uuid4().hex, content.generation, content.newest),
    )
    cursor = database.cursor()
    with cursor.copy(
        "COPY documents(number, name, source, path, digest, language, licence, added, who) "
        "FROM STDIN"
    ) as copy:
        for document in content.documents():
            number, *rest = document
            copy.write_row((number, name_of(document.source, document.path), *rest))
    with cursor.copy(COPY_PASSAGES) as copy:
        for passage in content.passages():
            copy.write_row((*passage, tsvector(words_of(passage.symbol, passage.text))))
    for embedder in content.embedders:
        ((by,),) = database.execute(
            "INSERT INTO embedders(id, dimensions, epoch) VALUES (%s, %s, 0) RETURNING number",
            (embedder.id, embedder.dimensions),
        ).fetchall()
        with cursor.copy(COPY_VECTORS) as copy:
            for numbers, vectors in content.vectors(embedder.id):
                for number, vector in zip(numbers.tolist(), vectors, strict=True):
                    copy.write_row((number, by, vector.tobytes()))
        database.execute(ADVANCE, (by,))
    # Without it the first searches would not know what is rare.
    database.execute("ANALYZE documents, passages, vectors")


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
