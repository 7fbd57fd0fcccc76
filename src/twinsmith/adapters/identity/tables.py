"""Accounts, API keys and sessions in tables of SQLite or PostgreSQL."""

import json
from typing import TypeVar

from sqlalchemy import (
    Column,
    MetaData,
    RowMapping,
    String,
    Table,
    delete,
    exists,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.people.account import Account, ApiKey, Session

T = TypeVar("T")
TABLES = MetaData()
ACCOUNTS = Table(
    "twinsmith_accounts",
    TABLES,
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
)
KEYS = Table(
    "twinsmith_keys",
    TABLES,
    Column("id", String, primary_key=True),
    Column("made", String, nullable=False),
    Column("value", String, nullable=False),
)
SESSIONS = Table(
    "twinsmith_sessions",
    TABLES,
    Column("id", String, primary_key=True),
    Column("account", String, nullable=False, index=True),
    Column("digest", String, nullable=False, index=True),
    Column("before", String, nullable=False, index=True),
    Column("made", String, nullable=False),
    Column("value", String, nullable=False),
)


class AccountTable:
    """The accounts of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def get(self, name: str) -> Account | None:
        """The account of that name."""
        asked = select(ACCOUNTS).where(ACCOUNTS.c.name == name)
        with self._database.transaction() as connection:
            row = connection.execute(asked).mappings().first()
        return _value(row, Account) if row else None

    def listed(self) -> tuple[Account, ...]:
        """Every account, by name."""
        with self._database.transaction() as connection:
            rows = connection.execute(select(ACCOUNTS).order_by(ACCOUNTS.c.name)).mappings()
            return tuple(_value(row, Account) for row in rows)

    def save(self, account: Account, *, before: Account | None = None) -> bool:
        """Keep an account; with `before`, only where it still stands so."""
        same = ACCOUNTS.c.name == account.name
        with self._database.transaction() as connection:
            if before is not None:
                mine = same & (ACCOUNTS.c.value == _text(before, Account))
                changed = update(ACCOUNTS).where(mine).values(_row(account))
                return bool(connection.execute(changed).rowcount)
            connection.execute(delete(ACCOUNTS).where(same))
            connection.execute(insert(ACCOUNTS).values(_row(account)))
        return True

    def first(self, account: Account) -> bool:
        """Keep an account where there is none at all; False where somebody was faster."""
        row = select(*(literal(value) for value in _row(account).values()))
        alone = row.where(~exists(select(ACCOUNTS.c.name)))
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(ACCOUNTS).from_select(["name", "value"], alone))
        except EngineError as error:
            # Somebody kept one of the same name at the same moment.
            if not isinstance(error.__cause__, IntegrityError):
                raise
        return self.listed() == (account,)


class KeyTable:
    """The API keys of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def get(self, name: str) -> ApiKey | None:
        """The key of that id."""
        with self._database.transaction() as connection:
            row = connection.execute(select(KEYS).where(KEYS.c.id == name)).mappings().first()
        return _value(row, ApiKey) if row else None

    def listed(self) -> tuple[ApiKey, ...]:
        """Every key, oldest first."""
        with self._database.transaction() as connection:
            rows = connection.execute(select(KEYS).order_by(KEYS.c.made, KEYS.c.id)).mappings()
            return tuple(_value(row, ApiKey) for row in rows)

    def save(self, key: ApiKey) -> None:
        """Keep a key; one of the same id is replaced."""
        values = {"id": key.id, "made": key.made, "value": _text(key, ApiKey)}
        with self._database.transaction() as connection:
            connection.execute(delete(KEYS).where(KEYS.c.id == key.id))
            connection.execute(insert(KEYS).values(values))


class SessionTable:
    """Who is signed in, in one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def find(self, digest: str) -> Session | None:
        """The session with a token of this hash, or whose token before had it."""
        mine = or_(SESSIONS.c.digest == digest, SESSIONS.c.before == digest)
        with self._database.transaction() as connection:
            row = connection.execute(select(SESSIONS).where(mine)).mappings().first()
        return _value(row, Session) if row else None

    def save(self, session: Session, *, new: bool = False) -> bool:
        """Keep a session; False where its token was replaced or it was ended meanwhile."""
        values = {
            **{n: getattr(session, n) for n in ("id", "account", "digest", "before", "made")},
            "value": _text(session, Session),
        }
        same = SESSIONS.c.id == session.id
        mine = same & SESSIONS.c.digest.in_([session.digest, session.before])
        with self._database.transaction() as connection:
            if new:
                connection.execute(insert(SESSIONS).values(values))
                return True
            return bool(connection.execute(update(SESSIONS).where(mine).values(values)).rowcount)

    def end(self, *names: str) -> None:
        """End the sessions of these ids."""
        with self._database.transaction() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.id.in_(names)))

    def listed(self, account: str) -> tuple[Session, ...]:
        """The sessions of an account, oldest first."""
        asked = select(SESSIONS).where(SESSIONS.c.account == account).order_by(SESSIONS.c.made)
        with self._database.transaction() as connection:
            return tuple(_value(row, Session) for row in connection.execute(asked).mappings())


def _row(account: Account) -> dict[str, str]:
    return {"name": account.name, "value": _text(account, Account)}


def _text(value: T, kind: type[T]) -> str:
    return json.dumps(to_json(value, kind), ensure_ascii=False)


def _value(row: RowMapping, kind: type[T]) -> T:
    return from_json(json.loads(row["value"]), kind)
