"""Courses over days in, drifts out: where the level changed, and why.

Ruptures finds the days (PELT, the best segmentation there is, in nearly linear time) by a cost that
weighs each day by what it tells: many calls much, few calls little. A further segment has to gain
more than the penalty, which is so high that all courses of an analysis would tell of a change
where there is none once in a hundred analyses, were days independent and normal. Where they are
not it is more often: `bench/drifts.py` counts how often.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from twinsmith.analysis.facts import Facts
from twinsmith.analysis.series import Followed, Window, courses, showing, strata, turned
from twinsmith.core.behaviour.cause import causes_of
from twinsmith.core.behaviour.drift import (
    FALSE_ALARMS,
    STILL,
    Course,
    Day,
    Drift,
    Noise,
    alike,
    hanging,
    is_still,
    leveled,
    matters,
    noise_about,
    noise_of,
    passed_on,
    plain,
    points,
    without_odd,
)
from twinsmith.core.behaviour.figures import View

if TYPE_CHECKING:
    import numpy as np

SHORTEST = 2
"""Days that a level lasts at least: one odd day is no drift."""
FEW = 3
GAP = 2
"""Chance may put a change off by so many days: they are left out where causes are looked for."""
NEARLY_AS_WELL = 8.0
"""What a day may fit worse, in squared deviations, and still be the one."""
PERHAPS = 0.5
"""From this part of what a change has to gain on it may be one: noise is measured beside it."""
CAUSE_DAYS = 28
"""So many days on either side are searched for a cause."""
SURELY_NOISY = 1.5
"""From this factor on the shares of days are held to differ by more than their calls do."""


class Change(NamedTuple):
    """A change of level: the days from the start up to it, and from it up to the end."""

    start: int
    at: int
    end: int

    def sides(self, course: Course) -> tuple[Sequence[Day], Sequence[Day]]:
        """The days on the old level, and those on the new one."""
        return course.days[self.start : self.at], course.days[self.at : self.end]


def drifts_of(facts: Facts, view: View, since: str) -> tuple[tuple[Drift, ...], int]:
    """Every change of level in a view, the latest first; and how many courses were looked at."""
    known = courses(facts, view, since)
    found = [
        _drift(facts, view, followed, course, change)
        for followed, course in known
        for change in changes(course, len(known))
    ]
    found.sort(key=lambda each: (each.day, each.figure, each.key), reverse=True)
    return tuple(found), len(known)


def changes(course: Course, together: int) -> list[Change]:
    """Every change of level of a course, where that many are looked at."""
    if is_still(course):
        return _exact(course)
    noise = noise_of(course)
    kept = without_odd(course, noise, sqrt(penalty(course, noise, together)))
    usual = replace(course, days=tuple(course.days[each] for each in kept))
    ends = _ends(usual, noise, PERHAPS * penalty(usual, noise, together), most=FEW)
    noise = noise_about(usual, ends, noise)
    part = passed_on(_residuals(usual, noise, ends))
    noise = hanging(noise, part) if part else noise
    found = _ends(usual, noise, penalty(usual, noise, together))[:-1]
    return _that_matter(course, [*(kept[each] for each in found), len(course.days)])


def _that_matter(course: Course, ends: Sequence[int]) -> list[Change]:
    edges = [0, *ends]
    found = [Change(*each) for each in zip(edges, edges[1:], edges[2:], strict=False)]
    return [each for each in found if matters(course, *each.sides(course))]


def _ends(course: Course, noise: Noise, gain: float, most: int = 0) -> list[int]:
    """Where each level ends, if each has to gain so much; with `most` no more than so many."""
    import ruptures

    cost = _cost(course, noise)
    if cost.error(0, len(course.days)) < gain:
        return [len(course.days)]
    search = ruptures.Pelt(custom_cost=cost, min_size=SHORTEST, jump=1).fit(cost.signal)
    ends = list(map(int, search.predict(pen=gain)))
    while most and len(ends) > most:
        gain *= 2
        ends = list(map(int, search.predict(pen=gain)))
    return ends


def _residuals(course: Course, noise: Noise, ends: Sequence[int]) -> list[float]:
    """What is left of each day without its level, in deviations."""
    found: list[float] = []
    for day, level in zip(course.days, leveled(course, ends), strict=True):
        chance = noise.within / day.calls
        spread = chance * noise.between if course.figure.share else chance + noise.between
        found.append((day.level - level) / max(spread, 1e-12) ** 0.5)
    return found


def penalty(course: Course, noise: Noise, together: int) -> float:
    """What a further segment has to gain: the square of a deviation that chance seldom reaches.

    Any day of any course may be the one, so the chance is divided among all of them. Where days
    differ by themselves, how much is only known from these few days: then by Student's t.
    """
    from scipy import stats

    chance = FALSE_ALARMS / (max(together, 1) * len(course.days)) / 2
    noisy = noise.between > SURELY_NOISY if course.figure.share else noise.between > 0
    edge = stats.t.isf(chance, noise.freedom) if noisy else stats.norm.isf(chance)
    return float(edge) ** 2


def _exact(course: Course) -> list[Change]:
    """The changes of a course in which nothing varies by itself, such as a scripted model's."""
    days, kept = course.days, without_odd(course, STILL, 1.0)
    edges = [b for a, b in pairwise(kept) if not alike(days[a], days[b])]
    return _that_matter(course, [*edges, len(days)])


