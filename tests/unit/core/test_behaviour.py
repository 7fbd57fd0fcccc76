"""Behaviour: what explains a change, how noisy days are, how confidence held, what is asked for."""

import random
from dataclasses import replace

import pytest

from twinsmith.core.behaviour.cause import SUSPECTS, Stratum, Suspect, causes_of
from twinsmith.core.behaviour.drift import (
    Course,
    Day,
    Figure,
    hanging,
    noise_about,
    noise_of,
    passed_on,
    without_odd,
)
from twinsmith.core.behaviour.figures import BY, VIEWS, Calls, Wanted, dimensions_in, view_in
from twinsmith.core.behaviour.trust import Cell, trust
from twinsmith.core.errors import ConfigError


def stratum(value: str, before: tuple[int, float], after: tuple[int, float]) -> Stratum:
    """Calls of a value: how many on each side, and the mean of the figure among them."""
    return Stratum(
        value=value,
        before=before[0],
        after=after[0],
        sum_before=before[0] * before[1],
        sum_after=after[0] * after[1],
    )


def test_a_value_explains_a_change_that_is_gone_within_each_value() -> None:
    mix = (stratum("fast", (90, 1.0), (10, 1.0)), stratum("slow", (10, 3.0), (90, 3.0)))
    (cause,) = causes_of({"kind": mix})
    assert cause.explains == pytest.approx(1.0)
    assert cause.value == "slow"
    assert cause.half == pytest.approx(0.5)
    assert cause.gone == "fast, 90% to 10% of calls"
    assert cause.came == "slow, 10% to 90% of calls"


def test_a_value_explains_nothing_where_all_its_calls_changed_alike() -> None:
    mix = (stratum("one", (80, 1.0), (20, 3.0)), stratum("two", (20, 1.0), (80, 3.0)))
    assert causes_of({"language": mix}) == ()


def test_what_did_not_change_is_no_cause() -> None:
    same = (stratum("one", (50, 1.0), (50, 3.0)), stratum("two", (50, 1.0), (50, 3.0)))
    assert causes_of({"kind": same}) == ()
    assert causes_of({"kind": ()}) == ()
    assert causes_of({"kind": (stratum("one", (50, 1.0), (0, 0.0)),)}) == ()


def test_a_value_that_came_on_the_day_for_all_is_the_evidence() -> None:
    new = (stratum("v1", (60, 1.0), (0, 0.0)), stratum("v2", (0, 0.0), (60, 2.0)))
    (cause,) = causes_of({"version": new})
    assert (cause.what, cause.explains) == ("version", 1.0)


def test_of_what_follows_from_another_only_that_other_is_told() -> None:
    new = (stratum("v1", (60, 1.0), (0, 0.0)), stratum("v2", (0, 0.0), (60, 2.0)))
    told = causes_of({"model": new, "version": new, "template": new, "template_version": new})
    assert [each.what for each in told] == ["model", "template"]


def test_the_likeliest_comes_first_whatever_order_they_were_looked_at() -> None:
    new = (stratum("a", (60, 1.0), (0, 0.0)), stratum("b", (0, 0.0), (60, 2.0)))
    for names in (("settings", "kind"), ("kind", "settings")):
        given: dict[Suspect, tuple[Stratum, ...]] = {n: new for n in SUSPECTS if n in names}
        assert [each.what for each in causes_of(given)] == ["kind", "settings"]


def days(levels: list[float], calls: int = 50, spread: float = 0.0) -> tuple[Day, ...]:
    return tuple(
        Day(
            day=f"2026-{1 + n // 28:02}-{1 + n % 28:02}",
            calls=calls,
            total=level * calls,
            squares=(level * level + spread) * calls,
            plain=level * calls,
        )
        for n, level in enumerate(levels)
    )


def noise(levels: list[float], *, share: bool = False, spread: float = 0.0) -> tuple[float, float]:
    figure = Figure(name="f", unit="", share=share)
    told = noise_of(Course(figure=figure, key=(), days=days(levels, spread=spread)))
    return told.within, told.between


def test_the_noise_of_days_does_not_grow_with_a_lasting_change() -> None:
    chance = random.Random(1)
    flat = [chance.gauss(1.0, 0.1) for _ in range(60)]
    changed = [each + (5.0 if n >= 30 else 0.0) for n, each in enumerate(flat)]
    before, after = noise(flat)[1], noise(changed)[1]
    assert before == pytest.approx(0.01, rel=0.6)
    assert after == pytest.approx(before, rel=0.3)


