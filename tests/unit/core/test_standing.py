from dataclasses import replace

import pytest

from tests.service_scripts import CART, PLAN
from twinsmith.core.execution import ProbeResult
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.requirement import Requirement, Requirements
from twinsmith.core.planning.standing import (
    Asked,
    Standing,
    Trial,
    plain_standings,
    refused_by,
    standings,
    table,
    transcript,
)
from twinsmith.core.probe import ABOUT_ACCOUNTS, Probe

CONTRACT = read_contract(PLAN, CART, login="with user accounts")
ENTERING = Requirement(number=1, what="user accounts", quote="with user accounts")
REMOVING = Requirement(number=2, what="remove them", quote="remove them")
TOTAL = Requirement(number=3, what="see the total", quote="see the total")


def trial(
    about: int,
    *telling: str,
    passed: bool = True,
    elsewhere: bool = False,
    seen: object = "",
    source: str = "see_total('ann')",
) -> Trial:
    result = ProbeResult(
        name="a check", outcome="passed" if passed else "failed", value=repr(seen) if seen else ""
    )
    probe = Probe(name="a check", origin="plan", source=source, about=about)
    return Trial(probe=probe, result=result, telling=frozenset(telling), elsewhere=elsewhere)


def stands(requirement: Requirement, *trials: Trial) -> Standing:
    (found,) = standings([requirement], CONTRACT, trials)
    return found


class TestMet:
    def test_what_passes_and_would_fail_without_the_function_shows_it(self) -> None:
        found = stands(TOTAL, trial(3, "add_item", "see_total"))
        assert found.met
        assert (found.functions, found.shown) == (("see_total",), ("a check",))

    def test_what_would_pass_without_the_function_shows_nothing(self) -> None:
        found = stands(TOTAL, trial(3, "add_item"), trial(3))
        assert (found.met, found.shown) == (False, ())
        assert found.why == "no check that could fail has shown it"

    def test_checks_of_another_requirement_show_nothing(self) -> None:
        assert not stands(TOTAL, trial(2, "see_total")).met

    def test_a_check_for_none_in_particular_counts_where_its_function_is_called(self) -> None:
        assert stands(TOTAL, trial(0, "see_total")).met
        other = trial(0, "see_total", source="remove_item('ann', 1)")
        assert not stands(TOTAL, other).met

    def test_without_any_check_it_is_not_met(self) -> None:
        assert stands(TOTAL).why == "no check that could fail has shown it"

    def test_what_nobody_passes_is_not_met_and_says_what(self) -> None:
        found = stands(TOTAL, trial(3, passed=False))
        assert found.why == "it does not do what was expected: a check"

    def test_what_no_part_does_is_not_met(self) -> None:
        odd = Requirement(number=4, what="xyzzy", quote="xyzzy")
        assert stands(odd, trial(4, "see_total")).why == "no part of the program does it"


class TestIntroductions:
    """A requirement that says what the program is: it is what its parts are."""

    SHOP = Requirement(number=5, what="a shopping cart", quote="a REST API for a shopping cart")
    PARTS = tuple(each.function for each in CONTRACT.pieces)

    def test_it_is_met_where_each_part_is_shown(self) -> None:
        trials = [trial(2, name) for name in self.PARTS]
        found = stands(self.SHOP, *trials)
        assert (found.met, len(found.shown)) == (True, len(self.PARTS))
        assert not stands(self.SHOP, *trials[1:]).met
        assert not stands(self.SHOP, *trials[:-1]).met
        assert not stands(self.SHOP, *trials[1:], trial(2, self.PARTS[0], passed=False)).met

    def test_a_check_of_its_own_that_fails_is_heard(self) -> None:
        trials = [trial(2, name) for name in self.PARTS]
        assert not stands(self.SHOP, *trials, trial(5, passed=False)).met

    def test_what_says_more_than_that_needs_checks_of_its_own(self) -> None:
        for quote in ("users add products to their own cart", "users make and write carts"):
            plain = replace(self.SHOP, quote=quote)
            assert not stands(plain, *(trial(2, name) for name in self.PARTS)).met


