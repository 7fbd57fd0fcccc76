"""Alerts of one home: raised and journalled, sent when they are due, channels tried."""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.operating.alert import (
    Alert,
    AlertRecord,
    Channel,
    ChannelHealth,
    Posting,
    message,
    minute_of_day,
    sendable,
)
from twinsmith.ports import Courier, Postbox
from twinsmith.runs.book import Book
from twinsmith.settings import ALERT_PREFIX, Settings

ChannelState = Literal["ready", "no address", "failing", "unknown", "stray", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What came of one attempt to reach a channel."""

    channel: str
    alert: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelView:
    """A channel as people see it: whether anything could get there."""

    name: str
    """Empty where there is no channel at all."""
    state: ChannelState
    problem: str = ""
    since: float = 0.0


async def raise_alert(book: Book, alert: Alert) -> bool:
    """Keep an alert and journal it; False where one of its id is kept already."""
    from twinsmith.wiring.alerting import alerts_of

    fresh = alerts_of(book.settings).tell(alert)
    # Told again where a kill came between: the journal keeps one event for each key.
    data: dict[str, Json] = {
        "id": alert.id,
        "app": alert.app,
        "severity": alert.severity,
        "title": alert.title,
        "same": alert.key,
    }
    await book.tell(SYSTEM, "alert.raised", data, key=f"alert.raised:{alert.id}")
    return fresh


def latest(book: Book, most: int) -> tuple[AlertRecord, ...]:
    """The latest alerts with what became of them, newest first."""
    from twinsmith.wiring.alerting import alerts_of

    return alerts_of(book.settings).listed(most)


async def deliver_due(book: Book) -> tuple[Sent, ...]:
    """Send every alert whose time has come, and keep how it went."""
    from twinsmith.wiring.alerting import alerts_of, courier_of

    return await post(book, alerts_of(book.settings), courier_of(book.settings), time.time)


async def post(
    book: Book, postbox: Postbox, courier: Courier, clock: Callable[[], float]
) -> tuple[Sent, ...]:
    """Send what is due now, all channels at once, to each what is most severe first."""
    from twinsmith.wiring.alerting import alert_policy_of

    now = clock()
    due = sendable(postbox.due(now), alert_policy_of(book.settings), minute_of_day(now))
    names = dict.fromkeys(each.delivery.channel for each in due)
    desk = _PostOffice(book=book, postbox=postbox, courier=courier, clock=clock)
    ways = (desk.posted([p for p in due if p.delivery.channel == name]) for name in names)
    return tuple(sent for each in await asyncio.gather(*ways) for sent in each)


async def try_channels(book: Book, name: str = "") -> tuple[Sent, ...]:
    """Send a test message to a channel, or to all of them, and say what came of each."""
    from twinsmith.wiring.alerting import alerts_of, courier_of

    table, courier = alerts_of(book.settings), courier_of(book.settings)
    results = []
    for channel in _chosen(book.settings, name):
        alert = _test_message(channel)
        problem = await courier.send(channel.name, alert)
        table.tried(channel.name, problem, time.time())
        results.append(Sent(channel=channel.name, alert=alert.id, problem=problem))
        data: dict[str, Json] = {"channel": channel.name, "problem": problem}
        await book.tell(SYSTEM, "alert.tested", data)
    return tuple(results)


def channel_views(settings: Settings) -> tuple[ChannelView, ...]:
    """Every channel of the settings, and every address that belongs to none of them."""
    from twinsmith.wiring.alerting import alert_policy_of, alerts_of, courier_of

    channels = [each.name for each in alert_policy_of(settings).channels]
    strays = sorted(name for name in settings.alert_addresses if name not in channels)
    stray = tuple(ChannelView(name=name, state="stray") for name in strays)
    if not channels:
        return (ChannelView(name="", state="none"), *stray)
    courier = courier_of(settings)
    try:
        health = {each.name: each for each in alerts_of(settings).channels()}
    except EngineError as error:
        unknown = tuple(ChannelView(name=n, state="unknown", problem=str(error)) for n in channels)
        return (*unknown, *stray)
    views = (_view(name, courier.lacks(name), health.get(name)) for name in channels)
    return (*views, *stray)


def in_words(view: ChannelView) -> str:
    """The state of a channel in one line."""
    match view.state:
        case "ready":
            return "ready"
        case "no address":
            return f"{view.problem}: nothing is sent there"
        case "failing":
            return f"last delivery failed, and every one since {when(view.since)}: {view.problem}"
        case "unknown":
            return f"how it did is not known: {view.problem}"
        case "none":
            return "no alert channel: alerts are kept, see twinsmith alerts"
        case "stray":
            variable = f"{ALERT_PREFIX}{view.name.upper()}"
            return f"{variable} is set, and alerts.channels names no such channel"


def when(moment: float) -> str:
    """A moment by the clock of this machine."""
    return datetime.fromtimestamp(moment, UTC).astimezone().isoformat(" ", "minutes")[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PostOffice:
    """What sending takes."""

    book: Book
    postbox: Postbox
    courier: Courier
    clock: Callable[[], float]

    async def posted(self, postings: Sequence[Posting]) -> list[Sent]:
        """Send to one channel until it fails: the rest would only wait for the same failure."""
        results: list[Sent] = []
        for posting in postings:
            mine = self.postbox.claim(posting, self.clock())
            if mine is not None:
                results.append(await self._sent(mine))
                if results[-1].problem:
                    break
        return results

    async def _sent(self, posting: Posting) -> Sent:
        delivery = posting.delivery
        problem = await self.courier.send(delivery.channel, message(posting))
        self.postbox.settle(posting, problem, self.clock())
        data: dict[str, Json] = {
            "id": delivery.alert,
            "channel": delivery.channel,
            "attempt": delivery.attempts,
            "problem": problem,
        }
        await self.book.tell(SYSTEM, "alert.failed" if problem else "alert.delivered", data)
        return Sent(channel=delivery.channel, alert=delivery.alert, problem=problem)


def _chosen(settings: Settings, name: str) -> tuple[Channel, ...]:
    from twinsmith.wiring.alerting import alert_policy_of

    known = alert_policy_of(settings).channels
    if not known:
        raise ConfigError(
            "no alert channel is configured; name one in alerts.channels, or set "
            "TWINSMITH_ALERTS_CHANNELS=team and TWINSMITH_ALERT_TEAM to its address"
        )
    chosen = tuple(each for each in known if name in ("", each.name))
    if not chosen:
        names = ", ".join(each.name for each in known)
        raise ConfigError(f"alert channel {name!r} is not configured; there are: {names}")
    return chosen


def _test_message(channel: Channel) -> Alert:
    return Alert(
        id=f"test-{secrets.token_hex(4)}",
        app="",
        severity=channel.least,
        title="twinsmith test message",
        text=f"Alerts of severity {channel.least} and above reach you here.",
        key="test",
        at=time.time(),
    )


def _view(name: str, lacks: str, health: ChannelHealth | None) -> ChannelView:
    if lacks:
        return ChannelView(name=name, state="no address", problem=lacks)
    if health is not None and health.failing_since:
        since = health.failing_since
        return ChannelView(name=name, state="failing", problem=health.problem, since=since)
    return ChannelView(name=name, state="ready")
