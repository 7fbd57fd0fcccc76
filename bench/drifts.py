"""Drifts that are told where there are none, and those that are found where there is one.

    .venv/bin/python -m bench.drifts [COURSES]

Courses over days are drawn by seed: calls a day from few to many, fewer on weekends; figures that
grow by factors (lognormal calls, days that differ by themselves, heavy tails, days that hang
together) and shares (rare to frequent). Stationary ones ask for false alarms, among fifty courses
that are looked at together. Planted ones have one change of known size on a known day.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from twinsmith.analysis.changes import changes
from twinsmith.core.behaviour.drift import Course, Day, Figure, enough

TOGETHER = 50
FACTOR = Figure(name="seconds per call", unit="s")
SHARE = Figure(name="answers that cannot be used", unit="", share=True)
CALLS = (3, 10, 50, 300)
DAYS = (14, 30, 90)
Rng = np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How calls and days differ."""

    name: str
    within: float = 0.6
    between: float = 0.0
    hangs: float = 0.0
    """How much a day is like the one before it, from 0 to 1."""
    tails: bool = False


WORLDS = (
    World(name="calls differ, days do not"),
    World(name="days differ a little", between=0.1),
    World(name="days differ much", between=0.3),
    World(name="heavy tails, days differ a little", between=0.1, tails=True),
    World(name="days hang together (0.5)", between=0.2, hangs=0.5),
)


def main() -> None:
    """Print both tables."""
    courses = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = np.random.default_rng(21)
    print(f"false alarms among {courses} stationary courses, {TOGETHER} looked at together")
    print(f"{'':<36}{'calls a day':>12}" + "".join(f"{f'{days} days':>10}" for days in DAYS))
    for world in WORLDS:
        for calls in CALLS:
            told = [
                _alarms(courses, lambda w=world, c=calls, d=days: factor(w, c, d, rng))  # type: ignore[misc]
                for days in DAYS
            ]
            print(f"{world.name:<36}{calls:>12}" + "".join(f"{each:>10}" for each in told))
    for share in (0.01, 0.05, 0.3):
        for calls in CALLS:
            told = [
                _alarms(courses, lambda s=share, c=calls, d=days: shares(s, c, d, rng))  # type: ignore[misc]
                for days in DAYS
            ]
            print(f"{f'share of {share}':<36}{calls:>12}" + "".join(f"{e:>10}" for e in told))
    print("\nplanted on day 20 of 30: found on the day / within 2 days / at all / besides it")
    for calls in CALLS:
        for size in (1.25, 1.5, 2.0):
            made = [factor(WORLDS[1], calls, 30, rng, jump=size, at=20) for _ in range(200)]
            print(f"{f'seconds times {size}':<36}{calls:>12}   {_hits(made)}")
        for after in (0.1, 0.2):
            made = [shares(0.03, calls, 30, rng, after=after, at=20) for _ in range(200)]
            print(f"{f'share of 0.03 to {after}':<36}{calls:>12}   {_hits(made)}")


def counts(calls: int, days: int, rng: Rng) -> "np.ndarray":
    """The calls of each day: fewer on weekends, at least one."""
    weekly = np.array([0.3 if day % 7 > 4 else 1.0 for day in range(days)])
    return np.maximum(1, rng.poisson(calls * weekly))


def factor(
    world: World, calls: int, days: int, rng: Rng, *, jump: float = 1.0, at: int = 0
) -> Course:
    """A figure that grows by factors, from a day on by one more."""
    effects, before = [], 0.0
    for _ in range(days):
        fresh = rng.normal(0, world.between)
        before = world.hangs * before + (1 - world.hangs**2) ** 0.5 * fresh
        effects.append(before)
    made = []
    for day, count in enumerate(counts(calls, days, rng).tolist()):
        draw = rng.standard_t(3, count) / 3**0.5 if world.tails else rng.normal(0, 1, count)
        logs = 0.7 + effects[day] + world.within * draw
        if at and day >= at:
            logs = logs + np.log(jump)
        made.append(_day(day, count, logs, np.exp(logs)))
    return Course(figure=FACTOR, key=("m",), days=tuple(made))


def shares(
    share: float, calls: int, days: int, rng: Rng, *, after: float = 0.0, at: int = 0
) -> Course:
    """A share, from a day on another one."""
    made = []
    for day, count in enumerate(counts(calls, days, rng).tolist()):
        have = (rng.random(count) < (after if at and day >= at else share)).astype(float)
        made.append(_day(day, count, have, have))
    return Course(figure=SHARE, key=("m",), days=tuple(made))


def _day(day: int, count: int, values: "np.ndarray", plain: "np.ndarray") -> Day:
    return Day(
        day=f"2026-{1 + day // 28:02}-{1 + day % 28:02}",
        calls=count,
        total=float(values.sum()),
        squares=float((values * values).sum()),
        plain=float(plain.sum()),
    )


def _alarms(courses: int, make: Callable[[], Course]) -> int:
    made = (make() for _ in range(courses))
    return sum(bool(changes(each, TOGETHER)) for each in made if enough(each))


def _hits(made: list[Course]) -> str:
    exact = near = any_ = besides = 0
    for course in made:
        days = [each.at for each in changes(course, TOGETHER)]
        off = [abs(day - 20) for day in days]
        exact += 0 in off
        near += any(each <= 2 for each in off)
        any_ += bool(days)
        besides += any(each > 2 for each in off)
    return " / ".join(f"{100 * each / len(made):.0f} %" for each in (exact, near, any_, besides))


if __name__ == "__main__":
    main()
