"""What our rule reaches with constants that were chosen on other problems.

Its constants were chosen on the whole pool, which flatters it beside rules that have none. Here
they are chosen anew on a random half of the problems, by what is right there with and without the
task's examples, and scored on the other half; many times, and both ways round.
"""

import random
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bench.selection_pool import MODES, Recorded, evidence, is_right
from bench.selection_rules import same
from twinsmith.core.judging import selection
from twinsmith.core.judging.meaning import DIGITS
from twinsmith.core.judging.selection import Check, Evidence, Score, select

AGREEMENTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
DOUBTS = (0.25, 0.5, 1.0, 2.0)
POWERS = (0.0, 1.0, 2.0, 3.0)
SPLITS = 500
PRECISION = 1000
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """The weight of agreement, the vote nobody gave, and the power of how often a test came."""

    agreement: float
    doubt: float
    power: float


OURS = Constants(agreement=selection.AGREEMENT, doubt=selection.DOUBT, power=2.0)
GRID = tuple(
    Constants(agreement=agreement, doubt=doubt, power=power)
    for doubt, power, agreement in product(DOUBTS, POWERS, AGREEMENTS)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """What was right in each mode on the halves that chose nothing, and how often ours was chosen.

    Where several choices are equally good, each counts; `ours_among` says how often the constants
    of the product were one of them.
    """

    right: Mapping[str, float]
    ours_among: float


def halves(pool: Sequence[Recorded]) -> str:
    """Constants chosen on one half of the problems, scored on the other, in words."""
    if len(pool) < 2:
        return "halves: one problem has none"
    table = right_by_choice(pool)
    seen = on_other_halves(table)
    as_they_are = 100 * table[GRID.index(OURS)].mean(axis=0)
    said = ", ".join(
        f"{mode} {seen.right[mode]:.2f} (as they are {whole:.2f})"
        for mode, whole in zip(MODES, as_they_are, strict=True)
    )
    return (
        f"constants of {len(GRID)} choices, by one half for the other, {SPLITS} splits: {said}; "
        f"ours are among the best of a half in {seen.ours_among:.0f} of 100"
    )


def right_by_choice(pool: Sequence[Recorded]) -> Array:
    """What is right: a layer for each choice of the grid, a row a problem, a column a mode."""
    table = np.zeros((len(GRID), len(pool), len(MODES)))
    places = {choice: n for n, choice in enumerate(GRID)}
    for (row, problem), (column, mode) in product(enumerate(pool), enumerate(MODES)):
        known = evidence(problem, examples=mode == "examples")
        for doubt, power in product(DOUBTS, POWERS):
            with doubting(doubt):
                ranked = select(counted(known, power)).scores
            for agreement in AGREEMENTS:
                choice = Constants(agreement=agreement, doubt=doubt, power=power)
                winner = first(ranked, agreement)
                table[places[choice], row, column] = is_right(problem, winner)
    return table


def first(ranked: Sequence[Score], agreement: float) -> int | None:
    """Who wins where agreement has this weight."""
    order = [
        (-round(agreement * each.agreement + (1 - agreement) * each.checks, DIGITS), each.candidate)
        for each in ranked
    ]
    return min(order)[1] if order else None


def counted(known: Evidence, power: float) -> Evidence:
    """The evidence as if tests were weighed by another power than the second of their number."""
    times: Counter[tuple[int, Hashable, int]] = Counter()
    spelt: dict[tuple[int, Hashable, int], Check] = {}
    for check in known.checks:
        if not check.given:
            key = (check.probe, same(check.expected) if check.expected else None, check.ensemble)
            times[key] += check.times
            spelt.setdefault(key, check)
    # Only ratios matter, so that a root may be written as a whole number.
    weighed = (
        replace(spelt[key], times=round(PRECISION * n ** (power / OURS.power)))
        for key, n in times.items()
    )
    return replace(known, checks=(*weighed, *(check for check in known.checks if check.given)))


@contextmanager
def doubting(doubt: float) -> Iterator[None]:
    """Select with another vote that nobody gave."""
    before = selection.DOUBT
    selection.DOUBT = doubt
    try:
        yield
    finally:
        selection.DOUBT = before


def on_other_halves(table: Array) -> Halves:
    """The best choices of each half, scored on the other one."""
    rng, places = random.Random(0), list(range(table.shape[1]))
    ours, middle = GRID.index(OURS), len(places) // 2
    reached, among = [], 0
    for _ in range(SPLITS):
        rng.shuffle(places)
        one, other = places[:middle], places[middle:]
        for choosing, scoring in ((one, other), (other, one)):
            right = table[:, choosing].sum(axis=(1, 2))
            best = np.flatnonzero(right == right.max())
            among += ours in best
            reached.append(table[best][:, scoring].mean(axis=(0, 1)))
    means = 100 * np.mean(reached, axis=0)
    return Halves(
        right=dict(zip(MODES, map(float, means), strict=True)),
        ours_among=100 * among / (2 * SPLITS),
    )
