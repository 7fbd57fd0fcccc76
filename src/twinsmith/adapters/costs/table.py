"""What was spent, in tables of SQLite or PostgreSQL: one row a call, so that none counts twice.

Whoever sets something aside holds the one lock of the table until its row stands there: of many
processes that ask at once, each sees what the others have set aside. A row that was set aside by a
process that is gone counts for a while only, by the database's own clock. Sums by day, person and
app are kept beside the calls, in the same transactions: a month of calls is not added up anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Float,
    Index,
    Integer,
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

from twinsmith.adapters.sql import Database, epoch
from twinsmith.core.costs.allowance import Amount, Bound, Pot, Standing, room
from twinsmith.core.costs.claim import Claim

TABLES = MetaData()
CALLS = Table(
    "twinsmith_spending",
    TABLES,
    Column("key", String, primary_key=True),
    Column("day", String, nullable=False),
    *(Column(name, String, nullable=False) for name in ("run", "person", "app")),
    Column("paid", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("usd", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("until", Float, nullable=False),
    Index("twinsmith_spending_open", "paid", "until"),
    Index("twinsmith_spending_by_run", "run"),
)
DAYS = Table(
    "twinsmith_spending_days",
    TABLES,
    *(Column(name, String, primary_key=True) for name in ("day", "person", "app")),
    Column("tokens", BigInteger, nullable=False),
    Column("usd", Float, nullable=False),
    Column("seconds", Float, nullable=False),
)
UNITS = ("tokens", "usd", "seconds")
LOCK = 7_473_102
"""The lock of a server under which one process at a time changes anything here."""


class PurseTable:
    """The calls of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES, keeps_connections=True)

    def set_aside(self, claim: Claim, bounds: Sequence[Bound]) -> tuple[Standing, ...]:
        """Set a claim aside where there is room; else how much of each bound is spent."""
        with self._alone() as connection:
            # The first statement writes: from here on SQLite lets nobody else write either.
            connection.execute(delete(CALLS).where(CALLS.c.key == claim.key, CALLS.c.paid == 0))
            if connection.execute(select(CALLS.c.key).where(CALLS.c.key == claim.key)).first():
                return ()
            standings = tuple(_standing(connection, each) for each in bounds)
            if room(standings, claim.amount) != "free":
                return standings
            connection.execute(
                insert(CALLS).values(**_row(claim), paid=0, until=epoch() + claim.seconds)
            )
            return ()

    def pay(self, claim: Claim) -> None:
        """Keep what a call took."""
        with self._alone() as connection:
            mine = CALLS.c.key == claim.key
            # Written first, as above; what it was paid before is taken out of the sums again.
            connection.execute(delete(CALLS).where(mine, CALLS.c.paid == 0))
            before = connection.execute(select(CALLS).where(mine)).mappings().first()
            if before is not None:
                _add(connection, dict(before), -1)
                connection.execute(delete(CALLS).where(mine))
            row = _row(claim)
            connection.execute(insert(CALLS).values(**row, paid=1, until=0.0))
            _add(connection, row, 1)

    def give_back(self, key: str) -> None:
        """Drop what was set aside for a call."""
        with self._database.transaction() as connection:
            connection.execute(delete(CALLS).where(CALLS.c.key == key, CALLS.c.paid == 0))

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """A transaction beside which no other one changes anything, from its first change on."""
        with self._database.transaction() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
            yield connection

    def standings(self, bounds: Sequence[Bound]) -> tuple[Standing, ...]:
        """How much of each bound is spent, and how much is set aside."""
        with self._database.transaction() as connection:
            return tuple(_standing(connection, each) for each in bounds)


def _standing(connection: Connection, bound: Bound) -> Standing:
    pot = bound.pot
    under_way = and_(CALLS.c.paid == 0, CALLS.c.until > epoch())
    if pot.run:
        spent = _sum(connection, CALLS, and_(CALLS.c.paid == 1, _in(CALLS, pot)))
    else:
        spent = _sum(connection, DAYS, _in(DAYS, pot))
    set_aside = _sum(connection, CALLS, and_(under_way, _in(CALLS, pot)))
    return Standing(bound=bound, spent=spent, set_aside=set_aside)


def _sum(connection: Connection, table: Table, where: ColumnElement[bool]) -> Amount:
    sums = [func.coalesce(func.sum(table.c[name]), 0) for name in UNITS]
    tokens, usd, seconds = connection.execute(select(*sums).where(where)).one()
    return Amount(tokens=int(tokens), usd=float(usd), seconds=float(seconds))


def _in(table: Table, pot: Pot) -> ColumnElement[bool]:
    """Whether a row is in a pot."""
    parts = [table.c.run == pot.run] if pot.run else []
    parts += [table.c.app == pot.app] if pot.app else []
    parts += [table.c.person.in_(pot.persons)] if pot.persons else []
    if pot.days:
        # A span, so that it holds for a month, too: no day of one comes after its 99th.
        parts += [table.c.day >= pot.days, table.c.day <= f"{pot.days}-99"]
    return and_(True, *parts)


def _add(connection: Connection, row: Mapping[str, Any], sign: int) -> None:
    """Add a call to the sums of its day, or take it out again."""
    place = {name: row[name] for name in ("day", "person", "app")}
    where = and_(*(DAYS.c[name] == value for name, value in place.items()))
    more = {name: DAYS.c[name] + sign * row[name] for name in UNITS}
    if not connection.execute(update(DAYS).where(where).values(more)).rowcount:
        amounts = {name: sign * row[name] for name in UNITS}
        connection.execute(insert(DAYS).values(**place, **amounts))


def _row(claim: Claim) -> dict[str, Any]:
    payer, amount = claim.payer, claim.amount
    return {
        "key": claim.key,
        "day": claim.day,
        "run": payer.run,
        "person": payer.person,
        "app": payer.app,
        "tokens": amount.tokens,
        "usd": amount.usd,
        "seconds": amount.seconds,
    }
