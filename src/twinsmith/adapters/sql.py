"""A database that several processes share, SQLite or PostgreSQL, behind SQLAlchemy Core."""

import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from sqlalchemy import (
    Connection,
    Engine,
    Float,
    MetaData,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy.exc import (
    DBAPIError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import NullPool, QueuePool
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from twinsmith.adapters.wal import use_wal
from twinsmith.core.errors import DatabaseAway, EngineError
from twinsmith.core.masking import NOTHING_KNOWN

SQLITE = "sqlite:///"
MAKING_TABLES = 7_473_101
"""The lock of a server under which one process at a time makes tables."""
TRIES = 20
PAUSE = 0.05
PATIENCE = 30.0
IDLE_SECONDS = 5
"""A process suspended in the middle of a transaction loses it and its locks after so long."""

_MADE: set[tuple[str, frozenset[str]]] = set()
"""The databases whose tables this process has made, or found."""


class epoch(FunctionElement[float]):  # noqa: N801, it reads as a function of the database
    """The database's own clock, in seconds: all processes of a database share it."""

    type = Float()
    inherit_cache = True


@compiles(epoch, "sqlite")
def _epoch_sqlite(_clock: epoch, _compiler: SQLCompiler, **_: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(epoch, "postgresql")
def _epoch_postgresql(_clock: epoch, _compiler: SQLCompiler, **_: object) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


class Database:
    """Transactions on one database; its tables are made when it is used for the first time.

    With `keeps_connections` they are used again: for whoever asks often. A file that somebody else
    writes to is waited for with `patience`, in seconds.
    """

    def __init__(
        self,
        url: str,
        tables: MetaData,
        *,
        keeps_connections: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        self._url = url
        self._tables = tables
        self._keeps_connections = keeps_connections
        self._patience = patience
        self._engine: Engine | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection whose changes are kept at the end of the block, all or none."""
        try:
            with self._opened().begin() as connection:
                yield connection
        except (SQLAlchemyError, OSError) as problem:
            # What the driver says, without the statement and its values.
            told = getattr(problem, "orig", None) or problem
            reason = NOTHING_KNOWN.text(" ".join(str(told).split()))[:300]
            away = isinstance(problem, OSError | OperationalError) or (
                isinstance(problem, DBAPIError) and problem.connection_invalidated
            )
            raise (DatabaseAway if away else EngineError)(
                f"{NOTHING_KNOWN.text(self._url)} cannot be used: {reason}; see 'twinsmith doctor'"
            ) from problem

    def _opened(self) -> Engine:
        if self._engine is None:
            if self._url.startswith(SQLITE):
                engine = _sqlite(
                    self._url, keeps_connections=self._keeps_connections, patience=self._patience
                )
            else:
                engine = _server(self._url, keeps_connections=self._keeps_connections)
            # Nobody closes a database: its connections end with it, or with the process.
            weakref.finalize(self, engine.dispose)
            self._make_once(engine)
            self._engine = engine
        return self._engine

    def _make_once(self, engine: Engine) -> None:
        """Make what is missing, unless this process did: a server opens databases all the time."""
        path = Path(self._url.removeprefix(SQLITE))
        there = not self._url.startswith(SQLITE) or (path.exists() and path.stat().st_size > 0)
        # Modules that are imported later may have added tables.
        mine = (self._url, frozenset(self._tables.tables))
        if not there or mine not in _MADE:
            self._make(engine)
            _MADE.add(mine)

    def _make(self, engine: Engine) -> None:
        """Make what is missing; where others make it just now, theirs is taken."""
        for left in reversed(range(TRIES)):
            try:
                return self._make_tables(engine)
            except OperationalError as error:
                if _is_missing(error):
                    _make_database(engine)
                elif not left or "already exists" not in str(error):
                    raise
                time.sleep(PAUSE)
        return None

    def _make_tables(self, engine: Engine) -> None:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(MAKING_TABLES)))
            self._tables.create_all(connection)


def _is_missing(error: OperationalError) -> bool:
    """Whether a server says that it has no such database: the driver tells it in words alone."""
    told = str(error.orig)
    return 'database "' in told and "does not exist" in told


def _make_database(engine: Engine) -> None:
    """Make a database on its server; where somebody made it just now, theirs is taken."""
    address = engine.url.set(database="postgres")
    server = create_engine(address, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    name = server.dialect.identifier_preparer.quote_identifier(str(engine.url.database))
    with suppress(ProgrammingError, IntegrityError), server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))


def _server(url: str, *, keeps_connections: bool) -> Engine:
    address = url.replace("postgresql://", "postgresql+psycopg://", 1)
    held = {"options": f"-c idle_in_transaction_session_timeout={IDLE_SECONDS}s"}
    made = partial(create_engine, address, isolation_level="READ COMMITTED", connect_args=held)
    return made(pool_pre_ping=True) if keeps_connections else made(poolclass=NullPool)


def _sqlite(url: str, *, keeps_connections: bool, patience: float) -> Engine:
    path = Path(url.removeprefix(SQLITE))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    pool = QueuePool if keeps_connections else NullPool
    engine = create_engine(url, poolclass=pool, connect_args={"timeout": patience})
    event.listen(engine, "connect", lambda connection, _: use_wal(connection))
    return engine
