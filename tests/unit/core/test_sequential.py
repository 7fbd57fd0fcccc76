"""Intervals that hold at every moment at once, and the runs that an experiment needs."""

import random
from math import inf, sqrt

import pytest

from twinsmith.core.trying.sequential import (
    LEAST_RUNS,
    Sums,
    interval,
    interval_of_pairs,
    runs_needed,
)

A_A = 200


def test_sums_know_the_mean_and_the_variance_of_what_was_added_to_them() -> None:
    sums = Sums.of([1.0, 0.0, 1.0, 1.0])

    assert sums.mean == 0.75
    assert sums.variance == pytest.approx(0.1875)
    assert sums == Sums().plus(1.0).plus(0.0).plus(1.0).plus(1.0)
    assert Sums().mean == Sums().variance == 0.0


def test_nothing_is_said_before_there_are_runs_enough() -> None:
    few, many = Sums.of([1.0] * (LEAST_RUNS - 1)), Sums.of([0.0] * 500)

    assert interval(many, few) == (-1.0, 1.0)
    assert interval(many, few, bounded=False) == (-inf, inf)
    assert interval_of_pairs(few) == (-1.0, 1.0)


def test_arms_that_never_fail_are_not_known_to_be_the_same() -> None:
    always = Sums.of([1.0] * LEAST_RUNS)

    low, high = interval(always, always)

    assert low < -0.1
    assert high > 0.1


def test_a_clear_difference_leaves_no_difference_out_of_the_interval() -> None:
    a, b = Sums.of([1.0, 0.0] * 60), Sums.of([1.0, 1.0, 1.0, 0.0] * 30)

    low, high = interval(a, b)

    assert low < 0.25 < high
    assert low > 0
    assert interval(b, a) == (-high, -low)


def test_pairs_that_share_their_task_say_more_than_the_same_runs_apart() -> None:
    easy, hard = [1.0] * 50, [0.0] * 30
    a, b = easy + hard + [0.0] * 20, easy + hard + [1.0] * 20

    apart = interval(Sums.of(a), Sums.of(b))
    together = interval_of_pairs(Sums.of(y - x for x, y in zip(a, b, strict=True)))

    assert apart[0] < 0 < together[0]


def test_an_interval_at_any_moment_is_wider_than_one_at_a_moment_that_was_fixed() -> None:
    a = Sums.of([1.0, 0.0] * 100)

    low, high = interval(a, a)

    assert high - low > 2 * 1.96 * sqrt(0.25 / 200 + 0.25 / 200)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_looking_after_every_run_finds_a_difference_that_is_not_there_in_few_of_many(
    share: float,
) -> None:
    draw, wrong = random.Random(5), 0
    for _ in range(A_A):
        arms = {True: Sums(), False: Sums()}
        for _ in range(400):
            second = draw.random() < share
            arms[second] = arms[second].plus(float(draw.random() < 0.4))
            low, high = interval(arms[False], arms[True])
            if low > 0 or high < 0:
                wrong += 1
                break

    assert wrong <= 0.05 * A_A


def test_the_runs_needed_are_those_after_which_the_effect_is_mostly_seen() -> None:
    needed = runs_needed(variance=0.25, least=0.2)
    draw, seen = random.Random(7), 0
    for _ in range(200):
        arms = [
            Sums.of(float(draw.random() < rate) for _ in range(needed // 2)) for rate in (0.4, 0.6)
        ]
        seen += interval(*arms, least=0.2)[0] > 0

    assert 0.7 < seen / 200 < 0.9


def test_more_runs_are_needed_for_a_smaller_effect_and_for_a_smaller_share() -> None:
    needed = runs_needed(variance=0.25, least=0.2)

    assert runs_needed(variance=0.25, least=0.1) > 3 * needed
    assert runs_needed(variance=0.25, least=0.2, share=0.2) > needed
    assert runs_needed(variance=0.0001, least=0.5, share=0.2) == LEAST_RUNS / 0.2
