"""Versions and what is in force of them, in tables of SQLite or PostgreSQL."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    MetaData,
    String,
    Table,
    and_,
    delete,
    func,
    insert,
    select,
    update,
)

from twinsmith.adapters.sql import Database
from twinsmith.core.trying.versions import InForce, Kind, KnownVersion, Version

TABLES = MetaData()
VERSIONS = Table(
    "twinsmith_versions",
    TABLES,
    *(Column(name, String, primary_key=True) for name in ("kind", "name", "version")),
    *(
        Column(name, String, nullable=False)
        for name in ("text", "first", "last", "retired_by", "retired_at")
    ),
)
IN_FORCE = Table(
    "twinsmith_in_force",
    TABLES,
    Column("key", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("value", "verb", "by", "at")),
)
LOCK = 7_473_103
"""The lock of a server under which one process at a time changes anything here."""


class RegistryTable:
    """The versions of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def note(self, versions: Sequence[Version], at: str) -> None:
        """Keep versions that take part now; of known ones, the moment."""
        with self._database.transaction() as connection:
            _alone(connection)
            for each in versions:
                where = _is(each.kind, each.name, each.version)
                seen = update(VERSIONS).where(where).values(last=at)
                if not connection.execute(seen).rowcount:
                    connection.execute(insert(VERSIONS).values(**_row(each), first=at, last=at))

    def get(self, kind: Kind, name: str, version: str) -> KnownVersion | None:
        """One version."""
        with self._database.transaction() as connection:
            found = connection.execute(select(VERSIONS).where(_is(kind, name, version)))
            row = found.mappings().first()
        return _known(dict(row)) if row is not None else None

    def listed(self, kind: Kind | None = None) -> tuple[KnownVersion, ...]:
        """Every version, or those of a kind."""
        wanted = select(VERSIONS).order_by(*(VERSIONS.c[n] for n in ("kind", "name", "first")))
        if kind is not None:
            wanted = wanted.where(VERSIONS.c.kind == kind)
        with self._database.transaction() as connection:
            rows = connection.execute(wanted).mappings().all()
        return tuple(_known(dict(row)) for row in rows)

    def retire(self, version: Version, by: str, at: str) -> bool:
        """Mark a version as retired, or without `by` as usable again."""
        is_it = _is(version.kind, version.name, version.version)
        marked = {"retired_by": by, "retired_at": at if by else ""}
        with self._database.transaction() as connection:
            _alone(connection)
            other = VERSIONS.c.retired_by == "" if by else VERSIONS.c.retired_by != ""
            if connection.execute(update(VERSIONS).where(is_it, other).values(marked)).rowcount:
                return True
            if not by or connection.execute(select(VERSIONS.c.kind).where(is_it)).first():
                return False
            row = {**_row(version), "first": at, "last": at, **marked}
            connection.execute(insert(VERSIONS).values(row))
            return True


class ForcesTable:
    """What is in force in one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def put(self, entries: Sequence[InForce], instead_of: Sequence[str] = ()) -> None:
        """Keep entries, each in the place of the one of its key, and drop those of other keys."""
        keys = [*instead_of, *(each.key for each in entries)]
        with self._database.transaction() as connection:
            _alone(connection)
            connection.execute(delete(IN_FORCE).where(IN_FORCE.c.key.in_(keys)))
            for each in entries:
                row = {name: getattr(each, name) for name in ("key", "value", "verb", "by", "at")}
                connection.execute(insert(IN_FORCE).values(row))

    def drop(self, keys: Sequence[str]) -> tuple[InForce, ...]:
        """Drop the entries of keys; those that there were."""
        mine = IN_FORCE.c.key.in_(keys)
        with self._database.transaction() as connection:
            _alone(connection)
            rows = connection.execute(
                select(IN_FORCE).where(mine).order_by(IN_FORCE.c.key)
            ).mappings()
            dropped = tuple(InForce(**dict(row)) for row in rows)
            connection.execute(delete(IN_FORCE).where(mine))
        return dropped

    def entries(self) -> tuple[InForce, ...]:
        """All that is in force."""
        with self._database.transaction() as connection:
            rows = connection.execute(select(IN_FORCE).order_by(IN_FORCE.c.key)).mappings().all()
        return tuple(InForce(**dict(row)) for row in rows)


def _alone(connection: Connection) -> None:
    """Let nobody else change anything until the transaction is over.

    SQLite locks from the first change on: there one that changes nothing comes first.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
    else:
        connection.execute(delete(IN_FORCE).where(IN_FORCE.c.key == ""))


def _is(kind: Kind, name: str, version: str) -> ColumnElement[bool]:
    c = VERSIONS.c
    return and_(c.kind == kind, c.name == name, c.version == version)


def _row(version: Version) -> dict[str, Any]:
    return {
        "kind": version.kind,
        "name": version.name,
        "version": version.version,
        "text": version.text,
        "retired_by": "",
        "retired_at": "",
    }


def _known(row: dict[str, Any]) -> KnownVersion:
    told = {name: row.pop(name) for name in ("kind", "name", "version", "text")}
    return KnownVersion(version=Version(**told), **row)
