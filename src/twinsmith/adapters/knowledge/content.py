"""All that a store of record keeps: read at one moment, or put in the place of what there was."""

import uuid
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from twinsmith.adapters.knowledge.dialect import Reader, Writer
from twinsmith.adapters.knowledge.store import (
    BATCH,
    Content,
    KeptDocument,
    KeptEmbedder,
    KeptPassage,
    Numbers,
    Vectors,
    joined,
)

VECTORS = "vectors(passage, embedder, raw)"
ADVANCE = (
    "UPDATE embedders AS e SET complete = coalesce((SELECT p.number - 1 FROM passages p "
    "WHERE p.number > e.complete AND NOT EXISTS (SELECT 1 FROM vectors v "
    "WHERE v.passage = p.number AND v.embedder = e.number) ORDER BY p.number LIMIT 1), "
    "{newest}) WHERE number = ?"
)
"""Up to `complete` no passage lacks a vector of an embedder."""


class StoredContent:
    """All that is kept at the moment that a reader sees."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        ((self.generation, self.newest, documents, passages),) = reader.rows(
            "SELECT generation, {newest}, (SELECT count(*) FROM documents), "
            "(SELECT count(*) FROM passages) FROM state"
        )
        self.counts: tuple[int, int] = (documents, passages)
        rows = reader.rows(
            "SELECT id, dimensions, count(*) FROM vectors v JOIN embedders e "
            "ON e.number = v.embedder GROUP BY e.number ORDER BY id"
        )
        self.embedders = tuple(KeptEmbedder(*row) for row in rows)

    def documents(self) -> Iterator[KeptDocument]:
        """The documents, one after the other."""
        # In the order of the fields of KeptDocument.
        columns = "number, source, path, digest, language, licence, added, who"
        rows = self._reader.stream(f"SELECT {columns} FROM documents ORDER BY number")  # noqa: S608
        return (KeptDocument(*row) for row in rows)

    def passages(self) -> Iterator[KeptPassage]:
        """The passages, one after the other."""
        columns = "number, document, text, symbol, first_line, last_line"
        rows = self._reader.stream(f"SELECT {columns} FROM passages ORDER BY number")  # noqa: S608
        return (KeptPassage(*row) for row in rows)

    def vectors(self, embedder: str) -> Iterator[tuple[Numbers, Vectors]]:
        """The vectors of an embedder, batch by batch."""
        rows = self._reader.stream(
            "SELECT passage, raw FROM vectors WHERE embedder = "
            "(SELECT number FROM embedders WHERE id = ?) ORDER BY passage",
            (embedder,),
        )
        while batch := list(islice(rows, BATCH)):
            yield joined(batch)


def fill(writer: Writer, content: Content) -> None:
    """Put a whole content in the place of all that there is, within the writer's transaction."""
    # Not by TRUNCATE: others would have to wait, and would then see nothing.
    for table in ("vectors", "embedders", "passages", "documents", "tombstones"):
        writer.run(f"DELETE FROM {table}")  # noqa: S608
    ((generation,),) = writer.rows("SELECT generation FROM state")
    writer.run(
        "UPDATE state SET identity = ?, generation = ?",
        (uuid.uuid4().hex, max(generation, content.generation) + 1),
    )
    writer.add_documents(content.documents())
    writer.add_passages(content.passages())
    for embedder in content.embedders:
        ((by,),) = writer.rows(
            "INSERT INTO embedders(id, dimensions, epoch) VALUES (?, ?, 0) RETURNING number",
            (embedder.id, embedder.dimensions),
        )
        batches = content.vectors(embedder.id)
        writer.insert(VECTORS, chain.from_iterable(vector_rows(by, *batch) for batch in batches))
        writer.run(ADVANCE, (by,))


def vector_rows(
    by: int, numbers: Iterable[int] | Numbers, vectors: Vectors
) -> Iterator[tuple[int, int, bytes]]:
    """The vectors that an embedder gave to passages, as rows."""
    for number, vector in zip(numbers, vectors, strict=True):
        yield int(number), by, vector.tobytes()