def _drift(facts: Facts, view: View, followed: Followed, course: Course, change: Change) -> Drift:
    """A change with its cause; where that came a day or two aside, and the figure may have, too,
    it is told for that day.
    """
    days = course.days
    gap = GAP if min(change.at - change.start, change.end - change.at) > 2 * GAP else 0
    window = Window(
        first=days[max(change.start, change.at - CAUSE_DAYS)].day,
        before=days[change.at - 1 - gap].day,
        after=days[change.at + gap].day,
        last=days[min(change.end, change.at + CAUSE_DAYS) - 1].day,
    )
    causes = causes_of(strata(facts, view, followed, course, window))
    if causes:
        came = turned(facts, view, followed, course, (causes[0], window))
        change = _moved(course, change, came)
    before, after = change.sides(course)
    calls = (sum(each.calls for each in before), sum(each.calls for each in after))
    levels = (
        sum(each.total for each in before) / calls[0],
        sum(each.total for each in after) / calls[1],
    )
    return Drift(
        figure=course.figure.name,
        unit=course.figure.unit,
        share=course.figure.share,
        key=course.key,
        day=after[0].day,
        until=after[-1].day,
        before=plain(before),
        after=plain(after),
        calls_before=calls[0],
        calls_after=calls[1],
        causes=causes,
        runs=showing(facts, view, followed, course, levels, (after[0].day, after[-1].day)),
        course=points(course),
    )


def _moved(course: Course, change: Change, day: str) -> Change:
    """The change on the day on which its cause came, where that fits the figure nearly as well."""
    at = next((n for n, each in enumerate(course.days) if each.day == day), change.at)
    if abs(at - change.at) > GAP or not change.start < at < change.end:
        return change
    if is_still(course):
        return change
    noise = noise_of(course)
    cost = _cost(course, noise)
    here, there = (
        cost.error(change.start, each) + cost.error(each, change.end) for each in (change.at, at)
    )
    return change._replace(at=at) if there - here <= NEARLY_AS_WELL else change


def _cost(course: Course, noise: Noise) -> Any:  # noqa: ANN401, of a class that ruptures wants
    """How badly one level fits some days: in squared deviations, so that chance makes about one."""
    import numpy as np
    from ruptures.base import BaseCost

    calls = np.array([each.calls for each in course.days], dtype=float)
    totals = np.array([each.total for each in course.days], dtype=float)

    class Levels(BaseCost):  # type: ignore[misc]
        """Of figures: weighed squares. Of shares: the deviance, exact for few calls, too."""

        model = "levels"
        min_size = SHORTEST

        def __init__(self) -> None:
            self.signal = np.zeros((len(calls), 1))
            weights = 1 / (noise.within / calls + noise.between)
            means = totals / calls
            self._sums = _summed(weights, weights * means, weights * means * means)
            self._counts = _summed(calls, totals)

        def fit(self, _signal: "np.ndarray") -> "Levels":
            return self

        def error(self, start: int, end: int) -> float:
            if course.figure.share:
                count, have = (self._counts[end] - self._counts[start]).tolist()
                return _deviance(count, have) / noise.between
            weight, mean, square = (self._sums[end] - self._sums[start]).tolist()
            return float(square - mean * mean / weight)

    return Levels()


def _summed(*columns: "np.ndarray") -> "np.ndarray":
    """Sums from the first day up to each."""
    import numpy as np

    sums = np.cumsum(np.stack(columns, axis=1), axis=0)
    return np.vstack([np.zeros((1, len(columns))), sums])


def _deviance(count: float, have: float) -> float:
    """Twice the surprise of that many calls with something among so many, at their own share."""
    share = have / count
    if share <= 0 or share >= 1:
        return 0.0
    return -2 * (have * log(share) + (count - have) * log(1 - share))
