"""A board told from events alone: of this version, of earlier ones, and of no version at all."""

import json
from collections.abc import Iterator, Mapping
from itertools import product

import pytest

from twinsmith.core.board import Board, board_of
from twinsmith.core.board_items import Contender, Crossing, Difference, Share, Source
from twinsmith.core.events import Entry, Event, Json
from twinsmith.core.verdict import Finding

Told = tuple[str, Mapping[str, Json]]


def entry(kind: str, data: Mapping[str, Json]) -> Entry:
    event = Event(run="r", kind=kind, who="w", data=data)
    return Entry(seq=1, at="2026-01-01T00:00:00+00:00", event=event, prev="", hash="")


def told(*events: Told) -> Board:
    return board_of("r", [entry(kind, data) for kind, data in events])


def replied(nth: int, ensemble: int, **more: Json) -> tuple[str, dict[str, Json]]:
    data: dict[str, Json] = {"role": "coder", "nth": nth, "ensemble": ensemble, "model": "m"}
    return "model.replied", {**data, "tokens": 10, "seconds": 1.5, **more}


def wrote(number: int, ensemble: int, text: str, **more: Json) -> tuple[str, dict[str, Json]]:
    share: Json = {"name": "", "ensemble": ensemble, "nth": number - 1}
    data: dict[str, Json] = {
        "candidate": number,
        "ensemble": ensemble,
        "way": "direct",
        "language": "python",
        "files": [{"name": "solution.py", "text": text, "cut": False}],
        "shares": [share],
    }
    return "candidate.written", {**data, **more}


REQUIREMENTS: Json = [
    {"number": 1, "text": "adds", "quote": "add items", "refuses": False},
    {"number": 2, "text": "never twice", "quote": "no item twice", "refuses": True},
]
PIECES: Json = [
    {"name": "health", "route": "GET /health", "quote": "", "kit": True},
    {"name": "add", "route": "POST /items", "quote": "add items", "kit": False},
    {"name": "total", "route": "GET /total", "quote": "the total", "kit": False},
]
CHECKS: list[Json] = [
    {"number": 1, "name": "example 1", "text": "f(1)", "expected": "2", "given": True},
    {
        "number": 2,
        "name": "c",
        "text": "assert g()",
        "by": "critic",
        "ensembles": [2],
        "times": 3,
        "requirements": [1],
    },
]
JUDGED: dict[str, Json] = {
    "checks": CHECKS,
    "columns": [1, 2],
    "cells": {"1": "pf", "2": "r."},
    "verdicts": {"1": [1, 2], "2": [0, 2]},
    "barred": [2],
    "scores": {"1": [0.9, 0.5, 1.0, 1.0]},
    "clusters": [[1], [2]],
    "winner": 1,
    "runner_up": 2,
    "confidence": 0.8,
    "separating": {"asked": "f(1)", "leader": "2", "runner_up": "3"},
    "findings": {
        "2": [{"what": "eval", "where": "line 1", "evidence": "eval(x)", "severity": "blocking"}]
    },
}
TWO = (replied(0, 1), replied(1, 2), wrote(1, 1, "a\n"), wrote(2, 2, "b\n"))


def test_candidates_have_their_sources_their_stage_and_what_they_cost() -> None:
    start = ("stage.started", {"stage": "explore"})
    again = replied(0, 1, model="n", tokens=5, retry=1)
    critic = replied(0, 2, role="critic", tokens=99)
    board = told(start, replied(0, 1), again, critic, wrote(1, 1, "a\n"))
    assert board.candidates == (
        Contender(
            number=1,
            ensemble=1,
            way="direct",
            stage="explore",
            language="python",
            files=(Source(name="solution.py", text="a\n"),),
            shares=(Share(ensemble=1, nth=0),),
            models=("m", "n"),
            tokens=15,
            seconds=3.0,
        ),
    )
    assert board.stage == "explore"
    assert told(start, ("stage.finished", {"stage": "explore"})).stage == ""


