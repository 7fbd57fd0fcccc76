"""Alerts and their deliveries in tables of SQLite or PostgreSQL."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Float,
    Integer,
    MetaData,
    RowMapping,
    String,
    Table,
    delete,
    func,
    insert,
    not_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.sql import Database
from twinsmith.core.errors import EngineError
from twinsmith.core.masking import Masking
from twinsmith.core.operating.alert import (
    Alert,
    AlertPolicy,
    AlertRecord,
    ChannelHealth,
    Delivery,
    Posting,
    claimed,
    deliveries_of,
    fitted,
    is_due,
    rank,
    repeated,
    settled,
    tried,
)

TABLES = MetaData()
ALERTS = Table(
    "twinsmith_alerts",
    TABLES,
    Column("id", String, primary_key=True),
    Column("at", Float, nullable=False, index=True),
    # The alert that this one only repeats; empty: it is one of its own.
    Column("within", String, nullable=False, index=True),
    Column("value", String, nullable=False),
)
# Each app and key has one row: whoever changes it is the only one who tells of it just then.
LATEST = Table(
    "twinsmith_alert_latest",
    TABLES,
    Column("app", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("alert", String, nullable=False),
    Column("until", Float, nullable=False),
    Column("rank", Integer, nullable=False),
)
DELIVERIES = Table(
    "twinsmith_alert_deliveries",
    TABLES,
    Column("alert", String, primary_key=True),
    Column("channel", String, primary_key=True),
    Column("state", String, nullable=False, index=True),
    Column("problem", String, nullable=False),
    *(Column(name, Integer, nullable=False) for name in ("attempts", "repeats", "told")),
    *(Column(name, Float, nullable=False) for name in ("until", "next_try", "at", "delivered")),
)
CHANNELS = Table(
    "twinsmith_alert_channels",
    TABLES,
    Column("name", String, primary_key=True),
    Column("problem", String, nullable=False),
    *(Column(name, Float, nullable=False) for name in ("at", "failing_since")),
)
TRIES = 20


class AlertTable:
    """The alerts of one database; what is told is masked before it is kept."""

    def __init__(self, url: str, policy: AlertPolicy, masking: Masking) -> None:
        self._database = Database(url, TABLES)
        self._policy = policy
        self._masking = masking

    def tell(self, alert: Alert) -> bool:
        """Keep an alert, without secrets; False where one of its id is kept already."""
        kept = fitted(alert, self._masking.text)
        return self._changed(partial(self._keep, alert=kept), done=partial(self._is_known, kept.id))

    def listed(self, most: int) -> tuple[AlertRecord, ...]:
        """The latest alerts, newest first."""
        firsts = select(ALERTS).where(ALERTS.c.within == "")
        firsts = firsts.order_by(ALERTS.c.at.desc(), ALERTS.c.id.desc()).limit(most)
        with self._database.transaction() as connection:
            alerts = [_alert(row) for row in connection.execute(firsts).mappings()]
            wanted = [each.id for each in alerts]
            counted = (
                select(ALERTS.c.within, func.count())
                .where(ALERTS.c.within.in_(wanted))
                .group_by(ALERTS.c.within)
            )
            repeats = {row[0]: int(row[1]) for row in connection.execute(counted)}
            ways = select(DELIVERIES).where(DELIVERIES.c.alert.in_(wanted))
            rows = connection.execute(ways.order_by(DELIVERIES.c.channel)).mappings()
            deliveries = [_delivery(row) for row in rows]
        return tuple(
            AlertRecord(
                alert=each,
                repeats=repeats.get(each.id, 0),
                deliveries=tuple(way for way in deliveries if way.alert == each.id),
            )
            for each in alerts
        )

    def channels(self) -> tuple[ChannelHealth, ...]:
        """Every channel that was ever used, by name."""
        with self._database.transaction() as connection:
            rows = connection.execute(select(CHANNELS).order_by(CHANNELS.c.name)).mappings()
            return tuple(from_json({**row}, ChannelHealth) for row in rows)

    def forget(self, before: float) -> None:
        """Forget alerts that were raised before a moment, whatever became of them."""
        old = select(ALERTS.c.id).where(ALERTS.c.at < before)
        with self._database.transaction() as connection:
            connection.execute(
                delete(LATEST).where(LATEST.c.alert.in_(old), LATEST.c.until < before)
            )
            connection.execute(delete(DELIVERIES).where(DELIVERIES.c.alert.in_(old)))
            connection.execute(delete(ALERTS).where(ALERTS.c.at < before))

    def due(self, now: float) -> tuple[Posting, ...]:
        """The deliveries whose next attempt may begin, oldest first."""
        asked = (
            select(DELIVERIES, ALERTS.c.value)
            .join(ALERTS, ALERTS.c.id == DELIVERIES.c.alert)
            .where(DELIVERIES.c.state.in_(("waiting", "sending")), DELIVERIES.c.next_try <= now)
            .order_by(ALERTS.c.at, DELIVERIES.c.channel)
        )
        with self._database.transaction() as connection:
            rows = connection.execute(asked).mappings()
            return tuple(Posting(alert=_alert(row), delivery=_delivery(row)) for row in rows)

    def claim(self, posting: Posting, now: float) -> Posting | None:
        """Take the next attempt of a delivery; None where somebody else has it."""
        known = posting.delivery
        with self._database.transaction() as connection:
            for now_known in _locked(connection, _row_of(known)):
                if now_known.attempts == known.attempts and is_due(now_known, now):
                    taken = claimed(now_known, now)
                    _put(connection, taken)
                    return replace(posting, delivery=taken)
        return None

    def settle(self, posting: Posting, problem: str, now: float) -> None:
        """Keep how an attempt ended that was claimed; an empty problem: it went well."""
        self._changed(partial(_settle, posting=posting, problem=problem, now=now))

    def tried(self, channel: str, problem: str, now: float) -> None:
        """Keep how a channel did; where it works, what waits for it is due at once."""
        self._changed(partial(_tried, channel=channel, problem=problem, now=now))

    def _changed(
        self, change: Callable[[Connection], None], done: Callable[[], bool] = bool
    ) -> bool:
        """Make a change, again where somebody inserted the same row just then; False: was done."""
        for left in reversed(range(TRIES)):
            if done():
                return False
            try:
                with self._database.transaction() as connection:
                    change(connection)
            except EngineError as error:
                if not left or not isinstance(error.__cause__, IntegrityError):
                    raise
            else:
                return True
        raise AssertionError("unreachable")

    def _is_known(self, name: str) -> bool:
        with self._database.transaction() as connection:
            asked = select(ALERTS.c.id).where(ALERTS.c.id == name)
            return connection.execute(asked).first() is not None

    def _keep(self, connection: Connection, alert: Alert) -> None:
        own = (LATEST.c.app == alert.app) & (LATEST.c.key == alert.key)
        same = (LATEST.c.until > alert.at) & (LATEST.c.rank >= rank(alert.severity))
        within = ""
        # Changes nothing, and lets nobody else change it until this transaction ends.
        held = update(LATEST).where(own, same).values(rank=LATEST.c.rank)
        if connection.execute(held).rowcount:
            within = connection.execute(select(LATEST.c.alert).where(own)).scalar_one()
            for each in _locked(connection, DELIVERIES.c.alert == within):
                _put(connection, repeated(each))
        else:
            until = alert.at + self._policy.repeat_seconds
            latest = {"alert": alert.id, "until": until, "rank": rank(alert.severity)}
            # One that came a moment ago stays: the insertion fails then, and all is tried again.
            connection.execute(delete(LATEST).where(own, not_(same)))
            connection.execute(insert(LATEST).values(app=alert.app, key=alert.key, **latest))
            for each in deliveries_of(alert, self._policy):
                connection.execute(insert(DELIVERIES).values(_fields(each)))
        value = json.dumps(to_json(alert, Alert), ensure_ascii=False)
        row = {"id": alert.id, "at": alert.at, "within": within, "value": value}
        connection.execute(insert(ALERTS).values(row))


def _settle(connection: Connection, posting: Posting, problem: str, now: float) -> None:
    mine = posting.delivery
    for known in _locked(connection, _row_of(mine)):
        # Whoever took so long that somebody else claimed it has nothing to say any more.
        if (known.state, known.attempts) == ("sending", mine.attempts):
            _put(connection, settled(known, problem, now, told=mine.repeats))
    _tried(connection, mine.channel, problem, now)


def _tried(connection: Connection, channel: str, problem: str, now: float) -> None:
    own = CHANNELS.c.name == channel
    connection.execute(update(CHANNELS).where(own).values(name=channel))
    row = connection.execute(select(CHANNELS).where(own)).mappings().first()
    health = tried(from_json({**row}, ChannelHealth) if row else None, channel, problem, now)
    change = update(CHANNELS).where(own) if row else insert(CHANNELS)
    connection.execute(change.values(_fields(health)))
    if not problem:
        held = (DELIVERIES.c.channel == channel) & (DELIVERIES.c.state == "waiting")
        late = held & (DELIVERIES.c.attempts > 0) & (DELIVERIES.c.next_try > now)
        connection.execute(update(DELIVERIES).where(late).values(next_try=now))


def _row_of(delivery: Delivery) -> ColumnElement[bool]:
    same_alert = DELIVERIES.c.alert == delivery.alert
    return same_alert & (DELIVERIES.c.channel == delivery.channel)


def _locked(connection: Connection, which: ColumnElement[bool]) -> list[Delivery]:
    """Deliveries as they are now; nobody else changes them until this transaction ends."""
    connection.execute(update(DELIVERIES).where(which).values(state=DELIVERIES.c.state))
    rows = connection.execute(select(DELIVERIES).where(which)).mappings()
    return [_delivery(row) for row in rows]


def _put(connection: Connection, delivery: Delivery) -> None:
    change = update(DELIVERIES).where(_row_of(delivery))
    connection.execute(change.values(_fields(delivery)))


def _fields(value: Delivery | ChannelHealth) -> dict[str, object]:
    data = to_json(value, type(value))
    assert isinstance(data, dict)
    return {**data}


def _alert(row: RowMapping) -> Alert:
    return from_json(json.loads(row["value"]), Alert)


def _delivery(row: RowMapping) -> Delivery:
    return from_json({name: row[name] for name in Delivery.__slots__}, Delivery)
