"""Hours of maintenance that come back every day or week, in which alarms are expected."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from twinsmith.core.operating.damping import Maintenance

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME = r"([01]\d|2[0-3]):([0-5]\d)"
_WINDOW = re.compile(
    rf"(?:(?P<app>[a-z][a-z0-9-]{{0,29}}) )??(?:(?P<day>{'|'.join(DAYS)}) )?{_TIME}-{_TIME}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowHours:
    """Hours of one day of the week, or of every day, by the clock on the wall."""

    begin: int
    """Minutes after midnight."""
    minutes: int
    """How long it lasts; it may go on after midnight."""
    day: int | None = None
    """From Monday, 0; None: every day."""
    app: str = ""
    """The app that it is for; empty: all of them."""


def window_in(text: str) -> WindowHours:
    """The hours that a setting means; ValueError says how one is written."""
    found = _WINDOW.fullmatch(" ".join(text.split()))
    if found is None:
        raise ValueError(
            f"{text!r} is no window; such as '02:00-04:00', 'sun 02:00-04:00' or "
            "'shop sat 22:00-02:00'"
        )
    begin, end = (60 * int(found[at]) + int(found[at + 1]) for at in (3, 5))
    day = found["day"]
    return WindowHours(
        begin=begin,
        minutes=(end - begin) % (24 * 60) or 24 * 60,
        day=DAYS.index(day) if day else None,
        app=found["app"] or "",
    )


def maintenance(
    windows: Iterable[WindowHours], now: float, zone: tzinfo | None = None
) -> tuple[Maintenance, ...]:
    """The spans of maintenance around a moment, by the clock of this machine or of a zone."""
    here = datetime.fromtimestamp(now, UTC).astimezone(zone)
    found = []
    for each in windows:
        # One that began the day before may go on after midnight.
        for ago in (0, 1):
            midnight = (here - timedelta(days=ago)).replace(
                hour=0, minute=0, second=0, microsecond=0
            )
            if each.day is not None and midnight.weekday() != each.day:
                continue
            begin = (midnight + timedelta(minutes=each.begin)).timestamp()
            end = begin + 60.0 * each.minutes
            found.append(Maintenance(since=begin, until=end, app=each.app))
    return tuple(found)
