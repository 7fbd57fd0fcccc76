"""What became of answers: right by outcome, by tests, in operation; and whether a word helped."""

from collections.abc import Iterator, Sequence

import pytest

from tests.unit.analysis.test_lines import REPLY
from twinsmith.analysis.facts import Facts
from twinsmith.analysis.figures import Only, rows, total
from twinsmith.core.behaviour.figures import Dimension, Part, Row
from twinsmith.core.blocks import Block
from twinsmith.core.events import GENESIS, SYSTEM, Event, Json, seal, to_line

Told = tuple[str, dict[str, Json]]


class World:
    """A journal told by hand."""

    def __init__(self) -> None:
        self.facts = Facts()
        self._prev: dict[str, tuple[int, str]] = {}

    def tell(self, chain: str, *told: Told) -> None:
        lines = b""
        for kind, data in told:
            seq, prev = self._prev.get(chain, (0, GENESIS))
            event = Event(run=chain, kind=kind, who="user:ann", data=data)
            at = f"2026-11-01T08:{seq // 60:02}:{seq % 60:02}+00:00"
            entry = seal(event, seq=seq + 1, at=at, prev=prev)
            self._prev[chain] = (seq + 1, entry.hash)
            lines += to_line(entry).encode() + b"\n"
        self.facts.take([Block(chain=chain, text=lines, offset=self._prev[chain][0])])

    def row(self, *by: Dimension, **key: str) -> Row:
        where: dict[Dimension, str] = {name: key[name] for name in by}
        (row,) = rows(self.facts, by, Only(where=where))
        return row


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.facts.close()


def started(kind: str = "function") -> Told:
    return "run.started", {"language": "python", "kind": kind, "settings": "s1"}


def reply(nth: int, **more: Json) -> Told:
    return "model.replied", {**REPLY, "nth": nth, "ensemble": 1 + nth % 2, **more}


def written(number: int, *nths: int, ensemble: int = 1) -> Told:
    shares: list[Json] = [{"nth": nth, "ensemble": ensemble} for nth in nths]
    return "candidate.written", {"candidate": number, "ensemble": ensemble, "shares": shares}


def judged(cells: dict[str, Json], clusters: Sequence[Sequence[int]], winner: int) -> Told:
    checks: list[Json] = [
        {"number": 1, "given": True, "by": "person", "ensembles": []},
        {"number": 2, "given": False, "by": "critic", "ensembles": [1]},
    ]
    alike: list[Json] = [list[Json](each) for each in clusters]
    return "candidates.judged", {
        "columns": [1, 2],
        "cells": cells,
        "clusters": alike,
        "winner": winner,
        "confidence": 0.75,
        "checks": checks,
    }


def ended(winner: int | None) -> Told:
    state = "not solved" if winner is None else "solved"
    return "run.ended", {"state": state, "winner": winner, "confidence": 0.75}


def test_who_did_the_same_as_the_accepted_program_was_right_by_outcome(world: World) -> None:
    world.tell(
        "r",
        started(),
        *(reply(nth, model=f"m:{nth}") for nth in range(3)),
        *(written(nth + 1, nth) for nth in range(3)),
        judged({"1": "pp", "2": "pf", "3": "f."}, [[1, 2], [3]], 1),
        ended(1),
    )
    works = [world.row("model", model=f"m:{nth}").work for nth in range(3)]
    assert [each.accepted for each in works] == [1, 1, 0]
    assert [each.won for each in works] == [1, 0, 0]
    assert [(each.tested, each.right) for each in works] == [(1, 1), (1, 1), (1, 0)]


def test_a_run_that_goes_on_makes_nobody_right(world: World) -> None:
    world.tell("r", started(), reply(0), written(1, 0), judged({"1": "pp"}, [[1]], 1))
    work = total(world.facts, Only()).work
    assert (work.written, work.ended, work.accepted) == (1, 0, 0)


def test_a_program_made_of_two_answers_counts_for_both_authors_and_once_in_all(
    world: World,
) -> None:
    world.tell(
        "r",
        started(),
        reply(0, model="m:a"),
        reply(1, model="m:b"),
        written(1, 0, 1),
        judged({"1": "pp"}, [[1]], 1),
        ended(1),
    )
    assert world.row("model", model="m:a").work.won == 1
    assert world.row("model", model="m:b").work.won == 1
    assert total(world.facts, Only()).work.won == 1


