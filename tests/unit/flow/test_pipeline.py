"""The whole flow on fakes: what is built, what is told, what is paid."""

import asyncio
import json
from dataclasses import replace

import pytest

from tests.conftest import PROFILE
from tests.worlds import (
    BROKEN,
    CHECKS,
    DOUBLE,
    SQUARE,
    TASK,
    TRIPLE,
    World,
    job_of,
    passage,
    saying,
    with_effort,
)
from twinsmith.adapters.knowledge.nothing import NothingKnown
from twinsmith.core.budget import Budget
from twinsmith.core.effort import Effort
from twinsmith.core.errors import EngineError, ModelUnavailable
from twinsmith.core.knowing.graph import Node
from twinsmith.core.knowing.insight import Insight, Outcome
from twinsmith.core.knowing.knowledge import Channel, Hit
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.people.question import Asked, PersonalQuestion
from twinsmith.core.progress import Stage
from twinsmith.flow.insights import insights, record, tell_outcomes

UNNAMED = "a function that doubles a number"
PROFILED = json.dumps(PROFILE)
BOTH = saying(slow=[PROFILED], coder=[SQUARE, DOUBLE])


async def test_the_best_candidate_is_published_with_tests_and_report() -> None:
    world, job = World(BOTH), job_of(UNNAMED)
    outcome = await world.build(job)
    assert (outcome.solved, outcome.winner) == (True, 2)
    files = world.files(job)
    assert sorted(files) == ["report.json", "report.md", "solution.py", "test_solution.py"]
    assert files["solution.py"] == DOUBLE
    assert files["test_solution.py"].count("def test_") == 3
    report = json.loads(files["report.json"])
    assert (report["solved"], report["winner"], report["seed"]) == (True, 2, 7)
    assert report["verdicts"][0]["findings"][0]["evidence"] == "double(-3) gave 9, not -6"
    assert files["report.md"].startswith(f"# Solved\n\n> {UNNAMED}\n")


async def test_every_stage_begins_and_ends_once_in_order() -> None:
    world = World(BOTH)
    await world.build(job_of(UNNAMED))
    assert world.stages() == ["clarify", "retrieve", "explore", "accept"]
    assert all(stage.finished for stage in world.progress.stages)
    assert world.progress.best.startswith("candidate 2 of 2, 3/3 checks, 2 ways, confidence 0.")


async def test_steps_are_recorded_once_in_the_order_they_are_begun() -> None:
    world = World(BOTH)
    await world.build(job_of(UNNAMED))
    assert world.steps() == [
        *["ask slow 0", "recall", "remember", "ask coder 0", "ask coder 1", "ask critic 0"],
        *["execute 1, 1", "execute 2, 2", "inspect 2", "ask a person 1", "publish", "share"],
    ]


async def test_questions_differ_in_seed_and_key_and_know_their_task_and_ensemble() -> None:
    world = World(BOTH)
    await world.build(job_of(UNNAMED))
    assert [(p.role, p.ensemble, p.seed, p.key) for p in world.asked] == [
        ("slow", 1, 7, "r1/ask slow 0"),
        ("coder", 1, 7, "r1/ask coder 0"),
        ("coder", 2, 8, "r1/ask coder 1"),
        ("critic", 1, 7, "r1/ask critic 0"),
    ]
    assert {prompt.task for prompt in world.asked} == {UNNAMED}


async def test_a_task_that_names_its_function_asks_no_slow_thinker() -> None:
    world = World(BOTH)
    assert (await world.build(job_of(TASK))).solved
    assert world.prompts("slow") == []


async def test_what_was_not_accepted_lies_under_rejected_with_the_reason() -> None:
    world, job = World(saying(coder=[SQUARE, "I am sorry."])), with_effort(job_of(), least=1.0)
    outcome = await world.build(job)
    assert (outcome.solved, outcome.winner) == (False, None)
    assert outcome.reason.startswith("candidate 1 passes 2 of 3 checks")
    assert "too little to call it solved; " in outcome.reason
    assert "double(-3) gave 9" in outcome.reason
    assert "rejected/solution.py" in world.files(job)
    assert "solution.py" not in world.files(job)
    assert world.files(job)["report.md"].startswith("# Not solved\n")