def test_the_heat_map_has_outcomes_by_candidate_and_check() -> None:
    board = told(*TWO, ("candidates.judged", JUDGED))
    rows = [[board.outcome(each, check) for check in (1, 2)] for each in (1, 2)]
    assert rows == [["passed", "failed"], ["raised", ""]]
    assert (board.outcome(7, 1), board.outcome(1, 7)) == ("", "")
    first, second = board.checks
    assert (first.given, first.expected, second.ensembles, second.times) == (True, "2", (2,), 3)
    assert second.requirements == (1,)
    best, other = board.candidates
    assert (best.passed, best.total, best.barred, other.barred) == (1, 2, False, True)
    assert best.score is not None
    assert (best.score.total, other.score) == (0.9, None)
    finding = Finding(what="eval", where="line 1", evidence="eval(x)", severity="blocking")
    assert board.findings == {2: (finding,)}
    assert (board.leader, board.runner_up, board.confidence) == (1, 2, 0.8)
    assert board.clusters == ((1,), (2,))
    assert board.separating == Difference(asked="f(1)", leader="2", runner_up="3")


def test_a_check_that_was_told_before_keeps_its_column() -> None:
    later: dict[str, Json] = {**JUDGED, "checks": [], "columns": [2], "cells": {"2": "p"}}
    board = told(*TWO, ("candidates.judged", JUDGED), ("candidates.judged", later))
    assert [each.name for each in board.checks] == ["c"]
    assert (board.outcome(2, 2), board.outcome(1, 1)) == ("passed", "")
    fresh: list[Json] = [{"number": 2, "name": "c", "text": "assert g()", "times": 9}]
    more: dict[str, Json] = {**later, "checks": fresh, "findings": {}}
    board = told(*TWO, ("candidates.judged", JUDGED), ("candidates.judged", more))
    assert board.checks[0].times == 9
    # What was found before and is not told again still holds.
    assert list(board.findings) == [2]


def test_two_candidates_are_compared_line_by_line() -> None:
    side: list[Json] = [
        {"name": "solution.py", "text": "a\nb\n"},
        {"name": "words.py", "text": "w\n"},
    ]
    board = told(wrote(1, 1, "a\nc\n"), wrote(2, 2, "", files=side))
    assert board.diff(1, 2) == (
        "--- 1/solution.py\n+++ 2/solution.py\n@@ -1,2 +1,2 @@\n a\n-c\n+b\n"
        "--- 1/words.py\n+++ 2/words.py\n@@ -0,0 +1 @@\n+w"
    )
    assert board.diff(1, 1) == ""
    assert board.diff(7, 8) == ""
    assert board.candidate(7) is None


def test_a_file_that_an_earlier_candidate_has_is_told_by_its_number() -> None:
    same: list[Json] = [{"name": "solution.py", "as": 1}, {"name": "solution.py", "as": 9}]
    board = told(wrote(1, 1, "a\n"), wrote(2, 2, "", files=same))
    assert board.candidates[1].files == (Source(name="solution.py", text="a\n"),)


def test_requirements_are_open_until_something_is_shown_of_them() -> None:
    read: Told = ("requirements.read", {"requirements": REQUIREMENTS})
    board = told(read, read)
    assert [(each.number, each.state, each.refuses) for each in board.requirements] == [
        (1, "open", False),
        (2, "open", True),
    ]
    shown: list[Json] = [
        {"number": 1, "met": True, "shown": ["adds up"], "functions": ["add"]},
        {"number": 2, "met": False, "why": "nothing shows it"},
        {"number": 3, "text": "SMS", "met": False, "why": "not supported: SMS"},
    ]
    board = told(read, ("requirements.shown", {"requirements": shown}), read)
    assert [each.state for each in board.requirements] == ["met", "not met", "not met"]
    first, second, third = board.requirements
    assert (first.quote, first.shown, second.why) == ("add items", ("adds up",), "nothing shows it")
    assert third.text == "SMS"


