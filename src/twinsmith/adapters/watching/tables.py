"""Readings in a table of SQLite or PostgreSQL."""

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    delete,
    insert,
    select,
)

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.sql import Database
from twinsmith.core.events import Json
from twinsmith.core.operating.reading import Reading
from twinsmith.core.operating.thinning import HOUR, Keeping, thinned, thinnings

TABLES = MetaData()
READINGS = Table(
    "twinsmith_readings",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("app", String, nullable=False),
    Column("step", Integer, nullable=False),
    Column("at", Double, nullable=False),
    Column("value", String, nullable=False),
    Index("twinsmith_readings_of", "app", "at"),
    Index("twinsmith_readings_old", "step", "at"),
)


class ReadingTable:
    """The readings of all apps of one database."""

    def __init__(self, url: str, keeping: Keeping | None = None) -> None:
        # It is written to every second or so.
        self._database = Database(url, TABLES, keeps_connections=True)
        self._keeping = keeping or Keeping()

    def add(self, readings: Sequence[Reading]) -> None:
        """Keep readings, all at once."""
        if readings:
            with self._database.transaction() as connection:
                _keep(connection, readings, 0)

    def listed(self, app: str, since: float, until: float) -> tuple[Reading, ...]:
        """The readings of an app in a span, oldest first."""
        spanned = READINGS.c.at.between(since, until)
        asked = select(READINGS.c.value).where(READINGS.c.app == app, spanned)
        with self._database.transaction() as connection:
            rows = connection.execute(asked.order_by(READINGS.c.at, READINGS.c.id)).scalars()
            return tuple(_reading(text) for text in rows)

    def thin(self, now: float) -> None:
        """Downsample what is old enough, and forget what is too old.

        Of several that do so at once one gets the old rows, since whoever removes them has them.
        """
        with self._database.transaction() as connection:
            for each in thinnings(self._keeping, now):
                old = delete(READINGS).where(READINGS.c.step == each.before)
                taken = old.where(READINGS.c.at < each.until).returning(READINGS.c.value)
                readings = [_reading(text) for text in connection.execute(taken).scalars()]
                _keep(connection, thinned(readings, each.after), each.after)
            oldest = now - self._keeping.each_hour
            gone = delete(READINGS).where(READINGS.c.step == HOUR, READINGS.c.at < oldest)
            connection.execute(gone)


def _keep(connection: Connection, readings: Iterable[Reading], step: int) -> None:
    rows = [
        {"app": each.app, "step": step, "at": each.at, "value": _text(each)} for each in readings
    ]
    if rows:
        connection.execute(insert(READINGS), rows)


def _text(reading: Reading) -> str:
    """A reading as JSON, without what is not known: most of many rows."""
    return json.dumps(_known(to_json(reading, Reading)), separators=(",", ":"))


def _known(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _known(each) for name, each in value.items() if each is not None}
    return value


def _reading(text: str) -> Reading:
    return from_json(json.loads(text), Reading)
