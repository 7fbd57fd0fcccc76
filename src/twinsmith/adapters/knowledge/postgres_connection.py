"""A connection to PostgreSQL that comes back after the server did, and says in one line why not."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import Identifier

from twinsmith.adapters.knowledge.postgres_tables import Database
from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.masking import NOTHING_KNOWN

T = TypeVar("T")

CONNECT_SECONDS = 10
_AWAY = ("08", "57P")


class PostgresConnection:
    """One connection for all threads, which take turns."""

    def __init__(self, url: str, schema: str) -> None:
        self._url = url
        self._schema = schema
        self.where = _described(url)
        """As it may be shown."""
        self._lock = threading.RLock()
        with self.telling():
            self._database = self.another()

    def close(self) -> None:
        """Let it go."""
        with self._lock:
            self._database.close()

    def another(self) -> Database:
        """A connection besides this one."""
        database: Database = psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            client_encoding="utf8",
            application_name="twinsmith",
        )
        try:
            # What was committed has to be on the disk, whatever this server does for others.
            database.execute(
                "SELECT set_config('search_path', %s, false), "
                "set_config('lock_timeout', '30s', false), set_config('synchronous_commit', "
                "coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false)",
                (Identifier(self._schema).as_string(),),
            )
        except BaseException:
            database.close()
            raise
        return database

    def rows(self, sql: LiteralString, values: tuple[object, ...] = ()) -> list[Any]:
        """What one statement gives."""
        return self.use(lambda database: database.execute(sql, values).fetchall())

    def use(self, work: Callable[[Database], T]) -> T:
        """Do what may be done twice: again, when the connection turns out to be broken."""
        with self._lock, self.telling():
            if not self._database.closed:
                try:
                    return work(self._database)
                except psycopg.OperationalError:
                    if not self._database.closed:
                        raise
            self._database = self.another()
            return work(self._database)

    @contextmanager
    def writing(self, count: int = 0) -> Iterator[tuple[Database, int, int]]:
        """A transaction that no other writer shares, its generation, and its newest number."""
        with self._lock:
            self.rows("SELECT 1")
            with self.telling(), self._database.transaction():
                ((generation, newest),) = self._database.execute(
                    "UPDATE state SET generation = generation + 1, newest = newest + %s "
                    "RETURNING generation, newest",
                    (count,),
                ).fetchall()
                yield self._database, int(generation), int(newest)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Whatever the server or the way to it complains about becomes one line."""
        try:
            yield
        except psycopg.Error as error:
            if isinstance(error, psycopg.OperationalError) and (
                error.sqlstate is None or error.sqlstate.startswith(_AWAY)
            ):
                raise EngineError(
                    f"knowledge {self.where} cannot be reached: {one_line(error)}; "
                    "start the server, or mend knowledge.store"
                ) from error
            raise EngineError(
                f"knowledge {self.where} cannot be used: {one_line(error)}"
            ) from error


def one_line(error: psycopg.Error) -> str:
    """What went wrong, without line breaks and passwords."""
    # Masked before it is cut: half a password is still a part of it.
    line = " ".join((error.diag.message_primary or str(error)).split())
    return NOTHING_KNOWN.text(line)[:300]


def _described(url: str) -> str:
    """An address without user and password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        parts = {"host": "@"}
    host, port = parts.get("host", "localhost"), parts.get("port", "5432")
    shown = f"{host}:{port}/{parts.get('dbname', '')}"
    if "@" in shown:
        # A password may have ended up in the wrong part: nothing of the address is repeated.
        raise ConfigError(
            "knowledge.store is not an address that PostgreSQL understands; write "
            "postgresql://USER@HOST:PORT/NAME, and @ or / in a password as %40 or %2F"
        )
    return f"postgresql://{shown}"
