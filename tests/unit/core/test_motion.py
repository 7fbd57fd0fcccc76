"""What moves between the parts of the system, entry by entry."""

from dataclasses import replace

import pytest

from twinsmith.core.anatomy import PARTS, WAYS, Way, of
from twinsmith.core.events import SYSTEM, Entry, Event, Json, seal
from twinsmith.core.motion import LIT_SECONDS, Motion, advance, lit, moves

AT = "2026-11-18T10:00:00.000000+00:00"
LATER = "2026-11-18T10:00:09.000000+00:00"
MUCH_LATER = "2026-11-18T10:00:11.000000+00:00"
CALL: dict[str, Json] = {"role": "coder", "nth": 3, "ensemble": 2, "purpose": "answer"}
REPLY: dict[str, Json] = {**CALL, "model": "openai:gpt-4o", "seconds": 2.5, "tokens_out": 1}


def entry(kind: str, data: dict[str, Json], *, run: str = "r1", key: str = "") -> Entry:
    event = Event(run=run, kind=kind, who="twinsmith", data=data, key=key)
    return seal(event, seq=1, at=AT, prev="0")


def after(*entries: Entry, ensemble: int = 0) -> Motion:
    motion = Motion()
    for each in entries:
        motion = advance(motion, each, lambda _run, _candidate: ensemble)
    return motion


def test_every_way_joins_two_parts_and_is_told_in_words() -> None:
    assert set(PARTS) == {end for way in WAYS for end in (way.source, way.target)}
    assert all(WAYS.values())
    assert len(WAYS) == 42
    assert Way("execution1", "slow2") in WAYS
    assert Way("execution2", "slow1") in WAYS


def test_a_part_says_in_one_sentence_what_it_does() -> None:
    for part in PARTS.values():
        assert part.does.endswith(".")
        assert part.does.count(". ") == 0
        assert part.page.startswith("/")
    assert of("critic", 2) == "critic2"


def test_a_question_goes_from_its_role_by_the_gateway_to_the_models() -> None:
    motion = after(entry("model.asked", CALL))
    assert motion.last["coder2"].text == "asks a model"
    assert set(motion.passed) == {Way("coder2", "manager"), Way("manager", "models")}
    practice = after(entry("model.asked", {**CALL, "purpose": "practice"}))
    assert practice.last["coder2"].text == "looks up best practice"


def test_an_answer_comes_back_and_tells_of_the_model() -> None:
    motion = after(entry("model.replied", REPLY))
    assert motion.last["coder2"].text == "answered, 1 token"
    assert motion.last["models"].text == "gpt-4o in 2.5 s"
    assert {Way("models", "manager"), Way("log", "behaviour")} <= set(motion.passed)


def test_what_failed_is_marked_until_something_works() -> None:
    failed = entry("model.failed", {**CALL, "reason": "no model answers"})
    motion = after(failed)
    assert {motion.last[name].failed for name in ("models", "manager", "coder2")} == {True}
    again = after(failed, entry("model.replied", REPLY))
    assert not again.last["models"].failed


def test_an_execution_lights_the_ways_of_the_ensemble_that_wrote_the_candidate() -> None:
    done = entry("candidate.executed", {"candidate": 3, "outcomes": {"passed": 2, "failed": 1}})
    motion = after(done, ensemble=1)
    assert motion.last["execution1"].text == "candidate 3: 2 passed, 1 failed"
    assert "execution2" not in motion.last
    assert set(after(done, ensemble=0).last) >= {"execution1", "execution2"}


def test_what_one_ensemble_found_out_crosses_to_the_other() -> None:
    crossing: dict[str, Json] = {"source": 2, "to": 1, "lines": ["404 before 409"]}
    motion = after(entry("insights.crossed", crossing))
    assert motion.last["slow1"].text == "learned of ensemble 2: 404 before 409"
    assert Way("execution2", "slow1") in motion.passed
    strange: dict[str, Json] = {"source": 7, "to": 1, "lines": ["x"]}
    assert set(after(entry("insights.crossed", strange)).last) == {"log"}


