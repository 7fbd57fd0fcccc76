"""The purse: one contract for the dictionary, SQLite and PostgreSQL."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.costs.memory import MemoryPurse
from twinsmith.adapters.costs.table import PurseTable
from twinsmith.core.costs.allowance import Amount, Bound, Payer, allowance_in, bounds_of
from twinsmith.core.costs.claim import Claim
from twinsmith.ports import Purse

NOW = "2026-11-19T10:00:00+00:00"
ANN, BOB = Payer(run="r1", person="ann"), Payer(run="r2", person="bob", app="shop")
TEAMS = {"blue": ("ann", "bob")}


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Purse]:
    """Opens the same purse, each time as another process would."""
    if request.param == "memory":
        only = MemoryPurse()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: PurseTable(url)


@pytest.fixture
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Purse]:
    """Opens the same table, each time as another process would."""
    url = fresh_url(request, tmp_path)
    return lambda: PurseTable(url)


def bounds(*lines: str, payer: Payer = ANN) -> Sequence[Bound]:
    return bounds_of(tuple(map(allowance_in, lines)), payer, NOW, TEAMS)


def claim(key: str, tokens: int = 10, *, payer: Payer = ANN, **more: object) -> Claim:
    made = Claim(key=key, payer=payer, day="2026-11-19", amount=Amount(tokens=tokens))
    return replace(made, **more)  # type: ignore[arg-type]


def used(purse: Purse, line: str, payer: Payer = ANN) -> tuple[float, float]:
    (each,) = purse.standings(bounds(line, payer=payer))
    unit = each.bound.allowance.unit
    return each.spent.of(unit), each.set_aside.of(unit)


def test_what_is_set_aside_is_seen_by_everybody(opened: Callable[[], Purse]) -> None:
    limit = bounds("day 25 tokens")
    assert opened().set_aside(claim("a"), limit) == ()
    assert opened().set_aside(claim("b"), limit) == ()
    (standing,) = opened().set_aside(claim("c"), limit)
    assert (standing.spent.tokens, standing.set_aside.tokens) == (0, 20)
    assert used(opened(), "day 25 tokens") == (0, 20)


def test_paying_takes_the_place_of_what_was_set_aside(opened: Callable[[], Purse]) -> None:
    opened().set_aside(claim("a", 100), ())
    paid = claim("a", amount=Amount(tokens=7, usd=0.125, seconds=1.5))
    opened().pay(paid)
    opened().pay(paid)
    assert used(opened(), "day 1 tokens") == (7, 0)
    assert used(opened(), "day 1 usd") == (0.125, 0)
    assert used(opened(), "run 1 seconds") == (1.5, 0)


def test_what_is_paid_anew_is_paid_once(opened: Callable[[], Purse]) -> None:
    opened().pay(claim("a", 7))
    opened().pay(claim("b", 1))
    # Another answer of the same call, by a process that went on after a kill, on the next day.
    opened().pay(claim("a", 9, day="2026-11-20"))
    assert used(opened(), "day 1 tokens") == (1, 0)
    assert used(opened(), "month 1 tokens") == (10, 0)
    assert used(opened(), "run 1 tokens") == (10, 0)


def test_a_call_that_was_paid_has_room(opened: Callable[[], Purse]) -> None:
    opened().pay(claim("a", 50))
    assert opened().set_aside(claim("a", 50), bounds("day 50 tokens")) == ()
    assert used(opened(), "day 50 tokens") == (50, 0)
    assert opened().set_aside(claim("b", 1), bounds("day 50 tokens"))


def test_a_call_that_is_made_again_is_set_aside_once(opened: Callable[[], Purse]) -> None:
    limit = bounds("day 10 tokens")
    assert opened().set_aside(claim("a"), limit) == ()
    assert opened().set_aside(claim("a"), limit) == ()
    assert used(opened(), "day 10 tokens") == (0, 10)


def test_what_was_given_back_is_free(opened: Callable[[], Purse]) -> None:
    opened().set_aside(claim("a"), ())
    opened().give_back("a")
    opened().give_back("never heard of")
    assert used(opened(), "day 10 tokens") == (0, 0)
    opened().pay(claim("b"))
    opened().give_back("b")
    assert used(opened(), "day 10 tokens") == (10, 0)


def test_each_allowance_counts_its_own(opened: Callable[[], Purse]) -> None:
    opened().pay(claim("a", 1))
    opened().pay(claim("b", 2, payer=BOB))
    opened().pay(claim("c", 4, payer=BOB, day="2026-11-02"))
    opened().pay(claim("d", 8, payer=BOB, day="2026-10-31"))
    for line, payer, tokens in (
        ("day 1 tokens", ANN, 3),
        ("month 1 tokens", ANN, 7),
        ("run 1 tokens", ANN, 1),
        ("run 1 tokens", BOB, 14),
        ("person day 1 tokens", ANN, 1),
        ("person month 1 tokens", BOB, 6),
        ("app shop day 1 tokens", BOB, 2),
        ("team blue day 1 tokens", ANN, 3),
    ):
        assert used(opened(), line, payer) == (tokens, 0), line


@pytest.mark.parametrize("stored", ["sqlite", "postgresql"], indirect=True)
def test_what_a_process_left_behind_counts_for_a_while(stored: Callable[[], Purse]) -> None:
    stored().set_aside(claim("a", seconds=0.01), ())
    stored().set_aside(claim("b", seconds=600.0), ())
    time.sleep(0.1)
    assert used(stored(), "day 1 tokens") == (0, 10)


def test_of_many_at_once_only_so_many_get_in_as_fit(opened: Callable[[], Purse]) -> None:
    limit = bounds("day 55 tokens")
    opened().pay(claim("before", 5))
    with ThreadPoolExecutor(12) as threads:
        results = list(threads.map(lambda n: opened().set_aside(claim(f"c{n}"), limit), range(12)))
    assert [each == () for each in results].count(True) == 5
    assert used(opened(), "day 55 tokens") == (5, 50)


def test_of_many_that_pay_at_once_none_is_lost(opened: Callable[[], Purse]) -> None:
    with ThreadPoolExecutor(12) as threads:
        list(threads.map(lambda n: opened().pay(claim(f"c{n}", n)), range(24)))
    assert used(opened(), "day 1 tokens") == (sum(range(24)), 0)
