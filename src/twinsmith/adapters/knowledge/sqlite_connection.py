"""A connection to a SQLite file that says in one line what is wrong with it."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from twinsmith.adapters.knowledge.dialect import Reader, Values, Writer
from twinsmith.adapters.knowledge.sqlite_tables import (
    SqliteSession,
    begin_anew,
    connect,
    prepare,
    transaction,
)
from twinsmith.core.errors import EngineError

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class SqliteConnection:
    """One connection for all threads, which take turns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.where = str(path)
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Made before SQLite sees it: it, its log and its index are never readable by others.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            path.chmod(0o600)
        except OSError as error:
            raise EngineError(f"knowledge {path} cannot be opened: {error.strerror}") from error
        with self._telling():
            self._database = connect(path)
            self._session = SqliteSession(self._database)
            try:
                prepare(self._database, path)
            except BaseException:
                self._database.close()
                raise

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._database.close()

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """All rows that one statement gives."""
        with self._lock, self._telling():
            return self._session.rows(sql, values)

    @contextmanager
    def writing(self, count: int = 0) -> Iterator[tuple[Writer, int, int]]:
        """A transaction, its generation, and the number before the first of new passages."""
        del count  # SQLite sees by itself which numbers were given.
        with self._lock, self._telling(), transaction(self._database):
            ((generation, newest),) = self._session.rows(
                "UPDATE state SET generation = generation + 1 RETURNING generation, {newest}"
            )
            yield self._session, generation, newest
            # Passages went with their documents; their words are in a table of their own.
            self._session.run(
                "DELETE FROM words WHERE rowid IN "
                "(SELECT number FROM tombstones WHERE generation = ?)",
                (generation,),
            )

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """A transaction that sees one moment while others go on writing."""
        with self._telling(), closing(connect(self._path)) as database:
            database.execute("BEGIN")
            yield SqliteSession(database)

    @contextmanager
    def replacing(self, newest: int) -> Iterator[Writer]:
        """A transaction that replaces everything; numbers go on after the newest."""
        with self._telling(), closing(connect(self._path)) as database, transaction(database):
            begin_anew(database, newest)
            try:
                yield SqliteSession(database)
            except sqlite3.IntegrityError as error:
                raise ValueError(str(error)) from error

    def size(self) -> int:
        """How many bytes the file and its log take."""
        files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _DAMAGED:
                raise EngineError(
                    f"knowledge {self._path} is damaged ({error}); "
                    "move it away and add your sources again"
                ) from error
            advice = "; make room on its disk, or mend it" if code in _NO_ROOM else ""
            raise EngineError(f"knowledge {self._path} cannot be used: {error}{advice}") from error
