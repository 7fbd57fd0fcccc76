"""Many readings in, fewer out: what was worst in a minute or an hour stays to be seen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import floor
from typing import TypeVar

from twinsmith.core.operating.instance import InstanceState
from twinsmith.core.operating.log_lines import MOST_FRESH
from twinsmith.core.operating.reading import Reading, Said, Traffic, Usage

N = TypeVar("N", int, float)
MINUTE, HOUR, DAY = 60, 3600, 86400
_WORST: tuple[InstanceState, ...] = ("running", "restarting", "exited", "absent")
"""States, the worst last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How long readings are kept, in seconds: all, one a minute after that, one an hour, none."""

    all_of_them: float = 15 * MINUTE
    each_minute: float = 2 * DAY
    each_hour: float = 30 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinning:
    """Readings of a step that are to be those of a larger one; a step is seconds, 0 for all."""

    before: int
    after: int
    until: float
    """Readings from this moment on stay; it is the end of a whole minute or hour."""


def thinnings(keeping: Keeping, now: float) -> tuple[Thinning, ...]:
    """What has to be thinned by now, in this order."""
    return (
        Thinning(before=0, after=MINUTE, until=_begun(now - keeping.all_of_them, MINUTE)),
        Thinning(before=MINUTE, after=HOUR, until=_begun(now - keeping.each_minute, HOUR)),
    )


def thinned(readings: Iterable[Reading], step: int) -> tuple[Reading, ...]:
    """One reading for each release of an app and each `step` seconds."""

    def bucket(reading: Reading) -> tuple[str, int, float]:
        return reading.app, reading.release, _begun(reading.at, step)

    ordered = sorted(readings, key=lambda each: (*bucket(each), each.at))
    return tuple(merged(list(some)) for _, some in groupby(ordered, key=bucket))


def merged(readings: Sequence[Reading]) -> Reading:
    """One reading for several of one release, oldest first.

    The moment and what only ever grows are those of the last: so paces stay right. State and
    answers are the worst, memory and the like the most, and what was counted between two readings
    is added up. The median of all requests is not known any more; the mean of medians stands in.
    """
    last = readings[-1]
    asked = [each for each in readings if each.status is not None]
    return replace(
        last,
        usage=_usage([each.usage for each in readings]),
        status=min((each.status for each in asked), key=_goodness, default=None),
        probe_seconds=_most(each.probe_seconds for each in asked),
        traffic=_traffic([each.traffic for each in readings]),
        said=_said([each.said for each in readings]),
    )


def _usage(usages: Sequence[Usage]) -> Usage:
    last = usages[-1]
    worst = max(usages, key=lambda each: _WORST.index(each.state))
    return replace(
        last,
        state=worst.state,
        reason=worst.reason or last.reason,
        memory=_most(each.memory for each in usages),
        descriptors=_most(each.descriptors for each in usages),
        processes=_most(each.processes for each in usages),
        disk=_most(each.disk for each in usages),
    )


def _traffic(parts: Sequence[Traffic]) -> Traffic:
    requests = sum(each.requests for each in parts)
    known = [(each.median, each.requests) for each in parts if each.median is not None]
    waited = sum(median * count for median, count in known)
    return Traffic(
        requests=requests,
        failed=sum(each.failed for each in parts),
        median=waited / sum(count for _, count in known) if known else None,
        slowest=_most(each.slowest for each in parts),
    )


def _said(parts: Sequence[Said]) -> Said:
    fresh = dict.fromkeys(message for each in parts for message in each.fresh)
    return Said(errors=sum(each.errors for each in parts), fresh=tuple(fresh)[:MOST_FRESH])


def _goodness(status: int | None) -> tuple[bool, int]:
    """What is better of two answers is larger; the worst is none at all."""
    return bool(status), -(status or 0)


def _most(values: Iterable[N | None]) -> N | None:
    """The largest of the values that are known."""
    return max((each for each in values if each is not None), default=None)


def _begun(at: float, step: int) -> float:
    """When the minute or hour of a moment began."""
    return floor(at / step) * step
