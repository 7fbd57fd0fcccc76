"""The store of record in PostgreSQL, for more than one machine."""

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg.sql import SQL

from twinsmith.adapters.knowledge.postgres_connection import PostgresConnection, one_line
from twinsmith.adapters.knowledge.postgres_tables import (
    ADVANCE,
    COPY_PASSAGES,
    COPY_VECTORS,
    Database,
    PostgresContent,
    fill,
    lexeme,
    name_of,
    prepare,
    tsvector,
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
from twinsmith.core.errors import ConfigError
from twinsmith.core.knowing.knowledge import Document, Passage, Piece

_BY_NAME, _BY_SOURCE = SQL("d.name = %s"), SQL("d.source = %s")


class PostgresStore:
    """A store in a schema of its own; whoever writes makes other writers wait.

    Words are ranked by PostgreSQL's `ts_rank` for each word, which flattens out as a word repeats
    and falls with the logarithm of the length, times how rare the word is: near BM25, not equal.
    """

    def __init__(self, url: str, schema: str = "twinsmith_knowledge") -> None:
        self._connection = PostgresConnection(url, schema)
        self._rows = self._connection.rows
        self._writing = self._connection.writing
        try:
            self._connection.use(lambda it: prepare(it, schema, self._connection.where))
        except BaseException:
            self.close()
            raise

    @property
    def identity(self) -> str:
        """Which store this is; another after it was restored."""
        return str(self._rows("SELECT identity FROM state")[0][0])

    def lineage(self, embedder: str) -> str:
        """Another one as soon as "after this number" may have missed vectors of this embedder."""
        ((identity, epoch),) = self._rows(
            "SELECT identity, (SELECT epoch FROM embedders WHERE id = %s) FROM state", (embedder,)
        )
        return f"{identity}:{epoch}"

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()

    def known(self, source: str) -> dict[str, str]:
        """The digest of every document of a source, by path, the oldest first."""
        rows = self._rows(
            "SELECT path, digest FROM documents WHERE source = %s ORDER BY number",
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
        name = name_of(document.source, document.path)
        with self._writing(len(pieces)) as (database, generation, newest):
            _delete(database, _BY_NAME, (name,), generation)
            database.execute(
                "INSERT INTO documents(number, name, source, path, digest, language, licence, "
                "added, who) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (
                    *(generation, name, document.source, document.path, document.digest),
                    *(document.language, document.licence, added, cleaned(who)),
                ),
            )
            if not pieces:
                return ()
            by = self._embedder(database, embedder, vectors.shape[1], generation)
            numbers = range(newest - len(pieces) + 1, newest + 1)
            with database.cursor() as cursor, cursor.copy(COPY_PASSAGES) as copy:
                for number, piece in zip(numbers, pieces, strict=True):
                    symbol, text = cleaned(piece.symbol), cleaned(piece.text)
                    lines = (piece.first_line, piece.last_line)
                    words = tsvector(words_of(symbol, text))
                    copy.write_row((number, generation, text, symbol, *lines, words))
            with database.cursor() as cursor, cursor.copy(COPY_VECTORS) as copy:
                for number, vector in zip(numbers, vectors, strict=True):
                    copy.write_row((number, by, vector.tobytes()))
            database.execute(ADVANCE, (by,))
            return tuple(numbers)

    def drop(self, source: str, path: str | None = None) -> int:
        """Delete a document, or all of a source; the number of documents that went."""
        source = cleaned(source)
        with self._writing() as (database, generation, _):
            if path is None:
                return _delete(database, _BY_SOURCE, (source,), generation)
            name = name_of(source, cleaned(path))
            return _delete(database, _BY_NAME, (name,), generation)

    def passages(self, numbers: Collection[int]) -> list[Passage]:
        """Those that are still there, in the order asked for."""
        rows = self._rows(
            # In the order of PASSAGE_FIELDS.
            "SELECT p.number, text, symbol, language, path, source, licence, digest, "
            "first_line, last_line, added, who FROM passages p JOIN documents d "
            "ON d.number = p.document WHERE p.number = ANY(%s::bigint[])",
            ([int(number) for number in numbers],),
        )
        found = {row[0]: Passage(**dict(zip(PASSAGE_FIELDS, row, strict=True))) for row in rows}
        return [found[number] for number in numbers if number in found]

    def lexical(self, query: str, k: int, language: str = "") -> list[tuple[int, float]]:
        """The numbers of the passages that share the rarest words with a question, best first."""
        counted = self._rows(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM passages WHERE words @@ word::tsquery "
            "LIMIT %s) AS found), word FROM unnest(%s::text[]) AS word",
            (MOST_MATCHES, list({lexeme(word) for word in asked_words(query)})),
        )
        asked = worth_scoring((int(matches), str(word)) for matches, word in counted)
        if not asked or k <= 0:
            return []
        words, language = [word for _, word in asked], cleaned(language)
        weights = [math.log1p(MOST_MATCHES / matches) for matches, _ in asked]
        rows = self._rows(
            "SELECT p.number, (SELECT sum(weight * ts_rank(p.words, word, 1)) "
            "FROM unnest(%s::tsquery[], %s::float8[]) AS asked(word, weight)) AS score "
            "FROM passages p WHERE p.words @@ %s::tsquery AND (%s = '' OR EXISTS (SELECT 1 "
            "FROM documents d WHERE d.number = p.document AND d.language = %s)) "
            "ORDER BY score DESC, p.number LIMIT %s",
            (words, weights, " | ".join(words), language, language, k),
        )
        return [(int(number), float(score)) for number, score in rows]

    def vectors(
        self, embedder: str, after: int = 0, upto: int = NEWEST
    ) -> Iterator[tuple[Numbers, Vectors]]:
        """An embedder's vectors with numbers in (after, upto], in order, batch by batch."""
        while rows := self._rows(
            "SELECT passage, raw FROM vectors WHERE passage > %s AND passage <= %s "
            "AND embedder = (SELECT number FROM embedders WHERE id = %s) "
            "ORDER BY passage LIMIT %s",
            (after, upto, embedder, BATCH),
        ):
            numbers, vectors = joined(rows)
            yield numbers, vectors
            after = int(numbers[-1])

    def count(self, embedder: str, after: int = 0, upto: int = NEWEST) -> int:
        """How many vectors of an embedder have numbers in (after, upto]."""
        ((count,),) = self._rows(
            "SELECT count(*) FROM vectors WHERE passage > %s AND passage <= %s "
            "AND embedder = (SELECT number FROM embedders WHERE id = %s)",
            (after, upto, embedder),
        )
        return int(count)

    def without_vector(self, embedder: str, limit: int) -> list[tuple[int, str, str]]:
        """Number, symbol and text of the first passages that lack a vector of this embedder."""
        rows = self._rows(
            "SELECT p.number, p.symbol, p.text FROM passages p WHERE p.number > "
            "coalesce((SELECT complete FROM embedders WHERE id = %s), 0) AND NOT EXISTS "
            "(SELECT 1 FROM vectors v WHERE v.passage = p.number AND v.embedder = "
            "(SELECT number FROM embedders WHERE id = %s)) ORDER BY p.number LIMIT %s",
            (embedder, embedder, limit),
        )
        return [(int(number), str(symbol), str(text)) for number, symbol, text in rows]

    def add_vectors(self, embedder: str, numbers: Sequence[int], vectors: Vectors) -> int:
        """Give old passages vectors; how many did not have one and are still there."""
        vectors = checked(len(numbers), "passages", vectors)
        if not len(numbers):
            return 0
        with self._writing() as (database, generation, _):
            by = self._embedder(database, embedder, vectors.shape[1], generation)
            added = database.execute(
                "INSERT INTO vectors(passage, embedder, raw) SELECT p.number, %s, given.raw "
                "FROM unnest(%s::bigint[], %s::bytea[]) AS given(number, raw) "
                "JOIN passages p ON p.number = given.number ON CONFLICT DO NOTHING",
                (by, [int(number) for number in numbers], [v.tobytes() for v in vectors]),
            ).rowcount
            if added:
                database.execute(
                    "UPDATE embedders SET epoch = %s WHERE number = %s", (generation, by)
                )
            database.execute(ADVANCE, (by,))
            return added

    def embedders(self) -> dict[str, int]:
        """How many passages have a vector of each embedder."""
        rows = self._rows(
            "SELECT id, count(*) FROM vectors v JOIN embedders e ON e.number = v.embedder "
            "GROUP BY e.number"
        )
        return {str(name): int(count) for name, count in rows}

    def drop_embedder(self, embedder: str) -> None:
        """Forget all of its vectors."""
        with self._writing() as (database, _, _):
            database.execute(
                "DELETE FROM vectors WHERE embedder = (SELECT number FROM embedders WHERE id = %s)",
                (embedder,),
            )
            database.execute("DELETE FROM embedders WHERE id = %s", (embedder,))

    def changed_since(self, generation: int) -> Changes:
        """The present generation, and the passages deleted after the given one."""
        # One statement, so that it is one moment.
        rows = self._rows(
            "SELECT s.generation, s.newest, t.number FROM state s "
            "LEFT JOIN tombstones t ON t.generation > %s",
            (generation,),
        )
        deleted = tuple(int(row[2]) for row in rows if row[2] is not None)
        return Changes(generation=int(rows[0][0]), newest=int(rows[0][1]), deleted=deleted)

    def stats(self) -> StoreFigures:
        """How much is kept."""
        ((sources, documents, passages, deleted, size),) = self._rows(
            "SELECT (SELECT count(DISTINCT source) FROM documents), "
            "(SELECT count(*) FROM documents), (SELECT count(*) FROM passages), "
            "(SELECT count(*) FROM tombstones), (SELECT sum(pg_total_relation_size(oid)) "
            "FROM pg_class WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace "
            "WHERE nspname = current_schema()))"
        )
        return StoreFigures(
            sources=sources,
            documents=documents,
            passages=passages,
            deleted=deleted,
            bytes=int(size),
        )

    def sources(self) -> list[SourceFigures]:
        """What was added, by name."""
        rows = self._rows(
            "SELECT source, count(*), sum((SELECT count(*) FROM passages p "
            "WHERE p.document = d.number)), max(added) FROM documents d "
            'GROUP BY source ORDER BY source COLLATE "C"'
        )
        return [
            SourceFigures(source=source, documents=documents, passages=int(passages), added=added)
            for source, documents, passages, added in rows
        ]

    @contextmanager
    def content(self) -> Iterator[Content]:
        """All that is kept, at one moment, while others go on writing."""
        with self._connection.telling(), self._connection.another() as database:
            database.autocommit = False
            database.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            database.read_only = True
            yield PostgresContent(database)

    def replace(self, content: Content) -> None:
        """Keep this instead of all that there is, or raise and change nothing."""
        with (
            self._connection.telling(),
            self._connection.another() as database,
            database.transaction(),
        ):
            database.execute("SELECT FROM state FOR UPDATE")
            try:
                fill(database, content)
            except psycopg.IntegrityError as error:
                raise ValueError(one_line(error)) from error

    def _embedder(self, database: Database, name: str, dimensions: int, generation: int) -> int:
        find = "SELECT number, dimensions FROM embedders WHERE id = %s"
        rows = database.execute(find, (name,)).fetchall()
        if not rows:
            rows = database.execute(
                "INSERT INTO embedders(id, dimensions, epoch) VALUES (%s, %s, %s) "
                "RETURNING number, dimensions",
                (name, dimensions, generation),
            ).fetchall()
        ((number, known),) = rows
        if known != dimensions:
            raise ConfigError(
                f"embedder {name!r} gave {dimensions} dimensions, {self._connection.where} has "
                f"{known} of it; give another embedder another id"
            )
        return int(number)


def _delete(database: Database, which: SQL, values: tuple[object, ...], generation: int) -> int:
    database.execute(
        SQL(
            "INSERT INTO tombstones SELECT p.number, %s FROM passages p JOIN documents d "
            "ON d.number = p.document WHERE {}"
        ).format(which),
        (generation, *values),
    )
    return database.execute(SQL("DELETE FROM documents d WHERE {}").format(which), values).rowcount
