"""Where every chain of a journal in files ends, kept in SQLite: outside the files it speaks of.

A head moves only from the very line it stood at. Whoever cuts a chain and lets it grow again does
not take the head along: it stays where it was, and the cut stays visible. A journal in PostgreSQL
has no heads: they would lie beside the very rows they speak of.
"""

import sqlite3
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from twinsmith.adapters.wal import use_wal
from twinsmith.core.anchor import Anchor

# A place, which told journals on one server apart, is empty: each journal has a file of its own.
TABLE = (
    "CREATE TABLE IF NOT EXISTS twinsmith_journal_heads(place TEXT NOT NULL, chain TEXT NOT NULL, "
    "lines BIGINT NOT NULL, head TEXT NOT NULL, PRIMARY KEY (place, chain))"
)
MOVE = (
    "INSERT INTO twinsmith_journal_heads VALUES ('', ?, ?, ?) ON CONFLICT (place, chain) DO UPDATE "
    "SET lines = excluded.lines, head = excluded.head "
    "WHERE twinsmith_journal_heads.lines = ? AND twinsmith_journal_heads.head = ?"
)
READ = "SELECT chain, lines, head FROM twinsmith_journal_heads WHERE place = ''"


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


class DatabaseHeads:
    """Heads in a SQLite file of their own: the engine makes its tables itself, in a file aside."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: sqlite3.Connection | None = None

    def move(self, chain: str, before: Anchor, after: Anchor) -> bool:
        """Put a head where its chain ends now."""
        row = (chain, after.lines, after.head, before.lines, before.head)
        return self._asked(MOVE, row).rowcount == 1

    def all(self) -> Mapping[str, Anchor]:
        """Every head, by its chain."""
        rows = self._asked(READ).fetchall()
        return {chain: Anchor(lines=lines, head=head) for chain, lines, head in rows}

    def _asked(self, words: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        try:
            if self._database is None:
                database = _connected(self._path)
                # Nobody closes a journal: its connection ends with it, or with the process.
                weakref.finalize(self, database.close)
                database.execute(TABLE)
                self._database = database
            return self._database.execute(words, values)
        except (sqlite3.Error, OSError) as error:
            self._database = None
            raise HeadsAway(" ".join(str(error).split())[:300]) from error


def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    path.chmod(0o600)
    use_wal(database)
    # What a power failure takes is a head that is some lines behind: it catches up.
    database.execute("PRAGMA synchronous=NORMAL")
    return database
