"""An alert: what people are told about an app, where, how loudly, and how often it is tried."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Literal, get_args

from twinsmith.core.operating.alarm import Severity

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
DeliveryState = Literal["waiting", "sending", "delivered", "given up"]
FIRST_PAUSE, LONGEST_PAUSE = 60.0, 86_400.0
MOST_ATTEMPTS = 16
"""The last one is begun five days after the first: nobody wants older news."""
MOST_TITLE, MOST_TEXT, MOST_KEY, MOST_PROBLEM = 160, 2000, 200, 300
UNKNOWN_END = "it was begun, and how it ended is not known"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
# Angle brackets, mentions and links mean something to a chat; what we tell is never addressed.
_PLAIN = str.maketrans({"<": "‹", ">": "›", "@": "＠"})  # noqa: RUF001


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something that people are to be told."""

    id: str
    app: str
    """The app that it is about; empty: twinsmith itself."""
    severity: Severity
    title: str
    text: str
    key: str
    """Alerts of an app with the same key are about the same thing."""
    at: float
    """When it was raised, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A way to people, and the least severity that goes there."""

    name: str
    least: Severity = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """Hours of every day, in minutes after midnight by the clock on the wall."""

    begin: int
    end: int

    def covers(self, minute: int) -> bool:
        """Whether a minute of the day is quiet; the last one is not."""
        if self.begin < self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertPolicy:
    """Which channels there are, when they keep quiet, and how long the same is one alert."""

    channels: tuple[Channel, ...] = ()
    quiet: Quiet | None = None
    repeat_seconds: float = 0.0

    def channels_for(self, severity: Severity) -> tuple[str, ...]:
        """The names of the channels that an alert of this severity goes to."""
        return tuple(each.name for each in self.channels if rank(each.least) <= rank(severity))


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One alert on its way to one channel."""

    alert: str
    channel: str
    until: float
    """Until then the same again is counted, and no alert of its own."""
    next_try: float
    state: DeliveryState = "waiting"
    attempts: int = 0
    problem: str = ""
    """Why the last attempt failed."""
    repeats: int = 0
    """How often the same came again."""
    told: int = 0
    """How many of these the channel knows of."""
    at: float = 0.0
    """When the last attempt was begun or ended."""
    delivered: float = 0.0
    """When the channel last took it; 0: never yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """An alert with one of its deliveries."""

    alert: Alert
    delivery: Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRecord:
    """An alert as it is kept: how often it came again, and where it went."""

    alert: Alert
    repeats: int = 0
    deliveries: tuple[Delivery, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelHealth:
    """How a channel did when it was last used."""

    name: str
    at: float
    failing_since: float = 0.0
    """The first failure after the last success; 0: it works."""
    problem: str = ""


def rank(severity: Severity) -> int:
    """The place of a severity, the mildest first."""
    return SEVERITIES.index(severity)


def channel_in(text: str) -> Channel:
    """A channel as settings write it, `name` or `name:severity`; ValueError where it is none."""
    name, colon, said = text.partition(":")
    if not _NAME.fullmatch(name):
        raise ValueError(f"{text!r} is no channel; a name of small letters, or name:severity")
    least = next((each for each in SEVERITIES if each == said), None) if colon else "info"
    if least is None:
        raise ValueError(f"{said!r} in {text!r} is no severity; one of {', '.join(SEVERITIES)}")
    return Channel(name=name, least=least)


def quiet_in(text: str) -> Quiet | None:
    """Quiet hours as settings write them, `22:00-07:00`; ValueError where they are none."""
    if not text:
        return None
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no span of hours; for example 22:00-07:00")
    begin_hour, begin, end_hour, end = map(int, found.groups())
    span = Quiet(begin=begin_hour * 60 + begin, end=end_hour * 60 + end)
    if span.begin == span.end:
        raise ValueError(f"{text!r} begins when it ends; leave it empty for no quiet hours")
    return span


def minute_of_day(now: float, zone: tzinfo | None = None) -> int:
    """The minute after midnight on the wall of a zone; without one, on this machine's."""
    local = datetime.fromtimestamp(now, UTC).astimezone(zone)
    return local.hour * 60 + local.minute


def pause(attempts: int) -> float:
    """Seconds until the next attempt after so many; each is twice the last, up to a day."""
    return min(FIRST_PAUSE * 2.0 ** min(attempts - 1, 20), LONGEST_PAUSE)


def fitted(alert: Alert, mask: Callable[[str], str]) -> Alert:
    """An alert without secrets, of bounded length, whose words no chat takes for its own."""
    return replace(
        alert,
        title=_plain(" ".join(mask(alert.title).split()), MOST_TITLE),
        text=_plain(mask(alert.text), MOST_TEXT),
        key=_plain(mask(alert.key), MOST_KEY),
    )


def deliveries_of(alert: Alert, policy: AlertPolicy) -> tuple[Delivery, ...]:
    """The deliveries that an alert begins with, one for each channel that it goes to."""
    until = alert.at + policy.repeat_seconds
    return tuple(
        Delivery(alert=alert.id, channel=name, until=until, next_try=alert.at)
        for name in policy.channels_for(alert.severity)
    )


def repeated(delivery: Delivery) -> Delivery:
    """A delivery once the same came again: what was told already is told anew, with the count."""
    more = replace(delivery, repeats=delivery.repeats + 1)
    if delivery.state != "delivered":
        return more
    return replace(more, state="waiting", attempts=0, next_try=delivery.until)


def sendable(postings: Iterable[Posting], policy: AlertPolicy, minute: int) -> tuple[Posting, ...]:
    """Of the postings that are due, those that may go out at this minute, the severest first."""
    known = {each.name for each in policy.channels}
    is_quiet = policy.quiet is not None and policy.quiet.covers(minute)
    found = [
        each
        for each in postings
        if each.delivery.channel in known and not (is_quiet and each.alert.severity != "critical")
    ]
    return tuple(sorted(found, key=lambda each: (-rank(each.alert.severity), each.alert.at)))


def claimed(delivery: Delivery, now: float) -> Delivery:
    """A delivery whose next attempt begins; where its process dies, it is due again later."""
    attempts = delivery.attempts + 1
    return replace(
        delivery,
        state="sending",
        attempts=attempts,
        next_try=now + pause(attempts),
        problem=UNKNOWN_END,
        at=now,
    )


def settled(delivery: Delivery, problem: str, now: float, *, told: int) -> Delivery:
    """A delivery after an attempt that told of `told` repeats; an empty problem: it went well."""
    tried = replace(delivery, problem=problem, at=now)
    if problem:
        over = delivery.attempts >= MOST_ATTEMPTS
        return replace(tried, state="given up" if over else "waiting")
    taken = replace(tried, told=told, delivered=now)
    if delivery.repeats > told:
        return replace(taken, state="waiting", attempts=0, next_try=max(delivery.until, now))
    return replace(taken, state="delivered")


def is_due(delivery: Delivery, now: float) -> bool:
    """Whether it is time for the next attempt; also one whose process died is made again."""
    return delivery.state in ("waiting", "sending") and delivery.next_try <= now


def is_held_back(delivery: Delivery) -> bool:
    """Whether a delivery only waits because its channel failed."""
    return delivery.state == "waiting" and delivery.attempts > 0


def message(posting: Posting) -> Alert:
    """An alert as its channel is to read it: with how often the same came again."""
    more = posting.delivery.repeats - posting.delivery.told
    if not more:
        return posting.alert
    again = f"The same came {more} {'times' if more > 1 else 'time'} more."
    title = f"{'again: ' if posting.delivery.delivered else ''}{posting.alert.title}"
    return replace(
        posting.alert, title=title[:MOST_TITLE], text=f"{again}\n{posting.alert.text}"[:MOST_TEXT]
    )


def tried(health: ChannelHealth | None, name: str, problem: str, now: float) -> ChannelHealth:
    """The health of a channel after it was used."""
    since = (health.failing_since if health else 0.0) or now
    return ChannelHealth(
        name=name, at=now, failing_since=since if problem else 0.0, problem=problem
    )


def _plain(text: str, most: int) -> str:
    shown = "".join(c if c.isprintable() or c == "\n" else "�" for c in text.translate(_PLAIN))
    shown = shown.replace("](", "] (").strip()
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
