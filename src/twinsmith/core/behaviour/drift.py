"""Drift: a figure whose level changed on a day, by more than calls and days differ by themselves.

Two things make the level of a day uncertain: calls differ from one another, which counts the less
the more calls a day has; and days differ from one another, however many calls they have. How much
days do is read off neighbouring days, so that a lasting change does not hide itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from math import isclose, log, sqrt
from statistics import NormalDist

from twinsmith.core.behaviour.cause import Cause

FEWEST_CALLS = 30
"""So many calls have to stand on either side of a change."""
FEWEST_DAYS = 6
LEAST_FACTOR = 1.1
"""A smaller change of a figure is none that anybody has to hear of, however certain it is."""
LEAST_SHARE = 0.02
LONG = 20
"""From so many days on it can be told whether days hang together."""
MOST_PASSED = 0.8
LEAST_VARIANCE = 1e-9
"""A smaller one is what sums leave of none."""
ODD = 0.5
"""The neighbours of an odd day differ by at most so much of what a drift would have to."""
FALSE_ALARMS = 0.01
"""How often an analysis may tell of a change where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure that is followed from day to day."""

    name: str
    unit: str
    share: bool = False
    """Whether it is the share of calls of which something is so; else it grows by factors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The calls of one day: of a share how many have it; of all else sums of logarithms."""

    day: str
    calls: int
    total: float
    squares: float
    plain: float
    """The sum of the figure itself."""

    @property
    def level(self) -> float:
        """The mean of a day."""
        return self.total / self.calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A figure of one group of calls over days, none of them empty."""

    figure: Figure
    key: tuple[str, ...]
    days: tuple[Day, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A figure on one day, as people see it."""

    day: str
    calls: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A change of level: when, from what to what, why, and which runs show it."""

    figure: str
    unit: str
    share: bool
    key: tuple[str, ...]
    day: str
    """The first day on the new level."""
    until: str
    """The last day of it."""
    before: float
    after: float
    calls_before: int
    calls_after: int
    causes: tuple[Cause, ...]
    """The likely ones, the likeliest first; none: nothing changed that the journal knows of."""
    runs: tuple[str, ...]
    course: tuple[Point, ...]

    @property
    def factor(self) -> float | None:
        """The new level by the old one; None where the old one was 0."""
        return self.after / self.before if self.before else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How much the levels of days differ where nothing changes."""

    within: float
    """The variance of single calls."""
    between: float
    """The variance of days beyond that; of shares a factor of at least 1."""
    freedom: float
    """The independent pieces of evidence for `between`."""


def noise_of(course: Course) -> Noise:
    """The noise of a course, of neighbouring days: a change of level is in one pair of them only.

    The pairs that differ most are left out: changes are in there.
    """
    days = course.days
    calls = sum(each.calls for each in days)
    if course.figure.share:
        mean = (sum(each.total for each in days) + 0.5) / (calls + 1)
        within = mean * (1 - mean)
    else:
        spread = sum(max(0.0, each.squares - each.total**2 / each.calls) for each in days)
        within = spread / max(calls - len(days), 1)
    pairs = list(pairwise(days))
    squares = [(a.level - b.level) ** 2 / 2 for a, b in pairs]
    chance = [within * (1 / a.calls + 1 / b.calls) / 2 for a, b in pairs]
    if course.figure.share:
        factors = [s / max(c, 1e-12) for s, c in zip(squares, chance, strict=True)]
        between = max(1.0, _trimmed(factors))
    else:
        between = max(0.0, _trimmed(squares) - sum(chance) / max(len(chance), 1))
    return Noise(within=within, between=between, freedom=0.6 * len(pairs))


STILL = Noise(within=0.0, between=0.0, freedom=0.0)
"""That of a scripted model, which always takes the same."""


def alike(one: Day, other: Day) -> bool:
    """Whether two days have the same level but for the last digits of a sum."""
    return isclose(one.level, other.level, rel_tol=1e-9, abs_tol=1e-9)


def is_still(course: Course) -> bool:
    """Whether the calls of a day are all alike, and at least half of the days as the one before."""
    days = course.days
    if course.figure.share or noise_of(course).within > LEAST_VARIANCE:
        return False
    return 2 * sum(alike(a, b) for a, b in pairwise(days)) >= len(days) - 1


def noise_about(course: Course, ends: Sequence[int], noise: Noise) -> Noise:
    """The noise of a course whose levels end there: every day tells of it, and not pairs alone."""
    levels = leveled(course, ends)
    freedom = len(course.days) - len(ends)
    squares = [(day.level - level) ** 2 for day, level in zip(course.days, levels, strict=True)]
    chance = [noise.within / each.calls for each in course.days]
    if course.figure.share:
        factors = (s / max(c, 1e-12) for s, c in zip(squares, chance, strict=True))
        between = max(1.0, sum(factors) / freedom)
    else:
        between = max(0.0, sum(squares) / freedom - sum(chance) / len(chance))
    return replace(noise, between=between, freedom=freedom)


def leveled(course: Course, ends: Sequence[int]) -> list[float]:
    """For each day the level it is on, where the levels end there."""
    found: list[float] = []
    for first, end in pairwise([0, *ends]):
        days = course.days[first:end]
        level = sum(each.total for each in days) / sum(each.calls for each in days)
        found += [level] * len(days)
    return found


def passed_on(residuals: Sequence[float]) -> float:
    """The part of itself that a day passes on to the next one; 0 where that may well be chance.

    Days that hang together drift about by themselves: a stretch of them tells less than as many
    days that do not.
    """
    whole = sum(each * each for each in residuals)
    if len(residuals) < LONG or whole <= 0:
        return 0.0
    part = sum(a * b for a, b in pairwise(residuals)) / whole
    return min(part, MOST_PASSED) if part > 2 / sqrt(len(residuals)) else 0.0


def hanging(noise: Noise, part: float) -> Noise:
    """The noise of days of which each passes on a part of itself."""
    # A mean of such days differs more than one of days on their own: by (1 + part) / (1 - part).
    # And levels that were fitted to them took some of their drifting about with them.
    return replace(noise, between=noise.between * (1 + part) / (1 - part) ** 2)


def without_odd(course: Course, noise: Noise, least: float) -> tuple[int, ...]:
    """The numbers of the days that are not odd.

    An odd day stands off from both its neighbours to the same side, by more than `least`
    deviations, while these agree. It is no level: what it says would be told as one of two days.
    """
    days = course.days
    kept = list(range(len(days)))
    for number in range(1, len(days) - 1):
        before, day, after = days[number - 1 : number + 2]
        up, down = (_apart(day, each, noise, course.figure) for each in (before, after))
        level = abs(_apart(before, after, noise, course.figure))
        if up * down > 0 and min(abs(up), abs(down)) > least and level < ODD * least:
            kept.remove(number)
    return tuple(kept)


def _apart(one: Day, other: Day, noise: Noise, figure: Figure) -> float:
    """How many deviations two days are apart."""
    if figure.share:
        together = (one.total + other.total + 0.5) / (one.calls + other.calls + 1)
        within = together * (1 - together) * noise.between
        variance = within / one.calls + within / other.calls
    else:
        variance = noise.within * (1 / one.calls + 1 / other.calls) + 2 * noise.between
    return (one.level - other.level) / sqrt(max(variance, 1e-12))


def enough(course: Course) -> bool:
    """Whether a course is long enough to tell anything."""
    calls = sum(each.calls for each in course.days)
    return len(course.days) >= FEWEST_DAYS and calls >= 2 * FEWEST_CALLS


def matters(course: Course, before: Sequence[Day], after: Sequence[Day]) -> bool:
    """Whether the difference of two stretches of days is large, and rests on enough calls."""
    calls = [sum(each.calls for each in side) for side in (before, after)]
    if min(calls) < FEWEST_CALLS:
        return False
    one, other = (
        sum(each.total for each in side) / count
        for side, count in zip((before, after), calls, strict=True)
    )
    least = LEAST_SHARE if course.figure.share else log(LEAST_FACTOR)
    return abs(other - one) >= least


def plain(days: Sequence[Day]) -> float:
    """The figure itself over some days."""
    return sum(each.plain for each in days) / max(sum(each.calls for each in days), 1)


def points(course: Course) -> tuple[Point, ...]:
    """A course as people see it."""
    return tuple(
        Point(day=each.day, calls=each.calls, value=each.plain / each.calls) for each in course.days
    )


def day_number(day: str) -> int:
    """The number of a day; one that is none stands before all."""
    try:
        return date.fromisoformat(day).toordinal()
    except ValueError:
        return 0


def in_words(drift: Drift) -> str:
    """A change in one sentence, without what it is about."""
    if drift.share:
        return f"{drift.before:.1%} to {drift.after:.1%}"
    factor = drift.factor
    times = f" (\N{MULTIPLICATION SIGN} {factor:.2f})" if factor is not None else ""
    return f"{drift.before:.4g} to {drift.after:.4g} {drift.unit}".rstrip() + times


def _trimmed(values: Sequence[float]) -> float:
    """The mean of squares without the greatest tenth, made up for what normal values lose by it."""
    if not values:
        return 0.0
    kept = sorted(values)[: max(1, len(values) - max(1, round(len(values) / 10)))]
    share = min(len(kept) / len(values), 0.99)
    normal = NormalDist()
    edge = normal.inv_cdf((1 + share) / 2)
    return sum(kept) / len(kept) * share / (share - 2 * edge * normal.pdf(edge))