class TestAgainst:
    WRONG = trial(3, passed=False, elsewhere=True)

    def test_what_most_others_pass_speaks_against_it(self) -> None:
        found = stands(TOTAL, self.WRONG)
        assert not found.met
        assert found.against == ("a check",)
        assert found.why == "most others pass a check that this one fails: a check"

    def test_what_is_shown_less_often_than_it_is_contradicted_is_not_met(self) -> None:
        right = trial(3, "see_total")
        assert not stands(TOTAL, right, self.WRONG, self.WRONG).met

    def test_what_nobody_else_passes_speaks_against_nobody(self) -> None:
        found = stands(TOTAL, trial(3, "see_total"), trial(3, passed=False))
        assert found.met
        assert found.against == ()


class TestRefusals:
    REFUSAL = replace(REMOVING, refuses=True)

    def test_only_a_refusal_that_was_seen_shows_it(self) -> None:
        seen = [["DELETE", "/cart/items/7", 404, "application/json", "{}"]]
        assert stands(self.REFUSAL, trial(2, "remove_item", seen=seen)).met
        # A check that a program of empty answers passes says nothing, whatever was refused in it.
        assert not stands(self.REFUSAL, trial(2, seen=seen)).met
        done = [["DELETE", "/cart/items/7", 204, "", ""]]
        assert not stands(self.REFUSAL, trial(2, "remove_item", seen=done)).met
        assert not stands(self.REFUSAL, trial(2, "remove_item")).met

    @pytest.mark.parametrize(
        ("entry", "refused"),
        [
            (["DELETE", "/cart/items/7", 404, "", ""], True),
            (["DELETE", "/cart/items/7?soft=1", 409, "", ""], True),
            (["DELETE", "/cart/items/7", 500, "", ""], False),
            (["DELETE", "/cart/items/7", 200, "", ""], False),
            (["GET", "/cart/items/7", 404, "", ""], False),
            (["DELETE", "/cart/items/7/more", 404, "", ""], False),
            (["DELETE", "/cart/items", 404, "", ""], False),
        ],
    )
    def test_by_method_path_and_status(self, entry: list[object], *, refused: bool) -> None:
        result = ProbeResult(name="x", outcome="passed", value=repr([entry]))
        assert refused_by(result, CONTRACT.called("remove_item")) is refused

    @pytest.mark.parametrize("value", ["", "no list (", "[1, 2]", "[['…']]"])
    def test_a_transcript_that_cannot_be_read_is_empty(self, value: str) -> None:
        assert transcript(ProbeResult(name="x", outcome="passed", value=value)) == []


class TestAccounts:
    def test_what_the_kit_brings_is_shown_by_what_strangers_try(self) -> None:
        found = stands(ENTERING, trial(ABOUT_ACCOUNTS))
        assert found.met
        assert found.functions == ("register", "login")
        assert not stands(ENTERING, trial(ABOUT_ACCOUNTS, passed=False)).met
        assert not stands(ENTERING).met

    def test_checks_of_accounts_show_nothing_else(self) -> None:
        assert not stands(TOTAL, trial(ABOUT_ACCOUNTS, "see_total")).met


def test_a_library_is_judged_by_the_checks_written_for_each_requirement() -> None:
    right, empty = trial(2, "f"), trial(3)
    first, second = plain_standings([REMOVING, TOTAL], [right, empty])
    assert (first.met, second.met) == (True, False)
    held = replace(trial(3, "f", passed=False), holds=True)
    assert plain_standings([TOTAL], [held])[0].met


def test_the_table_has_a_line_for_each_and_survives_a_bar() -> None:
    shown = ("a | b", "c", "d", "e")
    met = Standing(requirement=replace(TOTAL, quote="x | y"), functions=("f",), shown=shown)
    not_met = Standing(requirement=REMOVING, why="no | reason")
    lines = table([met, not_met]).splitlines()
    assert lines[2] == r"| 3 | x \| y | `f` | `a \| b`; `c`; `d` and 1 more | met |"
    assert lines[3] == r"| 2 | remove them |  |  | **not met**: no \| reason |"
    asked = Asked(requirements=Requirements(), contract=CONTRACT, standings=(met, not_met))
    assert asked.unmet == (not_met,)
