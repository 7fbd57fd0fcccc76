"""What was spent, in a table of SQLite or PostgreSQL: one row a call, so that none counts twice.

Whoever sets something aside holds the one lock of the table until its row stands there: of many
processes that ask at once, each sees what the others have set aside. A row that was set aside by a
process that is gone counts for a while only, by the database's own clock.
"""

from collections.abc import Sequence

from sqlalchemy import (
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
    or_,
    select,
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
    Index("twinsmith_spending_by_day", "day", "person"),
    Index("twinsmith_spending_by_run", "run"),
)
LOCK = 7_473_102
"""The lock of a server under which one process at a time sets something aside."""


class PurseTable:
    """The calls of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES, keeps_connections=True)

    def set_aside(self, claim: Claim, bounds: Sequence[Bound]) -> tuple[Standing, ...]:
        """Set a claim aside where there is room; else how much of each bound is spent."""
        with self._database.transaction() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
            # The first statement writes: from here on SQLite lets nobody else write either.
            mine = and_(CALLS.c.key == claim.key, CALLS.c.paid == 0)
            connection.execute(delete(CALLS).where(mine))
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
        with self._database.transaction() as connection:
            connection.execute(delete(CALLS).where(CALLS.c.key == claim.key))
            connection.execute(insert(CALLS).values(**_row(claim), paid=1, until=0.0))

    def give_back(self, key: str) -> None:
        """Drop what was set aside for a call."""
        with self._database.transaction() as connection:
            mine = and_(CALLS.c.key == key, CALLS.c.paid == 0)
            connection.execute(delete(CALLS).where(mine))

    def standings(self, bounds: Sequence[Bound]) -> tuple[Standing, ...]:
        """How much of each bound is spent, and how much is set aside."""
        with self._database.transaction() as connection:
            return tuple(_standing(connection, each) for each in bounds)


def _standing(connection: Connection, bound: Bound) -> Standing:
    sums = [func.coalesce(func.sum(CALLS.c[name]), 0) for name in ("tokens", "usd", "seconds")]
    counted = or_(CALLS.c.paid == 1, CALLS.c.until > epoch())
    asked = select(CALLS.c.paid, *sums).where(_in(bound.pot), counted).group_by(CALLS.c.paid)
    found = {
        paid: Amount(tokens=int(tokens), usd=float(usd), seconds=float(seconds))
        for paid, tokens, usd, seconds in connection.execute(asked)
    }
    return Standing(bound=bound, spent=found.get(1, Amount()), set_aside=found.get(0, Amount()))


def _in(pot: Pot) -> ColumnElement[bool]:
    """Whether a call is in a pot."""
    parts = [CALLS.c.run == pot.run] if pot.run else []
    parts += [CALLS.c.app == pot.app] if pot.app else []
    parts += [CALLS.c.person.in_(pot.persons)] if pot.persons else []
    if pot.days:
        # A span, so that the index serves a month, too: no day of one comes after its 99th.
        parts += [CALLS.c.day >= pot.days, CALLS.c.day <= f"{pot.days}-99"]
    return and_(True, *parts)


def _row(claim: Claim) -> dict[str, object]:
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
