import pytest

from twinsmith.core.budget import Budget, Spent, seconds_left, tokens_in, tokens_left
from twinsmith.core.errors import BudgetExceeded

BUDGET = Budget(tokens=100, seconds=10)


def test_what_is_left_is_what_was_given_less_what_was_spent() -> None:
    spent = Spent().plus(tokens=30, seconds=4).plus(tokens=10)
    assert seconds_left(BUDGET, spent) == 6
    assert tokens_left(BUDGET, spent, "x" * 40) == 50


def test_a_rough_count_rounds_up() -> None:
    assert [tokens_in(""), tokens_in("a"), tokens_in("abcd"), tokens_in("abcde")] == [0, 1, 1, 2]


def test_spent_seconds_stop_the_run() -> None:
    with pytest.raises(BudgetExceeded, match="10 seconds is spent"):
        seconds_left(BUDGET, Spent(seconds=10))


def test_a_prompt_that_leaves_nothing_for_the_reply_stops_the_run() -> None:
    with pytest.raises(BudgetExceeded, match=r"90 used, the next prompt needs 10"):
        tokens_left(BUDGET, Spent(tokens=90), "x" * 40)
