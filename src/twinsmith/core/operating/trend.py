"""A trend in a series that has a limit: whether it grows steadily, how fast, how long is left.

The slope is Theil and Sen's (the median of the slopes of all pairs), the test is Mann and
Kendall's (how many pairs rise): a few wild values change neither. Of a longer series only the
lowest value of each of twenty parts counts, for what a garbage collector takes back is no growth.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from twinsmith.core.operating.window import middle

PARTS = 20
SURE = 2.6
"""Standard deviations by which more pairs rise than chance explains; six of six readings do."""
MOSTLY = 0.6
"""Kendall's tau: rising pairs less falling ones, as a share of all."""
EASES = 0.75
"""A growth that gains less than this share of what it gained before comes to its end."""
ONE_STEP = 0.7
"""Growth of which one step makes up this share is a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """When a growth is believed to go on until the limit."""

    readings: int
    """It shows in at least so many."""
    rise: float
    """It is at least so much."""
    steady: float
    """Its later half is at least this share as fast as the whole."""
    reach: float
    """Seen for one second, it is believed to last so many more."""
    soon: float
    """Seconds to the limit up to which `reach_soon` holds in the place of `reach`."""
    reach_soon: float
    seen: float
    """Seconds after which it is believed in any case."""
    horizon: float
    """Seconds to the limit beyond which nobody cares."""
    severe: float
    """Seconds to the limit within which it is urgent."""

    def needed(self, left: float) -> float:
        """For how many seconds it has to be seen, where so many are left."""
        reach = self.reach_soon if left <= self.soon else self.reach
        return min(self.seen, left / reach)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A growth that will reach a limit."""

    rate: float
    """By how much it grows in a second."""
    left: float
    """Seconds until the limit is reached."""
    first: int
    """The index of the value with which the growth was seen to begin."""
    tau: float
    """How steadily it rises: 1 where every later value is higher."""


def trend(
    seconds: Sequence[float], values: Sequence[float], limit: float, believed: Believed
) -> Trend | None:
    """The growth at the end of a series, by the shortest stretch that shows it; None: none does.

    Only what is higher than all before is growth: a tooth of a saw is as high as the last one.
    """
    count = len(values)
    for size in _sizes(believed.readings, count):
        first = count - size
        seen = seconds[-1] - seconds[first]
        rise = min(values[-2:]) - min(values[first : first + 2])
        if rise < believed.rise or seen <= 0:
            continue
        left = max(0.0, limit - values[-1]) * seen / rise
        # The slope may turn out somewhat steeper than the ends of the stretch tell.
        if believed.needed(left / 2) > seen or left / 2 > believed.horizon:
            continue
        if first and max(values[:first]) > values[-1] - rise / 2:
            continue
        found = _steady(seconds[first:], values[first:], believed)
        if found is None:
            continue
        rate, tau = found
        left = max(0.0, limit - values[-1]) / rate
        if left > believed.horizon or believed.needed(left) > seen:
            continue
        # What has time is looked at from farther away: the tail of a warm-up looks straight.
        if left > believed.soon and _flattens(*_few(seconds[-2 * size :], values[-2 * size :])):
            continue
        return Trend(rate=rate, left=left, first=first, tau=tau)
    return None


def rising(seconds: Sequence[float], values: Sequence[float]) -> float:
    """Kendall's tau of a short series: 1 where every later value is higher, about 0 by chance."""
    return _pairs(seconds, values)[1]


def _sizes(fewest: int, most: int) -> Iterator[int]:
    """Lengths of stretches, each about a third longer than the one before."""
    size = fewest
    while size < most:
        yield size
        size += max(1, size // 3)
    if most >= fewest:
        yield most


def _steady(
    seconds: Sequence[float], values: Sequence[float], believed: Believed
) -> tuple[float, float] | None:
    """The slope and tau of a series that rises all the time, without a step or a flattening."""
    seconds, values = _few(seconds, values)
    slopes, tau, sure = _pairs(seconds, values)
    if tau < MOSTLY or sure < SURE:
        return None
    whole = middle(slopes)
    half = len(values) // 2
    late = middle(_pairs(seconds[half:], values[half:])[0])
    rise = values[-1] - values[0]
    step = max(after - before for before, after in pairwise(values))
    if rise < believed.rise or step > ONE_STEP * rise or late < believed.steady * whole:
        return None
    if _flattens(seconds, values):
        return None
    return min(whole, late), tau


def _flattens(seconds: Sequence[float], values: Sequence[float]) -> bool:
    """Whether it is slower from the middle third to the last than from the first to it."""
    third, count = len(values) // 3, len(values)
    begins = (0, (count - third) // 2, count - third)
    low, mid, high = (middle(values[begin : begin + third]) for begin in begins)
    first, second, last = (middle(seconds[begin : begin + third]) for begin in begins)
    return (high - mid) * (second - first) < EASES * (mid - low) * (last - second)


def _few(
    seconds: Sequence[float], values: Sequence[float]
) -> tuple[Sequence[float], Sequence[float]]:
    """A short series as it is; of a longer one the lowest value of each part of the time.

    The time of a part is its middle; parts without a value are left out.
    """
    if len(values) <= PARTS:
        return seconds, values
    width = (seconds[-1] - seconds[0]) / PARTS
    edges = [bisect_left(seconds, seconds[0] + width * part) for part in range(PARTS)]
    edges.append(len(values))
    times, lowest = [], []
    for part, (begin, end) in enumerate(pairwise(edges)):
        if begin < end:
            times.append(seconds[0] + width * (part + 0.5))
            lowest.append(min(values[begin:end]))
    return times, lowest


def _pairs(seconds: Sequence[float], values: Sequence[float]) -> tuple[list[float], float, float]:
    """The slopes of all pairs, Kendall's tau, and its distance from chance in deviations."""
    points = list(zip(seconds, values, strict=True))
    slopes = [
        (value - earlier) / (second - before)
        for (before, earlier), (second, value) in combinations(points, 2)
        if second > before
    ]
    rising = sum((slope > 0) - (slope < 0) for slope in slopes)
    count = len(points)
    if count < 2:
        return slopes, 0.0, 0.0
    deviation = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return slopes, rising / (count * (count - 1) / 2), (rising - 1) / deviation
