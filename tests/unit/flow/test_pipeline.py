"""The whole flow on fakes: what is built, what is told, what is paid."""

import json
from dataclasses import replace

import pytest

from tests.conftest import PLAN, RIGHT, WRONG
from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.durable.memory import MemoryDurable
from twinsmith.adapters.journal.memory import MemoryJournal
from twinsmith.adapters.models.scripted import Script, ScriptedModel, ScriptedReply
from twinsmith.adapters.outbox.memory import MemoryOutbox
from twinsmith.adapters.sandbox.canned import CannedSandbox
from twinsmith.core.budget import Budget
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.events import Json
from twinsmith.core.execution import Limits, ProbeResult
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.progress import STAGES, progress_of
from twinsmith.core.task import Job, Task
from twinsmith.flow.build.generate import read_program
from twinsmith.flow.pipeline import build
from twinsmith.flow.recorder import Ports

JOB = Job(
    run="r1",
    task=Task(text="double", language="python", kind="function"),
    budget=Budget(tokens=5000, seconds=60),
    candidates=2,
    reply_tokens=1000,
    seed=7,
    out="/out",
)


class World:
    """Fakes for one run, with a model that counts."""

    def __init__(self, *replies: ScriptedReply, fails: bool = True) -> None:
        self.clock = ManualClock()
        self.journal = MemoryJournal(self.clock)
        self.outbox = MemoryOutbox()
        self.records: dict[str, Json] = {}
        self.asked: list[Prompt] = []
        self._model = ScriptedModel(Script(name="t", replies=replies))
        wrong = read_program(WRONG, entry="double").source
        seen = ProbeResult(name="check 2", outcome="failed", detail="double(-3) returned 9")
        self.sandbox = CannedSandbox({wrong: {"check 2": seen}} if fails else {})

    async def ask(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt)
        self.clock.advance(1)
        return await self._model.ask(prompt)

    async def run(self, job: Job = JOB) -> RunOutcome:
        durable = MemoryDurable(self.records)
        ports = Ports(
            model=self,
            sandbox=self.sandbox,
            journal=self.journal,
            outbox=self.outbox,
            durable=durable,
            clock=self.clock,
        )
        return await durable.drive(job.run, lambda: build(job, Limits(), ports), RunOutcome)

    def kinds(self, run: str = "r1") -> list[str]:
        return [entry.event.kind for entry in self.journal.entries(run)]


PLANNED = ScriptedReply(role="slow", text=json.dumps(PLAN))


def coder(text: str) -> ScriptedReply:
    return ScriptedReply(role="coder", text=text)


async def test_the_candidate_that_passes_is_published_with_tests_and_report() -> None:
    world = World(PLANNED, coder(WRONG), coder(RIGHT))
    outcome = await world.run()
    assert (outcome.solved, outcome.winner) == (True, 2)
    files = world.outbox.folders["/out"]
    assert sorted(files) == ["report.json", "report.md", "solution.py", "test_solution.py"]
    assert "n * 2" in files["solution.py"]
    assert files["test_solution.py"].count("def test_") == 3
    report = json.loads(files["report.json"])
    assert (report["solved"], report["winner"], report["seed"]) == (True, 2, 7)
    assert report["verdicts"][0]["findings"][0]["evidence"] == "double(-3) returned 9"
    assert files["report.md"].startswith("# Solved\n\n> double\n")


async def test_every_stage_begins_and_ends_once_in_order() -> None:
    world = World(PLANNED, coder(WRONG), coder(RIGHT))
    await world.run()
    progress = progress_of("r1", world.journal.entries("r1"))
    assert tuple(stage.name for stage in progress.stages) == STAGES
    assert all(stage.finished for stage in progress.stages)
    assert progress.best == "candidate 2, 3/3 checks"


async def test_questions_differ_in_seed_and_key_and_know_their_task() -> None:
    world = World(PLANNED, coder(WRONG), coder(RIGHT))
    await world.run()
    assert [(p.role, p.nth, p.seed, p.key) for p in world.asked] == [
        ("slow", 0, 7, "r1/ask slow 0"),
        ("coder", 0, 7, "r1/ask coder 0"),
        ("coder", 1, 8, "r1/ask coder 1"),
    ]


async def test_what_was_not_accepted_lies_under_rejected() -> None:
    world = World(PLANNED, coder(WRONG), coder("I am sorry."))
    outcome = await world.run()
    assert (outcome.solved, outcome.winner) == (False, None)
    assert "check 2 failed: double(-3) returned 9" in outcome.reason
    assert "rejected/solution.py" in world.outbox.folders["/out"]
    assert "solution.py" not in world.outbox.folders["/out"]


