"""Scripted builds, and the boards that come of their events: both tell the same."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.cart import Cart, cart_job
from tests.service_scripts import DIALOGUES, PIECES
from tests.unit.flow.test_mend import BROKEN, mending
from tests.worlds import (
    DOUBLE,
    POSITIVE,
    SQUARE,
    TASK,
    TRIPLE,
    World,
    job_of,
    saying,
)
from twinsmith.core.board import Board, board_of
from twinsmith.core.board_items import Share
from twinsmith.core.effort import Effort
from twinsmith.core.model import Prompt
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.verdict import Finding
from twinsmith.flow.build.chronicle import MOST_SOURCE

EXAMPLES = f"{TASK}\n>>> double(4)\n8\n>>> double(-3)\n-6\n"
ZERO = "assert double(0) == 0"
FULL = Effort(candidates=16, enough=1.0, least=0.0, votes=0)
NEW = {
    *("candidate.written", "candidates.judged", "requirements.read", "requirements.shown"),
    *("plan.made", "pieces.planned", "pieces.judged", "insights.crossed"),
}


def board(world: World) -> Board:
    return board_of("r1", world.journal.entries("r1"))


def agree(seen: Board, outcome: RunOutcome) -> None:
    """Everything that the outcome of a run says of its candidates stands on its board."""
    assert [each.number for each in seen.candidates] == [v.candidate for v in outcome.verdicts]
    assert seen.confidence == pytest.approx(outcome.confidence, abs=0.001)
    if outcome.solved:
        assert seen.leader == outcome.winner
    for verdict in outcome.verdicts:
        row = seen.candidate(verdict.candidate)
        assert row is not None
        assert (row.passed, row.total) == (verdict.passed, verdict.total)
        passed = [seen.outcome(row.number, check.number) for check in seen.checks].count("passed")
        assert passed == verdict.passed
        assert verdict.accepted == all(
            finding.severity == "note" for finding in seen.findings[row.number]
        )


def asked_of_coders(world: World) -> int:
    """The tokens that all answers of coders cost."""
    replies = (e.event for e in world.journal.entries("r1") if e.event.kind == "model.replied")
    return sum(int(str(each.data["tokens"])) for each in replies if each.data["role"] == "coder")


async def test_the_board_of_a_function_has_sources_checks_cells_and_the_winner() -> None:
    world = World(saying(coder=[SQUARE, DOUBLE]))
    outcome = await world.build(job_of(EXAMPLES.replace("\n>>> double(-3)\n-6", "")))
    seen = board(world)
    agree(seen, outcome)
    assert (outcome.winner, seen.leader, seen.winner) == (2, 2, None)
    assert [each.files[0].text for each in seen.candidates] == [SQUARE, DOUBLE]
    assert [(e.ensemble, e.stage, e.models) for e in seen.candidates] == [
        (1, "explore", ("fake:m",)),
        (2, "explore", ("fake:m",)),
    ]
    assert sum(each.tokens for each in seen.candidates) == asked_of_coders(world)
    assert [(each.text, each.expected, each.by) for each in seen.checks] == [
        ("double(4)", "8", "task")
    ]
    assert [seen.outcome(number, 1) for number in (1, 2)] == ["failed", "passed"]
    assert seen.findings[1][0].evidence == "double(4) gave 16, not 8"
    assert seen.clusters == ((2,),)
    assert "-    return n * n\n+    return n * 2" in seen.diff(1, 2)


async def test_edits_mended_programs_and_plans_stand_with_what_they_came_of() -> None:
    def say(prompt: Prompt) -> str:
        if prompt.role == "slow":
            return f"Plan {prompt.nth}."
        if prompt.role == "critic":
            return "assert double(5) == 10"
        if "It fails this:" in prompt.text:
            return TRIPLE
        return {1: SQUARE, 2: POSITIVE}[prompt.ensemble]

    world = World(say)
    outcome = await world.build(job_of(EXAMPLES, effort=replace(FULL, variants=0)))
    seen = board(world)
    agree(seen, outcome)
    assert [(each.ensemble, each.text, each.stage) for each in seen.plans] == [
        (1, "Plan 1.", "rethink"),
        (2, "Plan 2.", "rethink"),
    ]
    mended = [each for each in seen.candidates if each.way == "refined"]
    assert mended
    for each in mended:
        (parent,) = each.of
        before = seen.candidate(parent)
        assert before is not None
        assert (before.ensemble, each.stage.partition(" ")[0]) == (each.ensemble, "refine")
    crossed = {(each.source, each.to): each.lines for each in seen.crossings}
    assert "- double(4) gave 16; right is 8" in crossed[1, 2]
    assert "- double(-3) gave 6; right is -6" in crossed[2, 1]
    assert {each.kind for each in seen.crossings} == {"counterexamples"}


async def test_an_edit_names_its_parent_and_cost_nothing() -> None:
    world = World(saying(coder=[TRIPLE], slow=["Plan."]))
    await world.build(job_of(EXAMPLES, effort=replace(FULL, refinements=0)))
    seen = board(world)
    edits = [each for each in seen.candidates if each.way == "varied"]
    assert edits
    for each in edits:
        assert len(each.of) == 1
        assert (each.shares, each.tokens) == ((), 0)


async def test_kept_apart_nothing_crosses() -> None:
    def say(prompt: Prompt) -> str:
        if prompt.role == "slow":
            return "Plan."
        return ZERO if prompt.role == "critic" else {1: SQUARE, 2: POSITIVE}[prompt.ensemble]

    for exchange in (True, False):
        world = World(say)
        effort = replace(FULL, exchange=exchange, refinements=0)
        await world.build(job_of(EXAMPLES, effort=effort))
        assert len(board(world).plans) == 2
        assert bool(board(world).crossings) == exchange


async def test_a_run_that_is_resumed_tells_nothing_twice() -> None:
    world, job = World(saying(coder=[SQUARE, DOUBLE])), job_of(EXAMPLES)
    await world.build(job)
    before = board(world)
    count = len(world.kinds())
    # Another process, with all that the engine remembers.
    del world.records["r1:end"]
    await world.build(job)
    assert (board(world), len(world.kinds())) == (before, count)


async def test_a_reviewers_objection_stands_beside_the_candidate() -> None:
    bad = Finding(what="ruff S105", where="line 2", evidence="a password", severity="blocking")
    world = World(saying(coder=[DOUBLE, POSITIVE]))
    world.findings = {DOUBLE: (bad,)}
    outcome = await world.build(job_of())
    seen = board(world)
    agree(seen, outcome)
    assert [each.barred for each in seen.candidates] == [True, False]
    assert seen.findings[1] == (bad,)


async def test_long_sources_are_told_as_long_as_there_is_room() -> None:
    long = [f"{DOUBLE}# {nth}\n" + f"# {'x' * 70}\n" * 300 for nth in range(40)]
    world = World(saying(coder=long, slow=["Plan."], critic=["Hm."]))
    job = job_of(effort=replace(FULL, candidates=40, variants=0, refinements=0))
    await world.build(replace(job, reply_tokens=20_000, budget=replace(job.budget, tokens=10**7)))
    texts = [each.files[0] for each in board(world).candidates]
    assert len(texts) == 40
    assert all(each.cut for each in texts)
    assert sum(len(each.text) for each in texts) == MOST_SOURCE
    told = [e.event.data for e in world.journal.entries("r1") if e.event.kind in NEW]
    assert sum(len(json.dumps(dict(each))) for each in told) < 1_000_000


async def test_the_board_of_a_service_has_requirements_plans_and_pieces() -> None:
    world = Cart()
    outcome = await world.build(cart_job())
    seen = board(world)
    agree(seen, outcome)
    assert (outcome.winner, seen.leader) == (1, 1)
    assert {each.state for each in seen.requirements} == {"met"}
    assert {each.ensemble for each in seen.plans} == {1, 2}
    assert [(each.name, each.route, each.state) for each in seen.pieces[3:]] == [
        ("add_item", "POST /cart/items", "shown"),
        ("remove_item", "DELETE /cart/items/{id}", "shown"),
        ("see_total", "GET /cart/total", "shown"),
    ]
    assert {each.state for each in seen.pieces[:3]} == {"kit"}
    first, second = seen.candidates
    assert first.shares[2] == Share(name="see_total", ensemble=1, nth=2)
    assert [each.ensemble for each in second.shares] == [2, 2, 2]
    assert first.tokens + second.tokens == asked_of_coders(world)
    assert [each.name for each in first.files] == ["solution.py", "contract.py", "kit.py"]
    total = next(each for each in seen.requirements if each.quote == "see the total")
    own = [each for each in seen.checks if total.number in each.requirements]
    assert {seen.outcome(1, each.number) for each in own} == {"passed"}
    assert own[0].ensembles == (1, 2)


FORGETFUL: Mapping[str, str] = {
    **PIECES,
    "see_total": PIECES["see_total"].replace('row["quantity"] * ', ""),
}


async def test_a_piece_that_is_written_anew_has_versions_and_those_of_others_cross() -> None:
    world = Cart(FORGETFUL, later={"see_total": PIECES["see_total"]})
    right = world.say

    def say(prompt: Prompt) -> str:
        if world.piece(prompt) == "add_item" and prompt.ensemble == 2:
            return "I would rather not."
        return right(prompt)

    world.say = say
    outcome = await world.build(cart_job())
    assert outcome.solved, outcome.reason
    seen = board(world)
    agree(seen, outcome)
    assert seen.leader == outcome.winner
    (total,) = (each for each in seen.pieces if each.name == "see_total")
    assert (total.state, len(total.versions)) == ("shown", 4)
    assert seen.crossings[0].lines == ("candidate 2 has add_item of ensemble 1",)
    anew = [each for each in seen.candidates if each.stage == "again 1"]
    assert "see_total" in {share.name for each in anew for share in each.shares}
    at = next(e for e in world.journal.entries("r1") if e.event.kind == "pieces.judged")
    before = board_of("r1", world.journal.entries("r1")[: at.seq])
    assert "see_total" in [each.name for each in before.pieces if each.state == "wrong"]


async def test_without_a_plan_the_requirements_are_on_the_board_all_the_same() -> None:
    world = Cart(dialogues=DIALOGUES)
    right = world.say
    world.say = lambda p: "no idea" if "You plan an HTTP service" in p.text else right(p)
    await world.build(cart_job())
    seen = board(world)
    assert [each.state for each in seen.requirements] == ["open"] * 4
    assert (seen.pieces, seen.candidates, seen.leader) == ((), (), None)


async def test_the_board_of_a_fix_begins_with_what_is_deployed() -> None:
    world = Cart()
    outcome = await world.build(mending(BROKEN))
    seen = board(world)
    agree(seen, outcome)
    assert seen.leader == outcome.winner
    deployed, *versions = seen.candidates
    assert (deployed.stage, deployed.tokens) == ("reproduce", 0)
    assert deployed.files[0].text == BROKEN.source
    assert {each.way for each in versions} == {"refined"}
    assert sum(each.tokens for each in versions) > 0
    assert seen.outcome(1, 1) in ("failed", "raised")
    assert seen.outcome(seen.leader or 0, 1) == "passed"
    assert "-    1 / len" in seen.diff(1, seen.leader or 0)


async def test_the_requirements_of_a_library_are_read_and_shown() -> None:
    asked = {"what": "twice a number", "quote": "gives twice a number", "refuses": False}
    outline = {"parts": [{"name": "double", "signature": "def double(n):", "does": "twice n"}]}

    def say(prompt: Prompt) -> str:
        if prompt.role == "slow":
            told = {"requirements": [asked]} if "requirements" in prompt.schema else outline
            return json.dumps(told)
        return "assert double(2) == 4" if prompt.role == "critic" else DOUBLE

    world, job = World(say), job_of(EXAMPLES)
    outcome = await world.build(replace(job, task=replace(job.task, kind="library")))
    seen = board(world)
    agree(seen, outcome)
    (only,) = seen.requirements
    assert (only.quote, only.state) == ("gives twice a number", "met")
    assert only.shown
