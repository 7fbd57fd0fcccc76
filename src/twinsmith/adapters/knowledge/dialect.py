"""What the store of record asks of a database, so that SQLite and PostgreSQL can share the rest.

Statements are plain SQL that both understand, with the marks of `Spelling` where they do not.
SQLAlchemy Core would not shorten them: the tables, full text search, COPY, locking and the numbers
of passages would still be written for each database, and importing it costs a tenth of a second.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from twinsmith.adapters.knowledge.store import KeptDocument, KeptPassage

Values = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How a database writes what no two databases write alike."""

    value: str
    """Instead of `?`: the place of a value."""
    newest: str
    """Instead of `{newest}`: the highest number given to a passage so far."""
    among: str
    """Instead of `{among}`, behind a number: it is in a list, whose value is JSON."""
    named: str
    """Instead of `{named}`: a document has this source and this path."""

    def of(self, sql: str) -> str:
        """A statement as the database reads it."""
        sql = sql.replace("{newest}", self.newest).replace("{among}", self.among)
        return sql.replace("{named}", self.named).replace("?", self.value)


class Reader(Protocol):
    """A transaction that sees one moment."""

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """All rows that a statement gives."""

    def stream(self, sql: str, values: Values = ()) -> Iterator[Any]:
        """The rows that a statement gives, never all of them in memory."""


class Writer(Protocol):
    """A transaction that no other writer shares."""

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """All rows that a statement gives."""

    def run(self, sql: str, values: Values = ()) -> int:
        """Run a statement; the number of rows that it changed."""

    def insert(self, into: str, rows: Iterable[Values]) -> None:
        """Add many rows at once to `table(column, column, …)`."""

    def add_documents(self, documents: Iterable[KeptDocument]) -> None:
        """Add documents, which are then found by their names."""

    def add_passages(self, passages: Iterable[KeptPassage]) -> None:
        """Add passages, which are then found by their words."""


class Connection(Protocol):
    """A database that threads and processes share; EngineError says in one line what is wrong."""

    where: str
    """Its address, as it may be shown."""

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """All rows that one statement gives."""

    def writing(self, count: int = 0) -> AbstractContextManager[tuple[Writer, int, int]]:
        """A transaction, its generation, and the number before the first of `count` passages."""

    def reading(self) -> AbstractContextManager[Reader]:
        """A transaction that sees one moment while others go on writing."""

    def replacing(self, newest: int) -> AbstractContextManager[Writer]:
        """A transaction that replaces everything; numbers go on after `newest` or what was newest.

        ValueError says that what was put in contradicts itself.
        """

    def size(self) -> int:
        """How many bytes the database takes."""

    def close(self) -> None:
        """Let everything go."""
