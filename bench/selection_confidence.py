"""How far a confidence can be believed: what was said of selections, and how many were right.

The formula of `core/judging/selection.py` is a logistic regression over selections from this pool.
Beside it stands one of the same form that was fitted without the problems it is tried on, and the
mean of those others alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from bench.selection_pool import MODES, SIZES, Recorded, evidence, is_right, percent, samples
from twinsmith.core.judging.selection import Selection, select

FOLDS = 10
STEPS = 30
RIDGE = 1.0
"""Against coefficients without an end, where a part of the pool is told apart perfectly."""
BANDS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.01)
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One selection from a part of a problem: what it said, from which signs, and the truth."""

    problem: int
    examples: bool
    signs: tuple[float, ...]
    confidence: float
    right: bool


def selections(pool: Sequence[Recorded]) -> list[Told]:
    """Selections from parts of 4 to 20 candidates, with the task's examples and without."""
    places = {problem.name: n for n, problem in enumerate(pool)}
    return [
        Told(
            problem=places[problem.name],
            examples=mode == "examples",
            signs=signs(chosen, given=mode == "examples" and _has_examples(problem)),
            confidence=chosen.confidence,
            right=is_right(problem, chosen.winner),
        )
        for size, mode in product(SIZES, MODES)
        for problem, part in samples(pool, solutions=size, completions=size // 2)
        for chosen in [select(evidence(problem, part, examples=mode == "examples"))]
        if chosen.winner is not None
    ]


def _has_examples(problem: Recorded) -> bool:
    return bool(problem.examples.calls or problem.examples.checks)


def signs(chosen: Selection, *, given: bool) -> tuple[float, ...]:
    """What a confidence is made of: checks, agreement, how many are alike, examples kept or not."""
    best, alike = chosen.scores[0], len(chosen.clusters[0])
    kept = best.given == 1.0
    return (
        1.0,
        best.checks,
        best.agreement,
        math.log(alike),
        float(given and kept),
        float(given and not kept),
    )


def fitted(rows: Array, right: Array) -> Array:
    """The coefficients of a logistic regression, by Newton's method; the first is not held back."""
    held = RIDGE * np.eye(rows.shape[1])
    held[0, 0] = 1e-9
    weights: Array = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        said = expected(rows, weights)
        slope = rows.T @ (right - said) - held @ weights
        curve = (rows * (said * (1 - said))[:, None]).T @ rows + held
        weights = weights + np.linalg.solve(curve, slope)
    return weights


def expected(rows: Array, weights: Array) -> Array:
    """The probabilities that a regression gives."""
    return np.asarray(1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30))), dtype=np.float64)


def left_out(told: Sequence[Told]) -> tuple[Array, Array]:
    """For every selection, what others' problems make of it: by regression, and by their mean."""
    rows = np.array([each.signs for each in told])
    right = np.array([each.right for each in told], dtype=np.float64)
    fold = np.array([each.problem % FOLDS for each in told])
    by_signs, by_mean = np.zeros(len(told)), np.zeros(len(told))
    for number in range(FOLDS):
        here, others = fold == number, fold != number
        if here.any() and others.any():
            by_signs[here] = expected(rows[here], fitted(rows[others], right[others]))
            by_mean[here] = right[others].mean()
    return by_signs, by_mean


def brier(said: Array, right: Array) -> float:
    """The mean square of what was said too much or too little."""
    return float(np.mean((said - right) ** 2))


def calibration(pool: Sequence[Recorded]) -> str:
    """Brier scores, and how often a confidence of each size is right, in words."""
    told = selections(pool)
    right = np.array([each.right for each in told], dtype=np.float64)
    said = np.array([each.confidence for each in told])
    by_signs, by_mean = left_out(told)
    rows = [f"Brier scores of {len(told)} selections{'plain':>14}{'examples':>10}{'both':>7}"]
    sayings = {"the formula": said, "fitted on others": by_signs, "mean of others": by_mean}
    given = np.array([each.examples for each in told])
    for name, values in sayings.items():
        cells = [brier(values[part], right[part]) for part in (~given, given, given | ~given)]
        rows.append(f"{name:38}{cells[0]:7.3f}{cells[1]:10.3f}{cells[2]:7.3f}")
    rows.append("confidence   said   right    number   (the formula)")
    for low, high in pairwise(BANDS):
        inside = [each for each in told if low <= each.confidence < high]
        means = (percent([e.confidence for e in inside]), percent([e.right for e in inside]))
        rows.append(f"from {low:5.2f}{means[0]:9.1f}{means[1]:8.1f}{len(inside):10}")
    return "\n".join(rows)
