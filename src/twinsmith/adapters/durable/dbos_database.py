"""The database that DBOS keeps its records in: made safely, written as JSON, told in one line."""

import fcntl
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from dbos import DBOS, Serializer, error
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from twinsmith.core.errors import DatabaseAway, EngineError
from twinsmith.core.masking import NOTHING_KNOWN

SQLITE = "sqlite:///"


class JsonSerializer(Serializer):
    """Records are readable JSON, never pickle: reading a database must not run code."""

    def serialize(self, data: object) -> str:
        """Any value DBOS wants to keep; only its own exceptions are not JSON already."""
        return json.dumps(data, default=repr, ensure_ascii=False)

    def deserialize(self, serialized_data: str) -> object:
        """The value again."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Written beside each record."""
        return "twinsmith_json"


@contextmanager
def made(url: str) -> Iterator[None]:
    """Make a SQLite file, and keep other processes from opening it as long as the block lasts.

    DBOS makes its tables one by one, outside a transaction: a second process, or a kill in the
    middle, would find half of them. So they are made in a file aside that is then moved in place.
    """
    if not url.startswith(SQLITE):
        yield
        return
    path = Path(url.removeprefix(SQLITE))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            _make_sqlite(path)
        yield


def is_made(url: str) -> bool:
    """Whether there can be anything in a database; one of a server has to be asked."""
    return not url.startswith(SQLITE) or Path(url.removeprefix(SQLITE)).exists()


@contextmanager
def reported(url: str) -> Iterator[None]:
    """Whatever the database or the engine complains about becomes one line."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError, error.DBOSException) as problem:
        # Masked before it is cut: half a password is still a part of it.
        reason = NOTHING_KNOWN.text(" ".join(str(problem).split()))[:300]
        away = isinstance(problem, OperationalError) or (
            isinstance(problem, DBAPIError) and problem.connection_invalidated
        )
        raise (DatabaseAway if away else EngineError)(
            f"the engine cannot use {NOTHING_KNOWN.text(url)}: {reason}; see 'twinsmith doctor'"
        ) from problem


def _make_sqlite(path: Path) -> None:
    aside = path.with_name(f"{path.name}.new")
    for leftover in path.parent.glob(f"{aside.name}*"):
        leftover.unlink()
    aside.touch(mode=0o600)
    DBOS.migrate(f"{SQLITE}{aside}")
    with closing(sqlite3.connect(aside)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    aside.rename(path)