async def test_an_example_in_the_task_is_never_outvoted() -> None:
    job = job_of(f"{TASK}\n>>> double(-3)\n-6\n")
    world = World(saying(coder=[SQUARE, SQUARE], critic=["assert double(-3) == 9"]))
    outcome = await world.build(job)
    assert not outcome.solved
    assert "example 1 failed: double(-3) gave 9" in outcome.reason
    assert min(world.files(job)) == "rejected/solution.py"


async def test_a_profile_that_cannot_be_read_ends_the_run_honestly() -> None:
    world, job = World(saying(slow=["As a poet, I"])), job_of(UNNAMED)
    outcome = await world.build(job)
    assert not outcome.solved
    assert "not JSON" in outcome.reason
    assert sorted(world.files(job)) == ["report.json", "report.md"]
    assert world.stages() == ["clarify", "accept"]
    assert len(world.asked) == 3


async def test_a_profile_that_cannot_be_read_is_asked_for_again_with_the_reason() -> None:
    poem = "As a poet, I"
    world = World(saying(slow=[poem, poem, PROFILED]))
    assert (await world.build(job_of(UNNAMED))).solved
    slow = world.prompts("slow")
    assert [(prompt.retry, prompt.key) for prompt in slow] == [
        (0, "r1/ask slow 0"),
        (1, "r1/ask slow 0 again 1"),
        (2, "r1/ask slow 0 again 2"),
    ]
    assert "An earlier answer could not be used: the profile is not JSON" in slow[1].text
    assert len({prompt.seed for prompt in slow}) == 3
    # Billed although it could not be used.
    assert world.kinds().count("model.replied") == 6


async def test_a_second_drive_repeats_nothing_and_tells_nothing_twice() -> None:
    world, job = World(BOTH), job_of(UNNAMED)
    first = await world.build(job)
    told, asked, runs = world.kinds(), len(world.asked), world.runs
    assert await world.build(job) == first
    assert (world.kinds(), len(world.asked), world.runs) == (told, asked, runs)


async def test_a_model_that_is_down_leaves_the_run_open_and_nothing_is_asked_again() -> None:
    world, job = World(BOTH), job_of(UNNAMED)
    world.down = {"r1/ask coder 1"}
    with pytest.raises(ModelUnavailable, match="503"):
        await world.build(job)
    await asyncio.sleep(0)
    world.down = set()
    outcome = await world.build(job)
    assert (outcome.solved, outcome.winner) == (True, 2)
    assert sorted(world.answered) == sorted({prompt.key for prompt in world.asked})
    assert [p.key for p in world.asked].count("r1/ask coder 1") == 2
    assert world.kinds().count("model.replied") == 4


async def test_answers_on_their_way_when_one_fails_are_waited_for_and_kept() -> None:
    class Slow(World):
        async def ask(self, prompt: Prompt) -> Reply:
            if prompt.key == "r1/ask coder 0":
                await asyncio.sleep(0.05)
            return await super().ask(prompt)

    world = Slow(BOTH)
    world.down = {"r1/ask coder 1"}
    with pytest.raises(ModelUnavailable):
        await world.build(job_of(UNNAMED))
    assert "ask coder 0" in world.steps()
    world.down = set()
    assert (await world.build(job_of(UNNAMED))).solved
    assert sorted(world.answered) == sorted(set(world.answered))


async def test_a_model_that_fails_leaves_an_event_each_time() -> None:
    world = World(BOTH)
    world.down = {"r1/ask coder 1"}
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            await world.build(job_of(UNNAMED))
    failed = [e.event for e in world.journal.entries("r1") if e.event.kind == "model.failed"]
    assert [event.data["outcome"] for event in failed] == ["unavailable", "unavailable"]
    assert all("503" in str(event.data["reason"]) for event in failed)


async def test_tokens_are_never_overspent() -> None:
    for tokens in range(1, 6000, 397):
        world = World(BOTH)
        outcome = await world.build(job_of(UNNAMED, budget=Budget(tokens=tokens, seconds=60)))
        assert outcome.spent.tokens == world.billed <= tokens
        assert outcome.solved or "tokens is spent" in outcome.reason or "JSON" in outcome.reason
    assert outcome.solved