def written(number: int, ensemble: int, *shares: Share) -> tuple[str, dict[str, Json]]:
    listed: list[Json] = [
        {"name": each.name, "ensemble": each.ensemble, "nth": each.nth} for each in shares
    ]
    return wrote(number, ensemble, "", shares=listed)


ADD, TOTAL = Share(name="add", ensemble=1, nth=0), Share(name="total", ensemble=1, nth=1)
ANEW = Share(name="total", ensemble=2, nth=5)


def states(*events: Told) -> list[str]:
    return [each.state for each in told(("pieces.planned", {"pieces": PIECES}), *events).pieces]


def test_a_piece_is_planned_written_found_wrong_written_anew_and_shown() -> None:
    first, second = written(1, 1, ADD, TOTAL), written(2, 1, ADD, ANEW)
    wrong: Told = (
        "pieces.judged",
        {"wrong": [{"name": "total", "why": "it is 0"}]},
    )
    met: list[Json] = [{"number": 1, "met": True, "functions": ["add", "total"]}]
    shown: Told = ("requirements.shown", {"requirements": met})
    unmet: list[Json] = [{"number": 2, "met": False, "functions": ["total"]}]
    assert states() == ["kit", "planned", "planned"]
    assert states(first) == ["kit", "written", "written"]
    assert states(first, wrong) == ["kit", "written", "wrong"]
    assert states(first, wrong, ("pieces.judged", {"wrong": []})) == ["kit", "written", "written"]
    assert states(first, wrong, second) == ["kit", "written", "written"]
    assert states(first, wrong, second, shown) == ["kit", "shown", "shown"]
    later: Told = ("requirements.shown", {"requirements": unmet})
    assert states(first, shown, later) == ["kit", "shown", "written"]


def test_a_whole_program_holds_every_piece_and_a_complaint_about_it_is_about_all() -> None:
    whole = written(1, 1, Share(name="the program", ensemble=1, nth=0))
    wrong: list[Json] = [{"name": "the program", "why": "it stops"}]
    assert states(whole) == ["kit", "written", "written"]
    assert states(whole, ("pieces.judged", {"wrong": wrong})) == ["kit", "wrong", "wrong"]


def test_insights_and_parts_cross_between_ensembles_once() -> None:
    insight: dict[str, Json] = {"source": 1, "to": 2, "kind": "counterexamples", "lines": ["x"]}
    board = told(
        ("insights.crossed", insight),
        written(1, 1, ADD),
        written(2, 2, ADD, ANEW),
        written(3, 2, ADD, ANEW),
        wrote(4, 2, "", shares=[], of=[1, 2, 9]),
    )
    assert [(each.source, each.to, each.kind, each.lines) for each in board.crossings] == [
        (1, 2, "counterexamples", ("x",)),
        (1, 2, "pieces", ("candidate 2 has add of ensemble 1",)),
        (1, 2, "pieces", ("candidate 4 has parts of candidate 1",)),
    ]
    assert isinstance(board.crossings[0], Crossing)


def test_who_is_handed_over_is_known_in_the_end() -> None:
    board = told(*TWO, ("candidates.judged", JUDGED))
    assert (board.leader, board.winner) == (1, None)
    ended = told(
        *TWO, ("candidates.judged", JUDGED), ("run.ended", {"state": "solved", "winner": 2})
    )
    assert (ended.leader, ended.winner, ended.confidence) == (2, 2, 0.8)
    failed = told(*TWO, ("candidates.judged", JUDGED), ("run.ended", {"winner": None}))
    assert (failed.leader, failed.winner) == (1, None)


