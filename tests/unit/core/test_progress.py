from dataclasses import replace

import pytest

from tests.worlds import BROKEN, DOUBLE, SQUARE, World, job_of, saying
from twinsmith.core.effort import Effort
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.events import Entry, Event, Json
from twinsmith.core.model import Prompt, Reply, facts_of_question, facts_of_reply
from twinsmith.core.progress import Ensemble, Progress, elapsed, progress_of


def entry(kind: str, second: int, **data: Json) -> Entry:
    event = Event(run="r", kind=kind, who="w", data=data)
    return Entry(seq=1, at=f"2026-01-01T00:00:{second:02}+00:00", event=event, prev="", hash="")


def test_a_run_is_told_from_its_events() -> None:
    progress = progress_of(
        "r",
        [
            entry("run.started", 0, task="t", out="/o"),
            entry("stage.started", 1, stage="clarify"),
            entry("model.replied", 2, model="m", tokens=10),
            entry("model.replied", 2, model="m", tokens=5),
            entry("stage.finished", 3, stage="clarify", note="fine"),
            entry("stage.started", 3, stage="explore"),
            entry("candidates.compared", 4, best="candidate 1"),
            entry("something.new", 5),
        ],
    )
    assert (progress.task, progress.state, progress.tokens) == ("t", "running", 15)
    assert (progress.best, progress.models) == ("candidate 1", ("m",))
    assert [(s.name, s.note, bool(s.finished)) for s in progress.stages] == [
        ("clarify", "fine", True),
        ("explore", "", False),
    ]
    assert elapsed(progress.started, progress.updated) == 5


def test_parked_resumed_and_ended() -> None:
    events = [entry("run.started", 0), entry("run.parked", 1, reason="no model")]
    assert progress_of("r", events).state == "parked"
    assert progress_of("r", events).reason == "no model"
    events.append(entry("run.resumed", 2))
    assert progress_of("r", events).state == "running"
    events.append(entry("run.ended", 3, state="not solved", reason="why", out="/x"))
    ended = progress_of("r", events)
    assert (ended.state, ended.reason, ended.out) == ("not solved", "why", "/x")


def test_queued_taken_waiting_and_queued_again() -> None:
    events = [entry("run.started", 0, task="t"), entry("run.queued", 0, priority="low")]
    assert progress_of("r", events).state == "queued"
    events.append(entry("run.taken", 30))
    taken = progress_of("r", events)
    assert (taken.state, taken.task, elapsed(taken.started, taken.updated)) == ("running", "t", 0)
    events.append(entry("run.waiting", 31, reason="an answer"))
    assert progress_of("r", events).state == "waiting"
    events += [entry("run.queued", 32, reason="it was answered"), entry("run.resumed", 33)]
    assert (progress_of("r", events).state, progress_of("r", events).reason) == ("running", "")


def test_what_has_ended_stays_so() -> None:
    events = [entry("run.started", 0), entry("run.ended", 3, state="solved", reason="why")]
    events += [entry("run.queued", 4, reason="late"), entry("run.parked", 5, reason="later")]
    ended = progress_of("r", events)
    assert (ended.state, ended.reason) == ("solved", "why")


def replied(prompt: Prompt, tokens: int) -> Entry:
    reply = Reply(text="", model="m", tokens_in=tokens, tokens_out=0)
    return entry("model.replied", 2, **facts_of_reply(prompt, reply))


def test_each_ensemble_has_its_answers_tokens_and_candidates() -> None:
    coder = Prompt(key="k", role="coder", nth=0, text="", task="", seed=0, max_tokens=1)
    critic = replace(coder, role="critic", ensemble=2)
    progress = progress_of(
        "r",
        [
            # Both write at the same time, and the second one is ready first.
            replied(replace(coder, nth=1, ensemble=2), 5),
            replied(replace(coder, nth=2), 7),
            replied(coder, 10),
            replied(critic, 3),
            entry("candidates.compared", 3, best="candidate 2", winner=2),
        ],
    )
    assert progress.ensembles == (
        Ensemble(number=1, answers={"coder": 2}, tokens=17, candidates=(1, 3)),
        Ensemble(number=2, answers={"coder": 1, "critic": 1}, tokens=8, candidates=(2,)),
    )
    assert progress.leader == 2


