"""A database that several processes share, SQLite or PostgreSQL, behind SQLAlchemy Core."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, MetaData, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from twinsmith.adapters.wal import use_wal
from twinsmith.core.errors import EngineError
from twinsmith.core.masking import NOTHING_KNOWN

SQLITE = "sqlite:///"


class Database:
    """Transactions on one database; its tables are made when it is used for the first time."""

    def __init__(self, url: str, tables: MetaData) -> None:
        self._url = url
        self._tables = tables
        self._engine: Engine | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection whose changes are kept at the end of the block, all or none."""
        try:
            with self._opened().begin() as connection:
                yield connection
        except (SQLAlchemyError, OSError) as problem:
            reason = NOTHING_KNOWN.text(" ".join(str(problem).split()))[:300]
            raise EngineError(
                f"{NOTHING_KNOWN.text(self._url)} cannot be used: {reason}; see 'twinsmith doctor'"
            ) from problem

    def _opened(self) -> Engine:
        if self._engine is None:
            engine = _sqlite(self._url) if self._url.startswith(SQLITE) else _server(self._url)
            self._tables.create_all(engine)
            self._engine = engine
        return self._engine


def _server(url: str) -> Engine:
    return create_engine(
        url.replace("postgresql://", "postgresql+psycopg://", 1), poolclass=NullPool
    )


def _sqlite(url: str) -> Engine:
    path = Path(url.removeprefix(SQLITE))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": 30})
    event.listen(engine, "connect", lambda connection, _: use_wal(connection))
    return engine
