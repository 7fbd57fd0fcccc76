"""The journal's chains in one table of PostgreSQL, so that no machine needs another one's disk.

A line is appended in one transaction that holds a lock of its chain; that a place in a chain and a
key of a chain are taken once, the database enforces too. Heads are not kept: they would lie beside
the very rows they speak of. That the end of a chain was cut off, the system's chain shows for runs
that ended, and an anchor that was stored elsewhere (`twinsmith log --anchor`) for everything.
"""

import hashlib
from collections.abc import Iterable, Sequence

from sqlalchemy import (
    BigInteger,
    Column,
    MetaData,
    Row,
    Select,
    String,
    Table,
    UniqueConstraint,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import insert

from twinsmith.adapters.journal.chains import NextLine
from twinsmith.adapters.sql import Database
from twinsmith.core.anchor import Anchor
from twinsmith.core.events import GENESIS, Broken, Entry, from_line

TABLES = MetaData()
JOURNAL = Table(
    "twinsmith_journal",
    TABLES,
    Column("chain", String, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("line", String, nullable=False),
    Column("key", String),
    # Lines without a key have NULL there, of which there may be any number.
    UniqueConstraint("chain", "key"),
)
# Tells locks of chains from whatever else is locked by number in this database.
LOCKS = 0x7731


class TableChains:
    """Chains as rows of one table; an offset is the number of a line."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES, keeps_connections=True)

    def append(self, chain: str, key: str, next_line: NextLine) -> None:
        """Add one line behind the last, all in one transaction under the chain's lock."""
        lock = select(func.pg_advisory_xact_lock(LOCKS, func.hashtext(chain)))
        with self._database.transaction() as connection:
            connection.execute(lock)
            # A statement of its own: it has to see what was kept while the lock was waited for.
            end = _end(connection.execute(_last(chain)).first())
            row = {"chain": chain, "seq": end.lines + 1, "line": next_line(end), "key": key or None}
            once = insert(JOURNAL).on_conflict_do_nothing(index_elements=["chain", "key"])
            connection.execute(once.values(row))

    def lines(self, chain: str) -> list[str]:
        """All lines of a chain as they lie in the table, by their numbers."""
        return [row.line for row in self._rows(chain, 0)]

    def since(self, chain: str, offset: int) -> tuple[list[Entry], int]:
        """The readable entries of a chain behind a number, and the number of the last line."""
        rows = self._rows(chain, offset)
        return _readable(row.line for row in rows), rows[-1].seq if rows else offset

    def end(self, chain: str) -> Anchor:
        """The number and the hash of the last line of a chain."""
        with self._database.transaction() as connection:
            return _end(connection.execute(_last(chain)).first())

    def names(self) -> list[str]:
        """The chains that have a row."""
        with self._database.transaction() as connection:
            return sorted(connection.execute(select(JOURNAL.c.chain).distinct()).scalars())

    def place(self, chain: str) -> str:
        """The table, and the chain in it."""
        return f"{JOURNAL.name}: {chain}"

    def misfiled(self, chain: str) -> Broken | None:
        """The first row whose number or key was altered, although its line was not."""
        for number, row in enumerate(self._rows(chain, 0), start=1):
            if row.seq != number:
                return Broken(line=number, reason=f"was moved: its row has the number {row.seq}")
            if (row.key or "") != from_line(row.line).event.key:
                return Broken(line=number, reason="was altered: its row has another key than it")
        return None

    def _rows(self, chain: str, offset: int) -> Sequence[Row[tuple[str, int, str, str | None]]]:
        behind = select(JOURNAL).where(JOURNAL.c.chain == chain, JOURNAL.c.seq > offset)
        with self._database.transaction() as connection:
            return connection.execute(behind.order_by(JOURNAL.c.seq)).all()


def _last(chain: str) -> Select[tuple[int, str]]:
    last = select(JOURNAL.c.seq, JOURNAL.c.line).where(JOURNAL.c.chain == chain)
    return last.order_by(JOURNAL.c.seq.desc()).limit(1)


def _end(last: Row[tuple[int, str]] | None) -> Anchor:
    """Where a chain ends that has this last row, or none."""
    if last is None:
        return Anchor(lines=0, head=GENESIS)
    readable = _readable([last.line])
    # One that was altered by hand: go on from what stands there, so that nothing more is lost.
    head = readable[0].hash if readable else hashlib.sha256(last.line.encode()).hexdigest()
    return Anchor(lines=last.seq, head=head)


def _readable(lines: Iterable[str]) -> list[Entry]:
    """The entries that lines hold; lines that cannot be read are left out."""
    entries = []
    for line in lines:
        try:
            entries.append(from_line(line))
        except ValueError:
            continue
    return entries