async def test_a_plan_that_cannot_be_read_ends_the_run_honestly() -> None:
    world = World(*[ScriptedReply(role="slow", text="As a poet, I")] * 3)
    outcome = await world.run()
    assert not outcome.solved
    assert "not JSON" in outcome.reason
    assert sorted(world.outbox.folders["/out"]) == ["report.json", "report.md"]
    progress = progress_of("r1", world.journal.entries("r1"))
    assert [stage.name for stage in progress.stages if stage.finished] == ["plan", "accept"]


async def test_a_second_drive_repeats_nothing_and_tells_nothing_twice() -> None:
    world = World(PLANNED, coder(WRONG), coder(RIGHT))
    first = await world.run()
    told = world.kinds()
    assert await world.run() == first
    assert world.kinds() == told
    assert len(world.asked) == 3


async def test_a_model_that_is_down_leaves_the_run_open_and_nothing_is_asked_again() -> None:
    down = ScriptedReply(role="coder", error="503")
    world = World(PLANNED, coder(WRONG), down)
    with pytest.raises(ModelUnavailable, match="503"):
        await world.run()
    assert len(world.asked) == 3
    world._model = ScriptedModel(
        Script(name="t", replies=(PLANNED, coder("never asked again"), coder(RIGHT)))
    )
    outcome = await world.run()
    assert (outcome.solved, outcome.winner) == (True, 2)
    assert [p.key for p in world.asked].count("r1/ask coder 0") == 1
    assert [p.key for p in world.asked].count("r1/ask slow 0") == 1
    assert world.kinds().count("model.replied") == 3


async def test_tokens_are_never_overspent() -> None:
    world = World(PLANNED, coder(WRONG), coder(RIGHT))
    for tokens in range(1, 3500, 97):
        world.records.clear()
        world.outbox.folders.clear()
        budget = Budget(tokens=tokens, seconds=60)
        outcome = await world.run(replace(JOB, run=f"r{tokens}", out=f"/{tokens}", budget=budget))
        assert outcome.spent.tokens <= tokens
    assert outcome.solved


async def test_a_plan_that_cannot_be_read_is_asked_for_again_with_the_reason() -> None:
    poem = ScriptedReply(role="slow", text="As a poet, I")
    world = World(poem, poem, PLANNED, coder(WRONG), coder(RIGHT))
    outcome = await world.run()
    assert outcome.solved
    slow = [prompt for prompt in world.asked if prompt.role == "slow"]
    assert [(prompt.retry, prompt.key) for prompt in slow] == [
        (0, "r1/ask slow 0"),
        (1, "r1/ask slow 0 again 1"),
        (2, "r1/ask slow 0 again 2"),
    ]
    assert "An earlier answer could not be used: the plan is not JSON" in slow[1].text
    assert len({prompt.seed for prompt in slow}) == 3
    # Billed although it could not be used.
    assert world.kinds().count("model.replied") == 5


async def test_a_model_that_fails_leaves_an_event_each_time() -> None:
    world = World(PLANNED, coder(WRONG), ScriptedReply(role="coder", error="503"))
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            await world.run()
    failed = [e.event for e in world.journal.entries("r1") if e.event.kind == "model.failed"]
    assert [event.data["outcome"] for event in failed] == ["unavailable", "unavailable"]
    assert all("503" in str(event.data["reason"]) for event in failed)


async def test_seconds_run_out_between_and_during_steps() -> None:
    world = World(PLANNED, coder(WRONG), coder(RIGHT))
    outcome = await world.run(replace(JOB, budget=Budget(tokens=5000, seconds=2)))
    assert not outcome.solved
    assert "2 seconds is spent" in outcome.reason

    slow = World(replace_delay(PLANNED, 5))
    outcome = await slow.run(replace(JOB, budget=Budget(tokens=5000, seconds=0.05)))
    assert "ran out during 'ask slow 0'" in outcome.reason


async def test_a_persons_tests_decide() -> None:
    tests = "from solution import double\n\n\ndef test_big():\n    assert double(10) == 20\n"
    world = World(PLANNED, coder(WRONG), coder(RIGHT))
    outcome = await world.run(replace(JOB, task=replace(JOB.task, tests=tests)))
    # The first candidate fails only a check of the plan, which is a note here.
    assert [(v.accepted, v.passed) for v in outcome.verdicts] == [(True, 3), (True, 4)]
    assert outcome.winner == 2
    written = world.outbox.folders["/out"]["test_solution.py"]
    assert "def test_big():" in written
    assert "\ntest_big()" not in written


async def test_events_carry_hashes_and_counts_but_no_prompts() -> None:
    world = World(PLANNED, coder(WRONG), coder(RIGHT))
    await world.run()
    text = json.dumps([dict(e.event.data) for e in world.journal.entries("r1")])
    assert "prompt_sha256" in text
    assert "Write one complete" not in text


def replace_delay(reply: ScriptedReply, delay: float) -> ScriptedReply:
    return replace(reply, delay=delay)
