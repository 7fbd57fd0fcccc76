"""What a month will have cost when it is over: from its days so far, with an honest range.

Whole days since the first one on which anything was spent are the evidence, those without any
spending, too. The rest of the month is taken to be like them: its sum has their mean a day, and
eighty in a hundred such months lie in the range, if days do not depend on one another. Of fewer
than three whole days nobody can tell how days differ: then there is no range.
"""

import calendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt
from statistics import fmean, stdev

FEWEST_DAYS = 3
EIGHTY = 1.2816
"""Deviations on both sides of the mean between which eighty in a hundred lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """A figure of this month: so far, when it is over, and between what; None: nobody can tell."""

    month: str
    so_far: float
    days: int
    """The whole days that it follows from."""
    whole: float | None = None
    least: float | None = None
    most: float | None = None


def forecast(by_day: Mapping[str, float], today: str, *, share: float) -> Forecast:
    """The forecast of this month from figures by day; `share` of today is over."""
    now = date.fromisoformat(today)
    begin = now.replace(day=1)
    so_far = sum(value for day, value in by_day.items() if begin.isoformat() <= day <= today)
    known = [date.fromisoformat(day) for day in by_day if begin.isoformat() <= day < today]
    unknown = Forecast(month=today[:7], so_far=so_far, days=0)
    if not known:
        return unknown
    count = (now - min(known)).days
    whole = [
        by_day.get((min(known) + timedelta(days=number)).isoformat(), 0.0)
        for number in range(count)
    ]
    last = calendar.monthrange(now.year, now.month)[1]
    left = last - now.day + 1 - share
    expected = so_far + left * fmean(whole)
    if count < FEWEST_DAYS:
        return Forecast(month=today[:7], so_far=so_far, days=count, whole=expected)
    spread = EIGHTY * stdev(whole) * sqrt(left)
    return Forecast(
        month=today[:7],
        so_far=so_far,
        days=count,
        whole=expected,
        least=max(so_far, expected - spread),
        most=expected + spread,
    )
