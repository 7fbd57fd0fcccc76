"""A connection to PostgreSQL that comes back after the server did, and says in one line why not."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import Identifier

from twinsmith.adapters.knowledge.dialect import Reader, Values, Writer
from twinsmith.adapters.knowledge.postgres_tables import Database, PostgresSession, prepare
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
        """Its address without user and password."""
        self._lock = threading.RLock()
        with self._telling():
            self._database = self._another()
        try:
            self._use(lambda database: prepare(database, schema, self.where))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the connection go."""
        with self._lock:
            self._database.close()

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """All rows that one statement gives."""
        return self._use(lambda database: PostgresSession(database).rows(sql, values))

    @contextmanager
    def writing(self, count: int = 0) -> Iterator[tuple[Writer, int, int]]:
        """A transaction, its generation, and the number before the first of new passages."""
        with self._lock:
            self.rows("SELECT 1")
            with self._telling(), self._database.transaction():
                writer = PostgresSession(self._database)
                ((generation, newest),) = writer.rows(
                    "UPDATE state SET generation = generation + 1, newest = newest + ? "
                    "RETURNING generation, newest",
                    (count,),
                )
                yield writer, int(generation), int(newest) - count

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """A transaction that sees one moment while others go on writing."""
        with self._telling(), self._another() as database:
            database.autocommit = False
            database.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            database.read_only = True
            yield PostgresSession(database)

    @contextmanager
    def replacing(self, newest: int) -> Iterator[Writer]:
        """A transaction that replaces everything; numbers go on after the newest."""
        with self._telling(), self._another() as database, database.transaction():
            database.execute("UPDATE state SET newest = greatest(newest, %s)", (newest,))
            try:
                yield PostgresSession(database)
            except psycopg.IntegrityError as error:
                raise ValueError(_one_line(error)) from error
            # Without it the first searches would not know what is rare.
            database.execute("ANALYZE documents, passages, vectors")

    def size(self) -> int:
        """How many bytes the tables and their indexes take."""
        ((size,),) = self.rows(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND "
            "relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
        )
        return int(size)

    def _another(self) -> Database:
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

    def _use(self, work: Callable[[Database], T]) -> T:
        """Do what may be done twice: again, when the connection turns out to be broken."""
        with self._lock, self._telling():
            if not self._database.closed:
                try:
                    return work(self._database)
                except psycopg.OperationalError:
                    if not self._database.closed:
                        raise
            self._database = self._another()
            return work(self._database)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Whatever the server or the way to it complains about becomes one line."""
        try:
            yield
        except psycopg.Error as error:
            if isinstance(error, psycopg.OperationalError) and (
                error.sqlstate is None or error.sqlstate.startswith(_AWAY)
            ):
                raise EngineError(
                    f"knowledge {self.where} cannot be reached: {_one_line(error)}; "
                    "start the server, or mend knowledge.store"
                ) from error
            raise EngineError(
                f"knowledge {self.where} cannot be used: {_one_line(error)}"
            ) from error


def _one_line(error: psycopg.Error) -> str:
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