def test_an_older_journal_tells_candidates_by_how_they_were_compared() -> None:
    compared: dict[str, Json] = {
        "best": "candidate 2 of 2",
        "winner": 2,
        "confidence": 0.7,
        "clusters": [[2], [1]],
        "ensembles": {"1": "1, 0/3 checks", "2": "2, 3/3 checks", "x": "?", "3": None},
    }
    board = told(replied(0, 1), replied(1, 2), ("candidates.compared", compared))
    assert [(e.number, e.ensemble, e.tokens, e.files) for e in board.candidates] == [
        (1, 1, 10, ()),
        (2, 2, 10, ()),
    ]
    assert (board.leader, board.confidence, board.clusters) == (2, 0.7, ((2,), (1,)))
    assert [each.number for each in board.of(2)] == [2]
    assert (board.checks, board.outcome(1, 1), board.diff(1, 2)) == ((), "", "")
    # The same event does not take away what a newer journal tells.
    newer = told(*TWO, ("candidates.judged", JUDGED), ("candidates.compared", compared))
    assert [each.files[0].text for each in newer.candidates] == ["a\n", "b\n"]
    service = told(("candidates.compared", {"winner": 3, "ensembles": {"1": "3, 5/9 checks"}}))
    assert [(each.number, each.ensemble) for each in service.candidates] == [(3, 1)]


def test_nothing_told_is_an_empty_board() -> None:
    assert told() == Board(run="r")
    assert told(("something.new", {"a": 1}), ("stage.started", {})) == Board(run="r")


WRONG: list[Json] = [
    10**400,
    *json.loads(
        '[null, true, -1, 2.5, NaN, "", "a,b", [], {}, [null, [1], {"number": "x"}, {"name": 1}],'
        ' {"1": null, "x": [], "2": {"a": 1}}, [{"number": 1}, {"name": "add"}, {"nth": "0"}],'
        ' {"1": "zz", "2": [1], "3": [null, null, null, null]}]'
    ),
]
KINDS = (
    *("stage.started", "stage.finished", "requirements.read", "requirements.shown", "plan.made"),
    *("pieces.planned", "pieces.judged", "model.replied", "candidate.written", "run.ended"),
    *("candidates.compared", "candidates.judged", "insights.crossed"),
)
MEMBERS = (
    *("stage", "requirements", "ensemble", "text", "pieces", "wrong", "role", "nth", "candidate"),
    *("files", "shares", "of", "repairs", "clusters", "ensembles", "winner", "confidence"),
    *("checks", "columns", "cells", "verdicts", "barred", "scores", "findings", "separating"),
    *("source", "to", "lines", "kind", "tokens", "seconds", "model", "runner_up"),
)


def damaged() -> Iterator[tuple[str, dict[str, Json]]]:
    """Every kind of event with nothing, with everything wrong, and with one thing wrong in turn."""
    whole: dict[str, dict[str, Json]] = {
        "candidate.written": wrote(3, 1, "c\n")[1],
        "candidates.judged": JUDGED,
        "model.replied": replied(2, 1)[1],
    }
    for kind in KINDS:
        yield kind, {}
        for value in WRONG:
            yield kind, dict.fromkeys(MEMBERS, value)
        for name, value in product(MEMBERS, WRONG):
            yield kind, {**whole.get(kind, {}), name: value}


def test_data_of_the_wrong_type_never_stops_the_board() -> None:
    before = (*TWO, ("pieces.planned", {"pieces": PIECES}), ("candidates.judged", JUDGED))
    for kind, data in damaged():
        board = told(*before, (kind, data), wrote(5, 1, "e\n"))
        assert board.candidate(5) is not None, (kind, data)
        board.diff(1, 2)
        for candidate, check in product((1, 2, 3), (1, 2, 3)):
            assert isinstance(board.outcome(candidate, check), str)


@pytest.mark.parametrize("letters", ["?", "p?", "", "ppppp", 3, None, ["p"]])
def test_cells_that_nobody_can_read_count_as_not_run(letters: Json) -> None:
    judged: dict[str, Json] = {**JUDGED, "cells": {"1": letters}}
    board = told(*TWO, ("candidates.judged", judged))
    assert {board.outcome(1, check) for check in (1, 2)} <= {"passed", ""}
