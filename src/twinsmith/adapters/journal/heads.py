"""Where every chain of the journal ends, kept in the database: outside the files it speaks of.

A head moves only from the very line it stood at. Whoever cuts a chain and lets it grow again does
not take the head along: it stays where it was, and the cut stays visible.
"""

import sqlite3
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from twinsmith.adapters.wal import use_wal
from twinsmith.core.anchor import Anchor

CONNECT_SECONDS = 5
TABLE = (
    "CREATE TABLE IF NOT EXISTS twinsmith_journal_heads(place TEXT NOT NULL, chain TEXT NOT NULL, "
    "lines BIGINT NOT NULL, head TEXT NOT NULL, PRIMARY KEY (place, chain))"
)
MOVE = (
    "INSERT INTO twinsmith_journal_heads VALUES (?, ?, ?, ?) ON CONFLICT (place, chain) DO UPDATE "
    "SET lines = excluded.lines, head = excluded.head "
    "WHERE twinsmith_journal_heads.lines = ? AND twinsmith_journal_heads.head = ?"
)
READ = "SELECT chain, lines, head FROM twinsmith_journal_heads WHERE place = ?"


class HeadsAway(Exception):
    """The database cannot be asked; the message says why."""


class Heads(Protocol):
    """Length and last hash of each chain of one journal."""

    def move(self, chain: str, before: Anchor, after: Anchor) -> bool:
        """Put a head where its chain ends now; False where it did not stand at `before`."""
        ...

    def all(self) -> Mapping[str, Anchor]:
        """Every head, by its chain."""
        ...


class MemoryHeads:
    """Heads in a dictionary."""

    def __init__(self) -> None:
        self._heads: dict[str, Anchor] = {}

    def move(self, chain: str, before: Anchor, after: Anchor) -> bool:
        """Put a head where its chain ends now."""
        if self._heads.get(chain, before) != before:
            return False
        self._heads[chain] = after
        return True

    def all(self) -> Mapping[str, Anchor]:
        """Every head, by its chain."""
        return dict(self._heads)


class Rows(Protocol):
    """What a database answers."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        ...

    def fetchall(self) -> list[tuple[str, int, str]]:
        """The rows that were asked for."""
        ...


class Database(Protocol):
    """What both drivers have in common."""

    def execute(self, words: str, values: tuple[object, ...] = ()) -> Rows:
        """One statement, committed by itself."""
        ...

    def close(self) -> None:
        """Let it go."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """How one kind of database is reached."""

    connect: Callable[[], Database]
    failures: Callable[[], tuple[type[Exception], ...]]
    """What it raises; asked for only when something was raised."""
    mark: str
    """What stands for a value in a statement."""


class DatabaseHeads:
    """Heads in a table, of SQLite or PostgreSQL; `place` tells journals of one database apart."""

    def __init__(self, driver: Driver, place: str) -> None:
        self._driver = driver
        self._place = place
        self._database: Database | None = None

    def move(self, chain: str, before: Anchor, after: Anchor) -> bool:
        """Put a head where its chain ends now."""
        row = (self._place, chain, after.lines, after.head, before.lines, before.head)
        return int(self._asked(MOVE, row).rowcount) == 1

    def all(self) -> Mapping[str, Anchor]:
        """Every head, by its chain."""
        rows = self._asked(READ, (self._place,)).fetchall()
        return {chain: Anchor(lines=lines, head=head) for chain, lines, head in rows}

    def _asked(self, words: str, values: tuple[object, ...]) -> Rows:
        try:
            if self._database is None:
                database = self._driver.connect()
                # Nobody closes a journal: its connection ends with it, or with the process.
                weakref.finalize(self, database.close)
                database.execute(TABLE)
                self._database = database
            return self._database.execute(words.replace("?", self._driver.mark), values)
        except self._driver.failures() as error:
            self._database = None
            raise HeadsAway(" ".join(str(error).split())[:300]) from error


def sqlite_heads(path: Path) -> DatabaseHeads:
    """Heads in a file of their own: the engine makes its tables itself, in a file aside."""

    def connect() -> sqlite3.Connection:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        path.chmod(0o600)
        use_wal(database)
        # What a power failure takes is a head that is some lines behind: it catches up.
        database.execute("PRAGMA synchronous=NORMAL")
        return database

    return DatabaseHeads(
        Driver(connect=connect, failures=lambda: (sqlite3.Error, OSError), mark="?"), ""
    )


def postgres_heads(url: str, place: str) -> DatabaseHeads:
    """Heads on a server, which who can write to this disk may not reach."""

    def connect() -> Database:
        import psycopg

        address = url.replace("postgresql+psycopg://", "postgresql://", 1)
        seconds = CONNECT_SECONDS
        database = psycopg.connect(address, autocommit=True, connect_timeout=seconds)
        return cast("Database", database)

    def failures() -> tuple[type[Exception], ...]:
        import psycopg

        return (psycopg.Error,)

    return DatabaseHeads(Driver(connect=connect, failures=failures, mark="%s"), place)