async def test_seconds_run_out_between_and_during_steps() -> None:
    between = World(BOTH)
    outcome = await between.build(job_of(UNNAMED, budget=Budget(tokens=5000, seconds=1)))
    assert not outcome.solved
    assert "1 seconds is spent" in outcome.reason
    assert between.stages() == ["clarify", "retrieve", "accept"]

    class Slow(World):
        async def ask(self, prompt: Prompt) -> Reply:
            await asyncio.sleep(5)
            return await super().ask(prompt)

    outcome = await Slow(BOTH).build(job_of(UNNAMED, budget=Budget(tokens=5000, seconds=0.05)))
    assert "ran out during 'ask slow 0'" in outcome.reason


async def test_where_money_is_limited_questions_are_asked_one_by_one() -> None:
    world, job = World(BOTH), job_of(UNNAMED, budget=Budget(tokens=5000, seconds=60, usd=1.0))
    assert (await world.build(job)).solved
    stopped = World(BOTH)
    stopped.down = {"r1/ask coder 0"}
    with pytest.raises(ModelUnavailable):
        await stopped.build(job)
    # Those that would have followed were neither asked nor left behind half begun.
    assert [prompt.key for prompt in stopped.asked] == ["r1/ask slow 0", "r1/ask coder 0"]


async def test_a_persons_tests_decide() -> None:
    tests = "from solution import double\n\n\ndef test_big():\n    assert double(10) == 20\n"
    world, job = World(BOTH), with_effort(job_of(tests=tests), least=1.0)
    outcome = await world.build(job)
    # A check of the critic's is a note here, whoever fails it.
    assert [(v.accepted, v.passed, v.total) for v in outcome.verdicts] == [
        (True, 3, 4),
        (True, 4, 4),
    ]
    assert (outcome.solved, outcome.winner) == (True, 2)
    written = world.files(job)["test_solution.py"]
    assert "def test_big():" in written
    assert "\ntest_big()" not in written


async def test_a_persons_tests_decide_against_what_critics_think() -> None:
    world = World(saying(coder=[SQUARE, DOUBLE]))
    outcome = await world.build(job_of(tests="assert double(5) == 25\n"))
    assert (outcome.solved, outcome.winner) == (True, 1)


async def test_events_carry_hashes_and_counts_but_no_prompts() -> None:
    world = World(BOTH)
    await world.build(job_of(UNNAMED))
    text = json.dumps([dict(e.event.data) for e in world.journal.entries("r1")])
    assert "prompt_sha256" in text
    assert "Write one complete" not in text


async def test_nothing_to_check_with_is_not_a_pass_and_no_budget_is_blamed() -> None:
    world = World(saying(critic=["I would rather not."]))
    outcome = await world.build(job_of())
    assert not outcome.solved
    assert outcome.reason.startswith("nothing could be checked: the task gives no example")


async def test_programs_that_only_fail_are_not_solved() -> None:
    outcome = await World(saying(coder=[BROKEN])).build(job_of())
    assert not outcome.solved
    assert "no candidate runs: double(2) gave ZeroDivisionError" in outcome.reason


async def test_a_person_is_asked_once_and_the_answer_reaches_the_coders() -> None:
    class Person:
        asked: tuple[str, ...] = ()

        async def ask(self, question: PersonalQuestion) -> Asked:
            self.asked += (question.text,)
            return Asked(answer=f"not {question.assumed}")

    profile = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    world, job = World(saying(slow=[json.dumps(profile)])), job_of(UNNAMED)
    world.desk = person = Person()
    world.down = {"r1/ask coder 0"}
    with pytest.raises(ModelUnavailable):
        await world.build(job)
    world.down = set()
    assert (await world.build(job)).solved
    assert person.asked == ("Of text, too?",)
    assert "Of text, too? not only numbers" in world.prompts("coder")[0].text
    assert "## Assumed\n\nOf text, too? not only numbers\n" in world.files(job)["report.md"]


async def test_what_is_known_is_shown_to_the_coders_and_named_in_the_report() -> None:
    class Known(NothingKnown):
        async def search(
            self, query: str, k: int, language: str = "", channel: Channel | None = None
        ) -> tuple[Hit, ...]:
            assert channel == "dense"
            assert (query, language) == (TASK, "python")
            twice = passage("def twice(n): return n + n")
            near, far = (Hit(passage=twice, score=score, channel="dense") for score in (0.9, 0.2))
            return (near, far, replace(near, channel="lexical"))[:k]

    world, job = World(BOTH), job_of()
    world.retriever = Known()
    assert (await world.build(job)).solved
    # Half of the coders do without: what is retrieved is copied word for word now and then.
    shown = ["def twice(n)" in prompt.text for prompt in world.prompts("coder")]
    assert shown == [False, True]
    assert [piece["path"] for piece in json.loads(world.files(job)["report.json"])["pieces"]] == [
        "p.py"
    ]
    apart = World(BOTH)
    apart.retriever = Known()
    await apart.build(with_effort(job, retrieval=False))
    assert all("def twice(n)" not in prompt.text for prompt in apart.prompts("coder"))


