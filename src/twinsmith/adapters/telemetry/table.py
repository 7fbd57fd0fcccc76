"""Spans and figures in tables of SQLite or PostgreSQL: a day of them, no more than there is room.

A span is one row, whoever tells of it and how often: the first end that is told holds. Figures are
sums that all processes add to, so that every server of a database reads the same.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Index,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    delete,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.sql import Database
from twinsmith.core.measures import Part
from twinsmith.core.telemetry import Span, Trace

TABLES = MetaData()
SPANS = Table(
    "twinsmith_spans",
    TABLES,
    Column("span", String, primary_key=True),
    Column("trace", String, nullable=False),
    Column("run", String, nullable=False),
    Column("began", Double, nullable=False),
    Column("ended", Double, nullable=False),
    Column("value", String, nullable=False),
    Index("twinsmith_spans_of", "trace", "began"),
    Index("twinsmith_spans_run", "run"),
    Index("twinsmith_spans_old", "began"),
)
TOTALS = Table(
    "twinsmith_figures",
    TABLES,
    Column("family", String, primary_key=True),
    Column("labels", String, primary_key=True),
    Column("part", String, primary_key=True),
    Column("value", Double, nullable=False),
)
MINUTES = Table(
    "twinsmith_figures_by_minute",
    TABLES,
    Column("minute", Integer, primary_key=True, autoincrement=False),
    Column("family", String, primary_key=True),
    Column("labels", String, primary_key=True),
    Column("part", String, primary_key=True),
    Column("value", Double, nullable=False),
)
MOST_SPANS = 200_000
MOST_READ = 5_000
MINUTE = 60
PATIENCE = 2.0
"""A process that ends waits so long for one that is suspended in the middle of a write."""


class TelemetryTable:
    """The spans and figures of one database."""

    def __init__(self, url: str, *, most: int = MOST_SPANS) -> None:
        # It is written to every second or so.
        self._database = Database(url, TABLES, keeps_connections=True, patience=PATIENCE)
        self._most = most

    def keep(
        self, spans: Sequence[Span], numbers: Mapping[Part, float], now: float
    ) -> tuple[Span, ...]:
        """Keep all of it or nothing; the spans of which the end was not known before."""
        with self._database.transaction() as connection:
            fresh = _keep(connection, spans)
            _add(connection, numbers, int(now) // MINUTE * MINUTE)
        return fresh

    def forget(self, before: float) -> None:
        """Drop what is older, and the oldest where there is too much."""
        with self._database.transaction() as connection:
            newest = select(SPANS.c.began).order_by(SPANS.c.began.desc())
            first = connection.execute(newest.offset(self._most).limit(1)).scalar()
            until = max(before, first or 0.0)
            connection.execute(delete(SPANS).where(SPANS.c.began <= until))
            connection.execute(delete(MINUTES).where(MINUTES.c.minute < before))

    def spans(self, trace: str) -> tuple[Span, ...]:
        """The spans of a trace, in the order in which they began."""
        asked = select(SPANS).where(SPANS.c.trace == trace).order_by(SPANS.c.began, SPANS.c.span)
        with self._database.transaction() as connection:
            return tuple(map(_span, connection.execute(asked.limit(MOST_READ))))

    def trace_of(self, run: str) -> str:
        """The trace that a run is in; empty where none is kept."""
        asked = select(SPANS.c.trace).where(SPANS.c.run == run).order_by(SPANS.c.began).limit(1)
        with self._database.transaction() as connection:
            return connection.execute(asked).scalar() or ""

    def totals(self) -> dict[Part, float]:
        """All numbers of counted figures, from the beginning on."""
        with self._database.transaction() as connection:
            return {_part(row): row.value for row in connection.execute(select(TOTALS))}

    def minutes(self, since: float) -> dict[int, dict[Part, float]]:
        """What was counted in each minute, from a moment on."""
        asked = select(MINUTES).where(MINUTES.c.minute >= int(since) // MINUTE * MINUTE)
        found: dict[int, dict[Part, float]] = {}
        with self._database.transaction() as connection:
            for row in connection.execute(asked.order_by(MINUTES.c.minute)):
                found.setdefault(row.minute, {})[_part(row)] = row.value
        return found


def _keep(connection: Connection, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Keep spans; as they stand those of which the end was not known before."""
    begun = [each for each in spans if not each.ended]
    if begun:
        put = _insert(connection, SPANS).on_conflict_do_nothing()
        connection.execute(put, _rows(begun))
    # Of two ends in one hand the first holds, as it does of two that come one after the other.
    ended = {each.place.span: each for each in reversed(spans) if each.ended}
    if not ended:
        return ()
    put = _insert(connection, SPANS)
    ends = {"ended": put.excluded.ended, "value": put.excluded.value}
    put = put.on_conflict_do_update(
        index_elements=[SPANS.c.span], set_=ends, where=SPANS.c.ended == 0
    )
    kept = connection.execute(put.returning(SPANS.c.span, SPANS.c.began), _rows(ended.values()))
    began = {row.span: row.began for row in kept}
    fresh = (each for each in reversed(ended.values()) if each.place.span in began)
    return tuple(replace(each, began=began[each.place.span], again=False) for each in fresh)


def _rows(spans: Iterable[Span]) -> list[dict[str, str | float]]:
    """Spans as rows, in one order, so that nobody waits in a ring."""
    return [
        {
            "span": span.place.span,
            "trace": span.place.trace,
            "run": span.run,
            "began": span.began,
            "ended": span.ended,
            "value": json.dumps(to_json(replace(span, again=False), Span), separators=(",", ":")),
        }
        for span in sorted(spans, key=lambda each: each.place.span)
    ]


def _add(connection: Connection, numbers: Mapping[Part, float], minute: int) -> None:
    """Add to the sums, and to those of the minute; in one order, so that nobody waits in a ring."""
    rows = [
        {"family": part.family, "labels": part.labels, "part": part.part, "value": value}
        for part, value in sorted(numbers.items())
    ]
    if not rows:
        return
    for table, more in ((TOTALS, rows), (MINUTES, [{**row, "minute": minute} for row in rows])):
        put = _insert(connection, table)
        together = {"value": table.c.value + put.excluded.value}
        keys = list(table.primary_key.columns)
        connection.execute(put.on_conflict_do_update(index_elements=keys, set_=together), more)


def _insert(connection: Connection, table: Table) -> Any:  # noqa: ANN401 - two classes, alike in what is used
    """An insertion that knows what to do where the row is there already."""
    on_server = connection.dialect.name == "postgresql"
    return postgresql.insert(table) if on_server else sqlite.insert(table)


def _span(row: Row[Any]) -> Span:
    kept = from_json(json.loads(row.value), Span)
    assert isinstance(kept.place, Trace)
    return replace(kept, began=row.began)


def _part(row: Row[Any]) -> Part:
    return Part(family=row.family, labels=row.labels, part=row.part)