def test_an_answer_that_was_asked_for_again_belongs_to_who_answered_last(world: World) -> None:
    world.tell("r", started(), reply(0, model="m:a", retry=0), reply(0, model="m:b", retry=1))
    world.tell("r", written(1, 0), ended(None))
    assert world.row("model", model="m:a").work.written == 0
    assert world.row("model", model="m:b").work.written == 1


def test_checks_of_a_critic_are_held_against_the_accepted_program(world: World) -> None:
    critic = {"role": "critic", "template": "checks", "unusable": "", "model": "m:c"}
    for number, cell in enumerate(("pp", "pf", "p."), 1):
        world.tell(
            f"r{number}",
            started(),
            reply(0, **critic),
            reply(0),
            written(1, 0),
            judged({"1": cell}, [[1]], 1),
            ended(1),
        )
    told = world.row("model", model="m:c").checks
    assert (told.judged, told.agreed) == (2, 1), "what was not run says nothing"


def test_an_exchange_changed_the_result_where_who_was_told_then_wrote_the_winner(
    world: World,
) -> None:
    crossing: Told = ("insights.crossed", {"source": 1, "to": 2, "lines": ["f(0) is 0"]})
    before = judged({"1": "pp", "2": "fp"}, [[1], [2]], 1)
    first = (started(), reply(0), written(1, 0), written(2, 0, ensemble=2))
    # Nothing new came of it: the leader of before is the winner.
    world.tell("kept", *first, before, crossing, ended(1))
    # The other ensemble wrote the winner, but it does what the leader of before did.
    same = judged({"1": "pp", "3": "pp"}, [[1, 3]], 3)
    world.tell("alike", *first, before, crossing, written(3, 0, ensemble=2), same, ended(3))
    # It wrote one that does something else, and that was accepted.
    other = judged({"1": "fp", "3": "pp"}, [[3], [1]], 3)
    world.tell("changed", *first, before, crossing, written(3, 0, ensemble=2), other, ended(3))
    # Who was not told wrote the winner.
    world.tell("not told", *first, before, crossing, written(3, 0, ensemble=1), other, ended(3))
    # Nobody was told anything.
    world.tell("alone", *first, before, ended(1))
    assert total(world.facts, Only()).part == Part(runs=5, solved=5, told=4, changed=1)
    part = world.row("run", run="changed").part
    assert (part.told, part.changed) == (1, 1)


@pytest.mark.parametrize(
    ("said", "held"),
    [("advisory: a fault is known in a library", 1), ("crash loop: it ended five times", 0)],
)
def test_a_release_held_unless_it_had_an_incident(world: World, said: str, held: int) -> None:
    build(world, "b")
    deploy(world, "d", "b", 1)
    assert total(world.facts, Only()).work.held == 1
    incident: dict[str, Json] = {"incident": "i", "app": "notes", "release": 1}
    world.tell(SYSTEM, ("incident.told", {**incident, "stage": "seen", "text": said}))
    work = total(world.facts, Only()).work
    assert (work.released, work.held) == (1, held)


def test_a_release_that_was_rolled_back_did_not_hold(world: World) -> None:
    for number, name in enumerate("ab", 1):
        build(world, f"b{name}")
        deploy(world, f"d{name}", f"b{name}", number)
    undo: dict[str, Json] = {"state": "done", "app": "notes", "action": "rollback", "release": 1}
    world.tell("undo", ("run.started", {"kind": "rollback", "app": "notes"}))
    world.tell("undo", *[("stage.started", {})] * 30, ("run.ended", undo))
    work = total(world.facts, Only()).work
    assert (work.released, work.held) == (2, 1)
    assert world.row("run", run="ba").work.held == 1
    assert world.row("run", run="bb").work.held == 0


def build(world: World, name: str) -> None:
    world.tell(
        name,
        started("service"),
        reply(0),
        written(1, 0),
        judged({"1": "pp"}, [[1]], 1),
        ended(1),
    )


def deploy(world: World, name: str, source: str, release: int) -> None:
    done: dict[str, Json] = {
        "state": "done",
        "app": "notes",
        "action": "deploy",
        "release": release,
    }
    # Later releases end later.
    later: list[Told] = [("stage.started", {})] * release
    world.tell(name, ("run.started", {"kind": "deploy", "app": "notes", "from": source}))
    world.tell(name, *later, ("run.ended", done))