async def test_a_library_or_graph_that_is_away_stops_no_run() -> None:
    class Away(NothingKnown):
        async def search(
            self, query: str, k: int, language: str = "", channel: Channel | None = None
        ) -> tuple[Hit, ...]:
            raise EngineError(f"no library for {query}, {k}, {language}, {channel}")

    class Lost:
        async def upsert_nodes(self, nodes: object) -> None:
            raise EngineError(f"no graph for {nodes}")

        async def find(self, *_: object) -> tuple[Node, ...]:
            raise EngineError("no graph to look in")

    world = World(BOTH)
    world.retriever = Away()
    world.graph = Lost()  # type: ignore[assignment]
    assert (await world.build(job_of())).solved
    told = {e.event.kind: e.event.data for e in world.journal.entries("r1")}
    assert "no library" in str(told["knowledge.recalled"]["problem"])
    assert "no graph to look in" in str(told["insights.remembered"]["problem"])
    assert "not kept: no graph" in str(told["insights.shared"]["said"])


async def test_what_was_learned_is_kept_once_and_only_from_what_was_solved() -> None:
    world, job = World(BOTH), job_of()
    await world.build(job)
    (kept,) = await insights(world.graph)
    assert kept.kind == "counterexample"
    assert kept.run == "r1"
    rejected = World(BOTH)
    await rejected.build(with_effort(job, least=1.0))
    assert await insights(rejected.graph) == ()
    assert rejected.steps()[-1] == "publish"


async def test_what_earlier_runs_learned_is_told_where_there_is_doubt_and_weighed() -> None:
    told = Insight(
        text=f"{TASK} take care of negative numbers",
        kind="plan",
        language="python",
        run="r0",
        learned="2026-01-01",
    )
    doubtful = with_effort(job_of(effort=Effort()), enough=1.0, votes=0, refinements=0)
    for least, helped, failed in ((0.0, 1, 0), (1.0, 0, 1)):
        world = World(saying(slow=["Think again."], coder=[DOUBLE, TRIPLE], critic=[CHECKS]))
        await record(world.graph, [told], task=TASK)
        outcome = await world.build(with_effort(doubtful, least=least))
        assert outcome.solved is bool(helped)
        assert "negative numbers" in world.prompts("slow")[0].text
        (kept,) = [i for i in await insights(world.graph) if i.run == "r0"]
        assert (kept.helped, kept.failed) == (helped, failed)


async def test_what_stopped_helping_is_not_told_any_more() -> None:
    failed = tuple(Outcome(run=f"x{n}", helped=False, at=f"2026-01-0{n}") for n in range(1, 4))
    world = World(saying(slow=["Think again."], coder=[DOUBLE, TRIPLE], critic=[CHECKS]))
    told = Insight(
        text=f"{TASK} triple it", kind="plan", language="python", run="r0", learned="2026-01-01"
    )
    (kept,) = await record(world.graph, [told], task=TASK)
    for outcome in failed:
        await tell_outcomes(world.graph, [kept.key], outcome)
    job = with_effort(job_of(effort=Effort()), enough=1.0, votes=0, refinements=0)
    await world.build(job)
    assert all("triple it" not in prompt.text for prompt in world.prompts("slow"))


async def test_a_stage_says_what_it_found() -> None:
    world = World(saying(slow=[PROFILED], coder=[DOUBLE], critic=[CHECKS]))
    await world.build(job_of(f"{UNNAMED}\n>>> double(4)\n8\n"))
    notes = {stage.name: stage.note for stage in world.progress.stages}
    assert notes["clarify"] == "python function double, 1 example"
    assert notes["retrieve"] == "0 pieces, 0 insights"
    assert notes["explore"].startswith("candidate 1 of 2, 1/1 checks, 1 way,")
    assert notes["accept"] == "solved"
    assert isinstance(world.progress.stages[0], Stage)