def test_knowledge_is_asked_by_the_slow_thinkers_or_for_code_by_the_coders() -> None:
    data: dict[str, Json] = {"pieces": ["a", "b"], "problem": ""}
    context = after(entry("knowledge.recalled", data, key="knowledge.recalled:recall"))
    assert Way("slow1", "retriever") in context.passed
    assert context.last["vectors"].text == "2 passages"
    code = after(entry("knowledge.recalled", data, key="knowledge.recalled:recall add_game"))
    assert Way("coder1", "retriever") in code.passed
    away = after(entry("knowledge.recalled", {"pieces": [], "problem": "not installed"}))
    assert away.last["retriever"].failed


@pytest.mark.parametrize(
    ("stage", "way"),
    [
        ("seen", Way("monitor", "healer")),
        ("restarted", Way("healer", "containers")),
        ("rolling back", Way("healer", "containers")),
        ("escalated", Way("healer", "approvals")),
    ],
)
def test_an_incident_goes_on_from_the_monitor_to_a_person(stage: str, way: Way) -> None:
    told: dict[str, Json] = {"app": "cart", "stage": stage, "text": "memory grows"}
    motion = after(entry("incident.told", told, run=SYSTEM))
    assert set(motion.passed) == {way}
    assert motion.last[way.source].text == "cart: memory grows"


def test_a_release_goes_from_the_winner_by_approval_and_queue_to_the_containers() -> None:
    begun: dict[str, Json] = {"task": "deploy cart", "kind": "deploy", "app": "cart", "from": "r0"}
    motion = after(
        entry("run.started", begun, run=SYSTEM),
        entry("approval.asked", {"id": "r1.a1", "what": "deploy cart on local"}),
        entry("approval.decided", {"id": "r1.a1", "said": "approve", "app": "cart"}, run=SYSTEM),
        entry("stage.started", {"stage": "canary"}),
        entry("app.done", {"app": "cart", "action": "deploy", "reason": "serves"}, run=SYSTEM),
        ensemble=2,
    )
    assert set(motion.passed) == {
        Way("execution2", "containers"),
        Way("approvals", "override"),
        Way("override", "queue"),
        Way("queue", "containers"),
        Way("containers", "monitor"),
    }
    assert motion.last["containers"].text == "cart: deploy: serves"


def test_a_stage_of_a_build_is_none_of_a_release() -> None:
    assert "containers" not in after(entry("stage.started", {"stage": "explore"})).last
    refined = after(entry("stage.started", {"stage": "refine 1"}))
    assert Way("execution1", "coder1") in refined.passed


def test_ways_are_lit_for_some_seconds() -> None:
    motion = after(entry("model.asked", CALL))
    assert lit(motion, LATER) == set(motion.passed)
    assert lit(motion, MUCH_LATER) == frozenset()
    assert LIT_SECONDS == 10


def test_the_newest_deed_counts_in_whatever_order_chains_are_read() -> None:
    first, second = entry("model.asked", CALL), entry("model.replied", REPLY)
    late = replace(second, at=LATER)
    assert after(first, late) == after(late, first)


def test_all_moves_keep_to_the_ways_of_the_architecture() -> None:
    data: dict[str, Json] = {
        **REPLY,
        "candidate": 1,
        "app": "cart",
        "source": 1,
        "to": 2,
        "lines": ["x"],
        "stage": "escalated",
        "text": "t",
        "kind": "deploy",
        "from": "r0",
        "trigger": "heal",
        "wrong": [],
        "said": "3 insights",
    }
    from twinsmith.core import motion as module

    for kind in (*module._TOLD, "run.started", "candidate.executed", "knowledge.recalled"):
        for run in (SYSTEM, "r1"):
            for move in moves(entry(kind, data, run=run), lambda _run, _candidate: 0):
                if isinstance(move, Way):
                    assert move in WAYS, kind
                else:
                    assert move[0] in PARTS, kind


def test_an_entry_of_another_version_moves_nothing_but_the_log() -> None:
    odd: dict[str, Json] = {"role": 4, "ensemble": "x", "candidate": None, "outcomes": 3}
    for kind in ("model.asked", "plan.made", "candidate.written", "something.new"):
        assert "log" in after(entry(kind, odd)).last
    assert after(entry("model.asked", odd)).last.keys() == {"log", "manager"}
