"""Accounts, prices, forecasts and other routes, against figures worked out by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from twinsmith.core.costs.forecast import forecast
from twinsmith.core.costs.price import Price, own_price, price_in
from twinsmith.core.costs.report import Power, Wanted, reported
from twinsmith.core.costs.rerouting import rerouted
from twinsmith.core.costs.spending import (
    Accounts,
    Place,
    Spending,
    accounts_in,
    grouped,
    merged,
    shared_seconds,
    since,
    total,
)
from twinsmith.core.events import SYSTEM, Entry, Event, Json

BEGIN = datetime(2026, 11, 18, 23, 59, 0, tzinfo=UTC)


def entry(kind: str, data: dict[str, Json], *, who: str = "coder", after: float = 0) -> Entry:
    at = (BEGIN + timedelta(seconds=after)).isoformat()
    return Entry(
        seq=1, at=at, event=Event(run="r", kind=kind, who=who, data=data), prev="", hash=""
    )


def replied(model: str = "openai:gpt-4o", *, after: float = 0, **more: Json) -> Entry:
    data: dict[str, Json] = {
        "model": model,
        "role": "coder",
        "tokens_in": 100,
        "tokens_out": 10,
        "seconds": 2.0,
        "usd": 0.5,
        "cached": False,
        **more,
    }
    return entry("model.replied", data, after=after)


STARTED = entry("run.started", {"app": "shop"}, who="user:ann")


def test_a_run_is_paid_by_who_began_it() -> None:
    again = entry("run.started", {"app": ""}, who="user:eve")
    accounts = accounts_in(
        "r", [STARTED, again, replied(), replied(after=90), replied(cached=True)]
    )
    assert {(each.person, each.app) for each in accounts} == {("ann", "shop")}
    assert [each.day for each in sorted(accounts)] == ["2026-11-18", "2026-11-19"]
    whole = total(accounts)
    assert (whole.calls, whole.cached, whole.tokens, whole.usd) == (3, 1, 220, 1.0)


def test_in_the_systems_chain_each_call_has_its_own_payer() -> None:
    mine = entry("model.replied", dict(replied().event.data), who="user:bob")
    (place,) = accounts_in(SYSTEM, [STARTED, mine])
    assert (place.person, place.app) == ("bob", "")


def test_what_nobody_can_price_is_counted_as_that() -> None:
    whole = total(accounts_in("r", [replied(usd=None), replied(usd=0.25)]))
    assert (whole.usd, whole.unpriced) == (0.25, 1)


def test_strange_members_of_events_break_nothing() -> None:
    odd = entry("model.replied", {"model": 7, "tokens_in": "many", "usd": [], "seconds": None})
    whole = total(accounts_in("r", [odd]))
    assert (whole.calls, whole.tokens, whole.usd) == (1, 0, 0.0)


def test_seconds_at_the_same_time_are_shared() -> None:
    one, other = (
        Place(day="d", model=name, role="", person="", app="") for name in ("one", "other")
    )
    found = shared_seconds([(one, 0.0, 10.0), (other, 5.0, 10.0), (other, 10.0, 12.0)])
    assert found == {one: 7.5, other: 4.5}
    assert shared_seconds([(one, 3.0, 3.0)]) == {}


def test_only_own_machines_take_power() -> None:
    local = "embedded:qwen"
    accounts = accounts_in(
        "r",
        [
            replied(local, after=10),
            replied(local, after=10),
            replied(local, after=10, cached=True),
            replied(after=10),
        ],
    )
    own = grouped(accounts, "model", {})[local]
    assert own.seconds == 4.0
    assert own.own_seconds == pytest.approx(2.0)
    assert own.watt_hours(1800) == pytest.approx(1.0)
    assert total(accounts).own_seconds == pytest.approx(2.0)


def place(**more: str) -> Place:
    fields = {"day": "2026-11-19", "model": "m", "role": "slow", "person": "ann", "app": ""}
    return Place(**{**fields, **more})


ACCOUNTS: Accounts = {
    place(): Spending(calls=1, tokens_in=10, usd=1.0),
    place(person="bob", app="shop"): Spending(calls=2, tokens_in=20, usd=3.0),
    place(person="bob", day="2026-11-17", role="coder"): Spending(calls=4, tokens_out=5, usd=0.0),
}
TEAMS = {"blue": ("ann", "bob"), "red": ("bob",)}


@pytest.mark.parametrize(
    ("by", "calls"),
    [
        ("model", {"m": 7}),
        ("role", {"slow": 3, "coder": 4}),
        ("person", {"bob": 6, "ann": 1}),
        ("app", {"shop": 2, "-": 5}),
        ("team", {"blue": 7, "red": 6}),
        ("day", {"2026-11-17": 4, "2026-11-19": 3}),
    ],
)
def test_accounts_by_one_thing(by: str, calls: dict[str, int]) -> None:
    found = grouped(ACCOUNTS, by, TEAMS)  # type: ignore[arg-type]
    assert {name: each.calls for name, each in found.items()} == calls
    assert list(found) == list(calls)


def test_who_is_in_no_team_is_told_so() -> None:
    assert set(grouped(ACCOUNTS, "team", {"red": ("bob",)})) == {"red", "-"}


def test_days_and_runs_are_put_together() -> None:
    assert total(since(ACCOUNTS, "2026-11-18")).calls == 3
    assert total(merged([ACCOUNTS, ACCOUNTS])).calls == 14


def test_a_forecast_follows_from_whole_days() -> None:
    days = {"2026-11-01": 2.0, "2026-11-02": 4.0, "2026-11-04": 6.0, "2026-11-05": 1.0}
    # Four whole days of 2, 4, 0 and 6; of the fifth half is over; 25.5 days are left.
    found = forecast({**days, "2026-10-31": 99.0}, "2026-11-05", share=0.5)
    assert (found.so_far, found.days) == (13.0, 4)
    assert found.whole == pytest.approx(13.0 + 25.5 * 3.0)
    spread = 1.2816 * (20 / 3) ** 0.5 * 25.5**0.5
    assert found.most == pytest.approx(89.5 + spread)
    assert found.least == pytest.approx(89.5 - spread)


def test_a_range_never_ends_below_what_is_spent() -> None:
    days = {"2026-11-27": 0.0, "2026-11-28": 50.0, "2026-11-29": 0.0}
    found = forecast(days, "2026-11-30", share=0.9)
    assert found.least == found.so_far == 50.0


def test_too_few_days_are_told_as_that() -> None:
    assert forecast({}, "2026-11-05", share=0.5).whole is None
    assert forecast({"2026-11-05": 3.0}, "2026-11-05", share=0.5).whole is None
    two = forecast({"2026-11-03": 2.0, "2026-11-05": 1.0}, "2026-11-05", share=0.0)
    assert (two.days, two.whole, two.least) == (2, 3.0 + 26 * 1.0, None)


def test_a_price_is_written_with_its_day_and_its_source() -> None:
    read = price_in("openai:gpt-4o 2.5 10 2026-11-01 our contract")
    assert read == Price(
        model="openai:gpt-4o", usd_in=2.5, usd_out=10.0, date="2026-11-01", source="our contract"
    )
    assert read.of(1_000_000, 200_000) == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no price"),
        ("openai:gpt-4o 2.5 10", "is no price"),
        ("gpt-4o 2.5 10 2026-11-01", "write provider:model"),
        ("a:b two 10 2026-11-01", "'two' in"),
        ("a:b -1 10 2026-11-01", "is no amount of dollars"),
        ("a:b nan 10 2026-11-01", "is no amount of dollars"),
        ("a:b 1 10 yesterday", "'yesterday' in"),
        ("a:b 1 10 20261101", "is no day"),
    ],
)
def test_what_is_no_price_is_told_in_one_line(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as told:
        price_in(text)
    assert why in str(told.value)


def test_the_youngest_price_that_has_begun_holds() -> None:
    own = [price_in(f"a:b {usd} 1 {day}") for usd, day in ((1, "2026-01-01"), (2, "2026-06-01"))]
    assert own_price(own, "a:b", "2025-12-31") is None
    for today, usd in (("2026-01-01", 1.0), ("2026-05-31T23", 1.0), ("2026-06-01T00", 2.0)):
        found = own_price(own, "a:b", today)
        assert found is not None
        assert found.usd_in == usd
    assert own_price(own, "a:c", "2026-12-31") is None


def test_other_routes_are_the_same_tokens_at_other_prices() -> None:
    prices = (
        Price(model="dear", usd_in=1_000_000.0, usd_out=2_000_000.0),
        Price(model="own", usd_in=0.0, usd_out=0.0, local=True),
        Price(model="strange", usd_in=None, usd_out=None),
        Price(model="cheap", usd_in=10_000.0, usd_out=0.0),
    )
    found = [each for each in rerouted(ACCOUNTS, prices) if each.role == "slow"]
    assert [(each.model, each.would) for each in found] == [
        ("own", 0.0),
        ("cheap", pytest.approx(0.3)),
        ("dear", 30.0),
        ("strange", None),
    ]
    assert [each.saved for each in found] == [4.0, pytest.approx(3.7), -26.0, None]
    coder = [each for each in rerouted(ACCOUNTS, prices) if each.role == "coder"]
    assert {each.model: each.would for each in coder}["dear"] == 10.0


def test_the_report_adds_up() -> None:
    report = reported(
        ACCOUNTS,
        Wanted(by="person", since="2026-11-18", now="2026-11-19T12:00:00.000000+00:00"),
        Power(watts=100, kwh_usd=0.5),
        teams={},
        prices=(),
        budgets=(),
    )
    assert [(each.name, each.usd) for each in report.rows] == [("bob", 3.0), ("ann", 1.0)]
    assert (report.total.usd, report.total.tokens) == (4.0, 30)
    # The forecast looks at the whole month, whatever is shown: two whole days, one of them free.
    assert (report.forecast.tokens.so_far, report.forecast.tokens.days) == (35.0, 2)
