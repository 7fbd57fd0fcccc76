import pytest

from twinsmith.core.budget import Budget, Ledger, Spent, most_tokens, tokens_in
from twinsmith.core.errors import BudgetExceeded


def ledger(*, tokens: int = 1000, seconds: float = 10, usd: float | None = None) -> Ledger:
    return Ledger(Budget(tokens=tokens, seconds=seconds, usd=usd))


def test_what_is_set_aside_is_replaced_by_what_was_used() -> None:
    book = ledger()
    reserved = book.reserve("x" * 36, 500)
    assert (reserved.tokens, reserved.reply_tokens) == (600, 500)
    book.settle(reserved, tokens=50, usd=0.25)
    assert book.spent == Spent(tokens=50, usd=0.25)
    assert book.reserve("x" * 36, 5000).reply_tokens == 1000 - 50 - 100


def test_money_is_the_same_in_whatever_order_answers_come_in() -> None:
    totals = set()
    for paid in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]):
        book = ledger(tokens=10_000)
        for usd in paid:
            book.settle(book.reserve("x", 16), tokens=1, usd=usd)
        totals.add(book.spent.usd)
    assert len(totals) == 1


def test_questions_at_the_same_time_never_overspend() -> None:
    book = ledger(tokens=1000)
    promised = [book.reserve("x" * 36, 200).tokens for _ in range(3)]
    assert promised == [300, 300, 300]
    with pytest.raises(BudgetExceeded, match="1000 tokens is spent"):
        book.reserve("x" * 36, 200)


def test_what_the_next_of_several_at_once_may_spend_does_not_depend_on_who_was_answered() -> None:
    left = []
    for answered in (0, 1, 2):
        book = ledger(tokens=1000)
        with book.at_once():
            first = [book.reserve("x" * 36, 200) for _ in range(2)]
            for reservation in first[:answered]:
                book.settle(reservation, tokens=10, usd=None)
            left.append(book.reserve("x" * 36, 5000).reply_tokens)
            for reservation in first[answered:]:
                book.release(reservation)
        assert book.spent == Spent(tokens=10 * answered, unpriced=answered)
        assert book.reserve("x" * 36, 5000).tokens == 600 - 10 * answered
    assert left == [300, 300, 300]


def test_what_is_given_back_can_be_used_again() -> None:
    book = ledger()
    book.release(book.reserve("x", 900))
    assert book.reserve("x", 900).reply_tokens == 900


def test_a_prompt_that_leaves_nothing_for_the_reply_stops_the_run() -> None:
    with pytest.raises(BudgetExceeded, match="the next question may take 1064"):
        ledger().reserve("x" * 1000, 100)


def test_spent_seconds_stop_the_run() -> None:
    book = ledger()
    book.took(4)
    assert book.seconds_left() == 6
    book.took(6)
    with pytest.raises(BudgetExceeded, match="10 seconds is spent"):
        book.seconds_left()


def test_steps_at_the_same_time_take_as_long_as_the_longest() -> None:
    book = ledger()
    with book.at_once():
        for seconds in (1, 3, 2):
            book.took(seconds)
        assert book.seconds_left() == 10
    book.took(1)
    assert book.spent.seconds == 4


def test_money_is_set_aside_whole_and_unknown_prices_are_counted() -> None:
    book = ledger(usd=1.0)
    reserved = book.reserve("x", 100)
    assert reserved.usd == 1.0
    with pytest.raises(BudgetExceeded, match="1 USD is spent or set aside"):
        book.reserve("x", 100)
    book.settle(reserved, tokens=1, usd=None)
    assert (book.spent.usd, book.spent.unpriced) == (0.0, 1)
    assert ledger().reserve("x", 100).usd is None


def test_a_prompt_never_has_more_tokens_than_bytes() -> None:
    assert most_tokens("é" * 10) == 20 + 64


def test_a_rough_count_rounds_up() -> None:
    assert [tokens_in(""), tokens_in("a"), tokens_in("abcd"), tokens_in("abcde")] == [0, 1, 1, 2]


def test_a_question_for_one_word_needs_no_more_than_that() -> None:
    assert ledger(tokens=1000).reserve("x" * 36, 8).reply_tokens == 8
    with pytest.raises(BudgetExceeded):
        ledger(tokens=104).reserve("x" * 36, 8)
