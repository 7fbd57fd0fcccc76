"""The store of record as rows of a database; how each database differs stands in `dialect`."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from twinsmith.adapters.knowledge.content import ADVANCE, VECTORS, StoredContent, fill, vector_rows
from twinsmith.adapters.knowledge.dialect import Connection, Values, Writer
from twinsmith.adapters.knowledge.store import (
    BATCH,
    NEWEST,
    PASSAGE_FIELDS,
    Changes,
    Content,
    KeptDocument,
    KeptPassage,
    Numbers,
    SourceFigures,
    StoreFigures,
    Vectors,
    checked,
    cleaned,
    cleaned_document,
    joined,
)
from twinsmith.core.errors import ConfigError
from twinsmith.core.knowing.knowledge import Document, Passage, Piece

Lexical = Callable[[Connection, str, int, str], list[tuple[int, float]]]
"""A database's own search by words: for a question, at most so many, in this language."""

_OF_EMBEDDER = "embedder = (SELECT number FROM embedders WHERE id = ?)"
_IN_RANGE = f"FROM vectors WHERE passage > ? AND passage <= ? AND {_OF_EMBEDDER}"


class RecordStore:
    """The store of record over one database."""

    def __init__(self, connection: Connection, lexical: Lexical) -> None:
        self._connection = connection
        self._rows = connection.rows
        self._lexical = lexical

    @property
    def identity(self) -> str:
        """Which store this is; another after it was restored."""
        return str(self._rows("SELECT identity FROM state")[0][0])

    def close(self) -> None:
        """Let the database go."""
        self._connection.close()

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
        source, path, who = document.source, document.path, cleaned(who)
        with self._connection.writing(len(pieces)) as (writer, generation, newest):
            _delete(writer, generation, "{named}", (source, path))
            texts = (document.digest, document.language, document.licence, added, who)
            # The number of a document is the generation that put it: no older one has a higher.
            writer.add_documents([KeptDocument(generation, source, path, *texts)])
            if not pieces:
                return ()
            by = self._embedder(writer, embedder, vectors.shape[1], generation)
            numbers = range(newest + 1, newest + 1 + len(pieces))
            numbered = zip(numbers, pieces, strict=True)
            writer.add_passages(_kept(number, generation, piece) for number, piece in numbered)
            writer.insert(VECTORS, vector_rows(by, numbers, vectors))
            writer.run(ADVANCE, (by,))
            return tuple(numbers)

    def drop(self, source: str, path: str | None = None) -> int:
        """Delete a document, or all of a source; the number of documents that went."""
        with self._connection.writing() as (writer, generation, _):
            if path is None:
                return _delete(writer, generation, "source = ?", (cleaned(source),))
            return _delete(writer, generation, "{named}", (cleaned(source), cleaned(path)))

    def passages(self, numbers: Collection[int]) -> list[Passage]:
        """The passages that are still there, in the order asked for."""
        rows = self._rows(
            # In the order of PASSAGE_FIELDS.
            "SELECT p.number, text, symbol, language, path, source, licence, digest, "
            "first_line, last_line, added, who FROM passages p JOIN documents d "
            "ON d.number = p.document WHERE p.number {among}",
            (json.dumps([int(number) for number in numbers]),),
        )
        found = {row[0]: Passage(**dict(zip(PASSAGE_FIELDS, row, strict=True))) for row in rows}
        return [found[number] for number in numbers if number in found]

    def lexical(self, query: str, k: int, language: str = "") -> list[tuple[int, float]]:
        """The numbers of the passages that share the rarest words with a question, best first."""
        return self._lexical(self._connection, query, k, cleaned(language)) if k > 0 else []

    def lineage(self, embedder: str) -> str:
        """Another one as soon as "after this number" may have missed vectors of this embedder."""
        ((identity, epoch),) = self._rows(
            "SELECT identity, (SELECT epoch FROM embedders WHERE id = ?) FROM state", (embedder,)
        )
        return f"{identity}:{epoch}"

    def vectors(
        self, embedder: str, after: int = 0, upto: int = NEWEST
    ) -> Iterator[tuple[Numbers, Vectors]]:
        """An embedder's vectors with numbers in (after, upto], in order, batch by batch."""
        some = f"SELECT passage, raw {_IN_RANGE} ORDER BY passage LIMIT {BATCH}"
        while rows := self._rows(some, (after, upto, embedder)):
            numbers, vectors = joined(rows)
            yield numbers, vectors
            after = int(numbers[-1])

    def count(self, embedder: str, after: int = 0, upto: int = NEWEST) -> int:
        """How many vectors of an embedder have numbers in (after, upto]."""
        return int(self._rows(f"SELECT count(*) {_IN_RANGE}", (after, upto, embedder))[0][0])

    def changed_since(self, generation: int) -> Changes:
        """The present generation, and the passages deleted after the given one."""
        # One statement, so that it is one moment.
        rows = self._rows(
            "SELECT s.generation, {newest}, t.number FROM state s "
            "LEFT JOIN tombstones t ON t.generation > ?",
            (generation,),
        )
        deleted = tuple(int(row[2]) for row in rows if row[2] is not None)
        return Changes(generation=int(rows[0][0]), newest=int(rows[0][1]), deleted=deleted)

    def embedders(self) -> dict[str, int]:
        """How many passages have a vector of each embedder."""
        rows = self._rows(
            "SELECT id, count(*) FROM vectors v JOIN embedders e ON e.number = v.embedder "
            "GROUP BY e.number"
        )
        return {str(name): int(count) for name, count in rows}

    def without_vector(self, embedder: str, limit: int) -> list[tuple[int, str, str]]:
        """Number, symbol and text of the first passages that lack a vector of this embedder."""
        rows = self._rows(
            "SELECT p.number, p.symbol, p.text FROM passages p WHERE p.number > "  # noqa: S608
            "coalesce((SELECT complete FROM embedders WHERE id = ?), 0) AND NOT EXISTS "
            f"(SELECT 1 FROM vectors WHERE passage = p.number AND {_OF_EMBEDDER}) "
            "ORDER BY p.number LIMIT ?",
            (embedder, embedder, limit),
        )
        return [(int(number), str(symbol), str(text)) for number, symbol, text in rows]

    def add_vectors(self, embedder: str, numbers: Sequence[int], vectors: Vectors) -> int:
        """Give old passages vectors; how many did not have one and are still there."""
        vectors = checked(len(numbers), "passages", vectors)
        if not len(numbers):
            return 0
        given = {int(number): vector for number, vector in zip(numbers, vectors, strict=True)}
        with self._connection.writing() as (writer, generation, _):
            by = self._embedder(writer, embedder, vectors.shape[1], generation)
            rows = writer.rows(
                "SELECT number FROM passages p WHERE number {among} AND NOT EXISTS "
                "(SELECT 1 FROM vectors WHERE passage = p.number AND embedder = ?)",
                (json.dumps(list(given)), by),
            )
            writer.insert(VECTORS, [(number, by, given[number].tobytes()) for (number,) in rows])
            if rows:
                writer.run("UPDATE embedders SET epoch = ? WHERE number = ?", (generation, by))
            writer.run(ADVANCE, (by,))
            return len(rows)

    def drop_embedder(self, embedder: str) -> None:
        """Forget all vectors of an embedder."""
        with self._connection.writing() as (writer, _, _):
            writer.run(f"DELETE FROM vectors WHERE {_OF_EMBEDDER}", (embedder,))  # noqa: S608
            writer.run("DELETE FROM embedders WHERE id = ?", (embedder,))

    def stats(self) -> StoreFigures:
        """How much is kept in all."""
        ((sources, documents, passages, deleted),) = self._rows(
            "SELECT (SELECT count(DISTINCT source) FROM documents), "
            "(SELECT count(*) FROM documents), (SELECT count(*) FROM passages), "
            "(SELECT count(*) FROM tombstones)"
        )
        return StoreFigures(
            sources=sources,
            documents=documents,
            passages=passages,
            deleted=deleted,
            bytes=self._connection.size(),
        )

    def sources(self) -> list[SourceFigures]:
        """How much is kept of each source, by name."""
        rows = self._rows(
            "SELECT source, count(*), sum((SELECT count(*) FROM passages p "
            "WHERE p.document = d.number)), max(added) FROM documents d GROUP BY source"
        )
        # Sorted here: databases differ in what comes first.
        return [
            SourceFigures(source=source, documents=documents, passages=int(passages), added=added)
            for source, documents, passages, added in sorted(rows)
        ]

    @contextmanager
    def content(self) -> Iterator[Content]:
        """All that is kept, at one moment, while others go on writing."""
        with self._connection.reading() as reader:
            yield StoredContent(reader)

    def replace(self, content: Content) -> None:
        """Keep this instead of all that there is, or raise and change nothing."""
        with self._connection.replacing(content.newest) as writer:
            fill(writer, content)

    def _embedder(self, writer: Writer, name: str, dimensions: int, generation: int) -> int:
        """The number of an embedder, which is new or has as many dimensions as before."""
        rows = writer.rows("SELECT number, dimensions FROM embedders WHERE id = ?", (name,))
        ((number, known),) = rows or writer.rows(
            "INSERT INTO embedders(id, dimensions, epoch) VALUES (?, ?, ?) "
            "RETURNING number, dimensions",
            (name, dimensions, generation),
        )
        if known != dimensions:
            raise ConfigError(
                f"embedder {name!r} gave {dimensions} dimensions, {self._connection.where} has "
                f"{known} of it; give another embedder another id"
            )
        return int(number)


def _delete(writer: Writer, generation: int, which: str, values: Values) -> int:
    """Delete documents; only fixed words come into `which`."""
    writer.run(
        "INSERT INTO tombstones SELECT number, ? FROM passages "  # noqa: S608
        f"WHERE document IN (SELECT number FROM documents WHERE {which})",
        (generation, *values),
    )
    return writer.run(f"DELETE FROM documents WHERE {which}", values)  # noqa: S608


def _kept(number: int, document: int, piece: Piece) -> KeptPassage:
    text, symbol = cleaned(piece.text), cleaned(piece.symbol)
    return KeptPassage(number, document, text, symbol, piece.first_line, piece.last_line)
