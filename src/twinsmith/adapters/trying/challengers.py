"""Challengers of roles in a table of SQLite or PostgreSQL: one of a role runs at a time."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Column, Float, Index, MetaData, String, Table, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.trying.challenger import Challenge, read_guard

TABLES = MetaData()
RUNNING = "running"
CHALLENGERS = Table(
    "twinsmith_challengers",
    TABLES,
    Column("id", String, primary_key=True),
    Column("share", Float, nullable=False),
    *(
        Column(name, String, nullable=False)
        for name in ("role", "model", "guards", "champion", "by", "began")
    ),
    *(Column(name, String, nullable=False) for name in ("course", "ended", "ended_by", "why")),
    Index(
        "twinsmith_challengers_one",
        "role",
        unique=True,
        sqlite_where=text(f"course = '{RUNNING}'"),
        postgresql_where=text(f"course = '{RUNNING}'"),
    ),
)


class ChallengerTable:
    """The challengers of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES)

    def start(self, challenge: Challenge) -> bool:
        """Keep a challenge that runs; False where its role has one that does."""
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(CHALLENGERS).values(_row(challenge)))
        except EngineError as error:
            # The index knows it better than a look before: two may begin at once.
            if isinstance(error.__cause__, IntegrityError):
                return False
            raise
        return True

    def running(self) -> tuple[Challenge, ...]:
        """The challenges that run, in the order of their roles."""
        c = CHALLENGERS.c
        wanted = select(CHALLENGERS).where(c.course == RUNNING).order_by(c.role)
        with self._database.transaction() as connection:
            return tuple(map(_read, connection.execute(wanted).mappings().all()))

    def end(self, ended: Challenge) -> bool:
        """Keep how a challenge ended, once; False where it had ended."""
        c = CHALLENGERS.c
        told = {name: getattr(ended, name) for name in ("course", "ended", "ended_by", "why")}
        change = update(CHALLENGERS).where(c.id == ended.id, c.course == RUNNING).values(told)
        with self._database.transaction() as connection:
            return bool(connection.execute(change).rowcount)

    def listed(self) -> tuple[Challenge, ...]:
        """Every challenge, newest first."""
        c = CHALLENGERS.c
        wanted = select(CHALLENGERS).order_by(c.began.desc(), c.id.desc())
        with self._database.transaction() as connection:
            return tuple(map(_read, connection.execute(wanted).mappings().all()))


def _row(challenge: Challenge) -> dict[str, Any]:
    row = asdict(challenge)
    row["guards"] = " ".join(each.words for each in challenge.guards)
    row["champion"] = ",".join(challenge.champion)
    return row


def _read(row: Any) -> Challenge:  # noqa: ANN401, a row of any table
    kept = dict(row)
    kept["guards"] = tuple(map(read_guard, kept["guards"].split()))
    kept["champion"] = tuple(filter(None, kept["champion"].split(",")))
    return Challenge(**kept)
