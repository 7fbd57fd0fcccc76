"""The behaviour of models, summed up from entries and boards."""

from dataclasses import replace

from twinsmith.core.behaviour import Calls, Conduct, Fates, Seat, added, after, judged, total
from twinsmith.core.board import Board
from twinsmith.core.board_items import Contender, Criterion
from twinsmith.core.events import Entry, Event, Json, seal

CODER = Seat("openai:gpt-4o-mini", "2024-07-18", "coder")
REPLY: dict[str, Json] = {
    "role": "coder",
    "nth": 0,
    "ensemble": 1,
    "model": CODER.model,
    "version": CODER.version,
    "tokens_in": 100,
    "tokens_out": 40,
    "seconds": 2.0,
    "first_token_seconds": 0.5,
    "usd": 0.01,
    "cached": False,
    "failed_attempts": [],
}


def reply(at: str = "2026-11-18T10:00:00+00:00", **changed: Json) -> Entry:
    event = Event(run="r1", kind="model.replied", who="coder", data={**REPLY, **changed})
    return seal(event, seq=1, at=at, prev="0")


def board(*candidates: Contender, winner: int | None = None) -> Board:
    """A board with a given check and a proposed one; odd candidates pass the given one."""
    return Board(
        run="r1",
        candidates=candidates,
        checks=(
            Criterion(number=1, name="given", text="f(1)", given=True),
            Criterion(number=2, name="proposed", text="f(2)"),
        ),
        cells={
            each.number: {1: "passed" if each.number % 2 else "failed", 2: "failed"}
            for each in candidates
        },
        winner=winner,
    )


def wrote(number: int, problem: str = "") -> Contender:
    return Contender(number=number, ensemble=1, models=(CODER.model,), problem=problem)


def test_calls_are_summed_by_seat_and_day() -> None:
    conduct = after(Conduct(), [reply(), reply(at="2026-11-19T00:00:01+00:00", seconds=4.0)])
    assert conduct.seats()[CODER].answered == 2
    assert conduct.seats()[CODER].pace == 3.0
    days = conduct.days()[CODER.model]
    assert list(days) == ["2026-11-18", "2026-11-19"]
    assert days["2026-11-19"].pace == 4.0


def test_what_the_cache_answers_took_no_time_and_no_money() -> None:
    calls = after(Conduct(), [reply(), reply(cached=True, usd=None, seconds=9.0)]).seats()[CODER]
    assert (calls.answered, calls.asked, calls.cached) == (2, 1, 1)
    assert (calls.pace, calls.price, calls.unpriced) == (2.0, 0.01, 0)
    assert calls.length == 40


def test_a_price_that_nobody_knows_is_none() -> None:
    calls = after(Conduct(), [reply(usd=None)]).seats()[CODER]
    assert calls.price is None
    assert (Calls().pace, Calls().first, Calls().length, Calls().price) == (None,) * 4


def test_tries_in_vain_count_against_the_model_that_was_tried() -> None:
    tried: list[Json] = ["google:gemini-2.5-pro: 503 overloaded", "left alone", 4]
    seats = after(Conduct(), [reply(failed_attempts=tried)]).seats()
    assert seats[CODER].failed == 0
    assert seats[Seat("google:gemini-2.5-pro", "", "coder")].failed == 1
    own: list[Json] = [f"{CODER.model}: timeout"]
    assert after(Conduct(), [reply(failed_attempts=own)]).seats()[CODER].failed == 1


def test_candidates_are_held_against_given_checks_alone() -> None:
    conduct = after(Conduct(), [reply()])
    found = board(wrote(1), wrote(2), wrote(3, problem="no code"), winner=1)
    fates = judged(conduct, found, ended=True, solved=True).fates[CODER]
    assert fates == Fates(runs=1, solved=1, written=3, broken=1, judged=3, right=2, won=1)


def test_without_given_checks_nothing_is_right_or_wrong() -> None:
    found = replace(board(wrote(1)), checks=(), cells={})
    fates = judged(after(Conduct(), [reply()]), found, ended=False, solved=False).fates[CODER]
    assert fates == Fates(written=1)


def test_runs_are_summed_and_nothing_is_lost() -> None:
    one = judged(after(Conduct(), [reply()]), board(wrote(1)), ended=True, solved=False)
    both = total([one, one])
    assert both.seats()[CODER].answered == 2
    assert both.fates[CODER].runs == 2
    assert total([]) == Conduct()
    assert added(Fates(won=1), Fates(won=2)).won == 3


def test_versions_are_told_apart_and_together() -> None:
    later = reply(at="2026-11-20T00:00:00+00:00", version="2025-01-01")
    conduct = after(Conduct(), [reply(), later])
    assert list(conduct.versions()[CODER.model]) == ["2024-07-18", "2025-01-01"]
    assert conduct.chosen(CODER.model)["coder"][0].answered == 2
    assert conduct.chosen(CODER.model, "2025-01-01")["coder"][0].answered == 1
    assert conduct.chosen("nobody") == {}


def test_other_events_and_odd_ones_change_nothing_that_matters() -> None:
    asked = replace(reply(), event=replace(reply().event, kind="model.asked"))
    assert after(Conduct(), [asked]) == Conduct()
    odd = reply(model=3, seconds="x", tokens_out=None, failed_attempts="y")
    assert after(Conduct(), [odd]).seats()[Seat("nobody", "2024-07-18", "coder")].answered == 1