def test_small_edits_belong_to_the_ensemble_whose_candidates_they_change() -> None:
    coder = Prompt(key="k", role="coder", nth=0, text="", task="", seed=0, max_tokens=1)
    answers = [replied(coder, 1), replied(replace(coder, key="l", nth=1, ensemble=2), 1)]
    edits = entry("candidates.varied", 3, after=2, tried=9, kept=[2, 1, 2, "?"])
    progress = progress_of("r", [*answers, edits, edits])
    assert [each.candidates for each in progress.ensembles] == [(1, 4), (2, 3, 5)]
    assert [each.answers for each in progress.ensembles] == [{"coder": 1}, {"coder": 1}]


def test_nobody_leads_where_nothing_runs() -> None:
    events = [entry("candidates.compared", 1, winner=1), entry("candidates.compared", 2)]
    assert progress_of("r", events[:1]).leader == 1
    assert progress_of("r", events).leader is None


def test_an_ensemble_waits_until_it_is_answered_or_the_stage_ends() -> None:
    coder = Prompt(key="k", role="coder", nth=0, text="", task="", seed=0, max_tokens=1)
    critic = replace(coder, key="c", role="critic")
    events = [
        entry("stage.started", 0, stage="explore"),
        entry("model.asked", 1, **facts_of_question(coder)),
        entry("model.asked", 1, **facts_of_question(critic)),
    ]
    assert progress_of("r", events).ensembles[0].waiting == {"k": "coder", "c": "critic"}
    events.append(replied(coder, 3))
    assert progress_of("r", events).ensembles[0].waiting == {"c": "critic"}
    events.append(entry("stage.finished", 5, stage="explore"))
    assert progress_of("r", events).ensembles[0].waiting == {}


async def test_both_ensembles_of_a_run_are_told_and_nothing_is_counted_twice() -> None:
    effort = Effort(candidates=10, enough=1.0, least=0.0, votes=0, refinements=0)
    world = World(saying(slow=("think",), coder=(SQUARE, DOUBLE, BROKEN, DOUBLE)))
    job = job_of(effort=effort)
    world.down = {"r1/ask coder 3"}
    with pytest.raises(ModelUnavailable):
        await world.build(job)
    (waiting,) = (e.waiting for e in world.progress.ensembles if e.waiting)
    assert waiting == {"r1/ask coder 3": "coder"}
    world.down.clear()
    # All is replayed, and every event told again.
    outcome = await world.build(job)
    progress = world.progress
    assert [(e.number, e.candidates) for e in progress.ensembles] == [
        (1, (1, 3, 5, 7, 9)),
        (2, (2, 4, 6, 8, 10)),
    ]
    told = {(e.number, role): n for e in progress.ensembles for role, n in e.answers.items()}
    asked = {(p.ensemble, p.role): 0 for p in world.asked}
    for prompt in {p.key: p for p in world.asked}.values():
        asked[prompt.ensemble, prompt.role] += 1
    assert told == asked
    assert sum(e.tokens for e in progress.ensembles) == progress.tokens == world.billed
    assert progress.leader == outcome.winner
    assert [e.best for e in progress.ensembles] == [
        "5, 3/3 checks",
        "2, 3/3 checks",
    ]


def test_nonsense_in_events_does_no_harm() -> None:
    for odd in ({"ensemble": "both"}, {"ensemble": 1}, {"ensemble": 1, "role": 5}):
        assert progress_of("r", [entry("model.replied", 0, **odd)]).ensembles == ()
    # As journals were before they told which question it was.
    (old,) = progress_of("r", [entry("model.replied", 0, ensemble=1, role="coder")]).ensembles
    assert (old.answers, old.candidates) == ({"coder": 1}, ())
    assert progress_of("r", [entry("run.ended", 0, state="exploded")]).state == "running"
    assert progress_of("r", [entry("model.replied", 0, tokens="many")]).tokens == 0
    assert progress_of("r", []) == Progress(run="r")
    assert elapsed("", "2026-01-01T00:00:00") == 0