def test_the_noise_of_calls_is_not_taken_for_that_of_days() -> None:
    chance = random.Random(2)
    levels = [chance.gauss(1.0, (0.25 / 50) ** 0.5) for _ in range(60)]
    within, between = noise(levels, spread=0.25)
    assert within == pytest.approx(0.25, rel=0.1)
    assert between < 0.003


def test_the_noise_about_levels_is_that_of_days_with_their_levels_taken_off() -> None:
    chance = random.Random(4)
    levels = [chance.gauss(1.0 if day < 20 else 3.0, 0.2) for day in range(40)]
    made = Course(figure=Figure(name="f", unit=""), key=(), days=days(levels))
    told = noise_of(made)
    assert noise_about(made, [40], told).between == pytest.approx(1.04, rel=0.1)
    about = noise_about(made, [20, 40], told)
    assert about.between == pytest.approx(0.04, rel=0.4)
    assert (about.freedom, about.within) == (38, told.within)


def test_shares_differ_by_chance_at_least() -> None:
    assert noise([0.5] * 30, share=True)[1] == 1.0


def test_an_odd_day_stands_off_from_both_its_neighbours_that_agree() -> None:
    made = Course(
        figure=Figure(name="f", unit=""),
        key=(),
        days=days([1.0, 1.1, 5.0, 1.0, 0.9, 3.0, 3.1, 3.0, 9.0]),
    )
    noise = replace(noise_of(made), within=0.0, between=0.02)
    assert without_odd(made, noise, 5.0) == (0, 1, 3, 4, 5, 6, 7, 8), "no step, no last day"
    assert without_odd(made, replace(noise, between=2.0), 5.0) == tuple(range(9))


def test_days_that_hang_together_are_known_by_what_they_pass_on() -> None:
    chance = random.Random(3)
    alone = [chance.gauss(0, 1) for _ in range(60)]
    together, last = [], 0.0
    for each in alone:
        last = 0.7 * last + each
        together.append(last)
    assert passed_on(alone) == 0.0
    assert passed_on(together) == pytest.approx(0.7, abs=0.2)
    assert passed_on(together[:10]) == 0.0, "too few days to tell"
    figure = Figure(name="f", unit="")
    told = noise_of(Course(figure=figure, key=(), days=days(together)))
    assert hanging(told, 0.5).between == pytest.approx(6 * told.between)


def test_how_far_confidence_held() -> None:
    cells = [
        Cell(bin=9, results=10, confidence=9.5, held=9, squares=0.9),
        Cell(bin=2, results=10, confidence=2.5, held=5, squares=3.1),
        Cell(bin=5, results=0, confidence=0, held=0, squares=0),
    ]
    told = trust("m:1", "tests", cells)
    assert told.results == 20
    assert told.brier == pytest.approx(0.2)
    assert [(each.least, each.said, each.held) for each in told.table] == [
        (0.2, 0.25, 0.5),
        (0.9, 0.95, 0.9),
    ]
    assert trust("", "outcome", ()).brier == 0.0


def test_what_nobody_knows_is_no_number() -> None:
    calls = Calls(answered=4, cached=1, seconds=6.0, tokens_out=30, usd=0.3)
    assert (calls.asked, calls.pace, calls.length, calls.price) == (3, 2.0, 10.0, 0.3 / 3)
    assert Calls(answered=4, unpriced=1, usd=0.3).price is None
    cached = Calls(answered=2, cached=2)
    assert (cached.pace, cached.length, cached.price) == (None, None, None)


def test_views_and_dimensions_are_told_by_name() -> None:
    assert [view_in(each) for each in VIEWS] == list(VIEWS)
    assert dimensions_in(" language, model ,language") == ("language", "model")
    assert dimensions_in("") == ()
    assert Wanted(view="roles").dimensions == BY["roles"]
    assert Wanted(view="roles", by=("day",)).dimensions == ("day",)


def test_what_is_not_known_is_named_with_what_is() -> None:
    with pytest.raises(ConfigError, match=r"'cats' cannot be analysed; one of models, roles"):
        view_in("cats")
    with pytest.raises(ConfigError, match=r"told apart by 'colour'; by some of model, version"):
        dimensions_in("model,colour")
