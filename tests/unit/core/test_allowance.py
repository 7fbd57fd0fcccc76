"""Allowances: how they are written, whose calls they count, and what still has room."""

import pytest

from twinsmith.core.costs.allowance import (
    Allowance,
    Amount,
    Bound,
    Payer,
    Pot,
    Standing,
    allowance_in,
    bounds_of,
    over,
    question_about,
    room,
    team_in,
    unknown_teams,
)

NOW = "2026-11-19T10:00:00+00:00"
TEAMS = {"blue": ("ann", "bob"), "red": ("bob",)}


def standing(line: str, *, spent: int = 0, set_aside: int = 0) -> Standing:
    bound = Bound(allowance=allowance_in(line), pot=Pot(whose="all", days="2026-11-19"))
    return Standing(
        bound=bound,
        spent=Amount(tokens=spent, seconds=spent),
        set_aside=Amount(tokens=set_aside),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("day 5 usd", ("all", "", "day", 5.0, "usd", False)),
        ("run 60000 tokens", ("all", "", "run", 60000.0, "tokens", False)),
        ("person ann day 200000 tokens soft", ("person", "ann", "day", 2e5, "tokens", True)),
        ("person day 10 tokens hard", ("person", "", "day", 10.0, "tokens", False)),
        ("person day day 10 tokens", ("person", "day", "day", 10.0, "tokens", False)),
        ("team blue month 2.5 usd", ("team", "blue", "month", 2.5, "usd", False)),
        ("  app  shop day 3600 seconds ", ("app", "shop", "day", 3600.0, "seconds", False)),
        ("app soft day 1 usd soft", ("app", "soft", "day", 1.0, "usd", True)),
    ],
)
def test_a_line_is_an_allowance(text: str, expected: tuple[object, ...]) -> None:
    read = allowance_in(text)
    told = (read.scope, read.name, read.period, read.most, read.unit, read.soft)
    assert told == expected
    assert read.line == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no budget"),
        ("soft", "is no budget"),
        ("day 5", "is no budget"),
        ("ann day 5 usd", "is no budget"),
        ("person ann and bob day 5 usd", "is no budget"),
        ("week 5 usd", "'week' in 'week 5 usd' is no period; one of run, day, month"),
        ("day 5 euro", "'euro' in 'day 5 euro' is no unit; one of tokens, usd, seconds"),
        ("day five usd", "'five' in 'day five usd' is no number"),
        ("day 0 usd", "has to be more than 0"),
        ("day -5 usd", "has to be more than 0"),
        ("day nan usd", "has to be more than 0"),
        ("day inf usd", "has to be more than 0"),
    ],
)
def test_what_is_no_allowance_is_told_in_one_line(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as told:
        allowance_in(text)
    assert why in str(told.value)


def test_a_team_has_people() -> None:
    assert team_in("blue ann bob ann") == ("blue", ("ann", "bob"))
    for text in ("", "blue"):
        with pytest.raises(ValueError, match="is no team"):
            team_in(text)
    lines = ("team blue day 1 usd", "team day 1 usd", "team green day 1 usd", "app x day 1 usd")
    assert unknown_teams(tuple(map(allowance_in, lines)), TEAMS) == ("green",)


def pots(line: str, payer: Payer) -> list[Pot]:
    return [each.pot for each in bounds_of([allowance_in(line)], payer, NOW, TEAMS)]


def test_an_allowance_counts_whose_it_is() -> None:
    bob = Payer(run="r1", person="bob", app="shop")
    day = "2026-11-19"
    assert pots("day 1 usd", bob) == [Pot(whose="all", days=day)]
    assert pots("month 1 usd", bob) == [Pot(whose="all", days="2026-11")]
    assert pots("run 1 usd", bob) == [Pot(whose="this run", run="r1")]
    assert pots("person day 1 usd", bob) == [Pot(whose="person bob", days=day, persons=("bob",))]
    assert pots("person ann day 1 usd", bob) == []
    assert pots("app shop run 1 usd", bob) == [Pot(whose="app shop", run="r1", app="shop")]
    assert pots("app cart day 1 usd", bob) == []
    assert pots("app day 1 usd", Payer(run="r1", person="bob")) == []
    assert pots("team day 1 usd", bob) == [
        Pot(whose="team blue", days=day, persons=("ann", "bob")),
        Pot(whose="team red", days=day, persons=("bob",)),
    ]
    assert [each.whose for each in pots("team red day 1 usd", bob)] == ["team red"]
    assert pots("team red day 1 usd", Payer(run="r1", person="ann")) == []


def test_names_of_bounds_differ_by_line_by_owner_and_by_period() -> None:
    lines = [allowance_in("person day 1 usd"), allowance_in("day 1 usd")]
    found = [
        each.id
        for person in ("ann", "bob")
        for day in ("2026-11-19T1", "2026-11-20T1")
        for each in bounds_of(lines, Payer(run="r", person=person), day, {})
    ]
    assert len(found) == 8
    # What all spend is the same, whoever asks.
    assert len(set(found)) == 6


@pytest.mark.parametrize(
    ("spent", "set_aside", "more", "expected"),
    [
        (0, 0, 100, "free"),
        (0, 0, 101, "over"),
        (50, 0, 50, "free"),
        (50, 0, 51, "over"),
        (50, 30, 20, "free"),
        (50, 30, 21, "wait"),
        (0, 100, 1, "wait"),
        (100, 0, 0, "over"),
    ],
)
def test_what_has_room(spent: int, set_aside: int, more: int, expected: str) -> None:
    known = standing("day 100 tokens", spent=spent, set_aside=set_aside)
    assert room([known], Amount(tokens=more)) == expected
    assert (over([known], Amount(tokens=more)) is known) == (expected == "over")


def test_soft_ones_hold_nobody_and_the_strictest_decides() -> None:
    soft = standing("day 1 tokens soft", spent=5)
    assert room([soft], Amount(tokens=9)) == "free"
    assert soft.passed
    assert not standing("day 5 tokens", spent=5).passed
    waits = standing("day 10 tokens", set_aside=9)
    full = standing("day 5 tokens", spent=5)
    assert room([soft, waits], Amount(tokens=5)) == "wait"
    assert room([waits, full], Amount(tokens=5)) == "over"
    assert over([soft, waits, full], Amount(tokens=5)) is full


def test_what_nobody_knows_before_is_let_through_until_all_is_spent() -> None:
    assert room([standing("day 100 seconds", spent=99)], Amount(tokens=5)) == "free"
    assert room([standing("day 100 seconds", spent=100)], Amount(tokens=5)) == "over"


def test_the_question_names_the_budget_and_both_amounts() -> None:
    told = question_about(standing("day 100 tokens", spent=90), Amount(tokens=20))
    assert "'day 100 tokens'" in told
    assert "90 tokens are spent by all, and the next question may take 20 tokens" in told
    assert "may take" not in question_about(standing("day 9 seconds", spent=9), Amount(tokens=2))


def test_an_allowance_is_a_value() -> None:
    assert allowance_in("day 1 usd") == Allowance(
        line="day 1 usd", period="day", most=1.0, unit="usd"
    )
