"""A journal in PostgreSQL, block by block; an offset is the number of a line.

Each block is a transaction of its own: nobody holds a snapshot as long as a journal takes.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby

from sqlalchemy import ColumnElement, select, text, tuple_

from twinsmith.adapters.journal.table import JOURNAL, TABLES
from twinsmith.adapters.sql import Database
from twinsmith.core.blocks import Block

MOST_LINES = 5000
ENDS = text(
    "WITH RECURSIVE chains AS (SELECT min(chain) AS chain FROM twinsmith_journal UNION ALL "
    "SELECT (SELECT min(chain) FROM twinsmith_journal j WHERE j.chain > c.chain) FROM chains c "
    "WHERE c.chain IS NOT NULL) SELECT chain, (SELECT max(seq) FROM twinsmith_journal j "
    "WHERE j.chain = c.chain) AS last FROM chains c WHERE chain IS NOT NULL"
)
"""Where each chain ends: two looks into the index a chain, however long it is."""


class TableBlocks:
    """The journal of one database."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, TABLES, keeps_connections=True)

    def since(self, known: Mapping[str, int]) -> Iterator[Block]:
        """Every line behind the offsets."""
        if not known:
            yield from self._all()
            return
        with self._database.transaction() as connection:
            ends = [(str(chain), int(last)) for chain, last in connection.execute(ENDS)]
        for chain, last in ends:
            offset = known.get(chain, 0)
            if last < offset:
                yield Block(chain=chain, text=b"", offset=0, anew=True)
                offset = 0
            if last > offset:
                yield from self._chain(chain, offset)

    def _all(self) -> Iterator[Block]:
        """All chains in one pass along the primary key."""
        place: tuple[str, int] = ("", 0)
        while True:
            behind = tuple_(JOURNAL.c.chain, JOURNAL.c.seq) > place
            rows = self._rows(behind)
            if not rows:
                return
            place = (rows[-1][0], rows[-1][1])
            for chain, mine in groupby(rows, key=lambda row: row[0]):
                lines = list(mine)
                yield _block(chain, lines)

    def _chain(self, chain: str, offset: int) -> Iterator[Block]:
        while rows := self._rows((JOURNAL.c.chain == chain) & (JOURNAL.c.seq > offset)):
            offset = rows[-1][1]
            yield _block(chain, rows)

    def _rows(self, where: ColumnElement[bool]) -> list[tuple[str, int, str]]:
        asked = select(JOURNAL.c.chain, JOURNAL.c.seq, JOURNAL.c.line).where(where)
        ordered = asked.order_by(JOURNAL.c.chain, JOURNAL.c.seq).limit(MOST_LINES)
        with self._database.transaction() as connection:
            return [(row[0], row[1], row[2]) for row in connection.execute(ordered)]


def _block(chain: str, rows: list[tuple[str, int, str]]) -> Block:
    # A row that was altered by hand may hold a line end; then its hash does not fit either.
    lines = (row[2].replace("\n", " ").encode(errors="replace") for row in rows)
    return Block(chain=chain, text=b"\n".join(lines) + b"\n", offset=rows[-1][1])
