"""The plug pulled before and after every single write of a run, on fakes: it ends the same."""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.conftest import PROFILE
from tests.worlds import DOUBLE, SQUARE, TRIPLE, Say, World, job_of, saying, voting_for
from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.journal.memory import MemoryJournal
from twinsmith.adapters.knowledge.graph_memory import MemoryGraph
from twinsmith.adapters.outbox.memory import MemoryOutbox
from twinsmith.core.budget import Budget
from twinsmith.core.effort import Effort
from twinsmith.core.events import Event, Json
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.task import Job


class Pulled(BaseException):
    """The plug was pulled: nothing is written any more."""


class Plug:
    """Counts writes, and is pulled right before or right after one of them."""

    def __init__(self, at: int = 0, *, after: bool = False) -> None:
        self.at, self.after = at, after
        self.writes: list[str] = []

    def before(self, what: str) -> None:
        self.writes.append(what)
        if self.at and len(self.writes) >= self.at + self.after:
            raise Pulled(what)

    def done(self) -> None:
        if self.at == len(self.writes) and self.after:
            raise Pulled


class Records(dict[str, Json]):
    """What an engine remembers."""

    plug = Plug()

    def __setitem__(self, key: str, value: Json) -> None:
        # The place of a step belongs to its record.
        if ":place:" in key:
            super().__setitem__(key, value)
            return
        self.plug.before(f"record {key}")
        super().__setitem__(key, value)
        self.plug.done()


class Life(World):
    """A world that outlives its processes; a provider that bills a call once."""

    def __init__(self, say: Say, *, slow: str = "") -> None:
        super().__init__(say)
        self.plug = Plug()
        self.slow = slow
        self.bill: dict[str, int] = {}
        self.journal = _Journal(self)
        self.outbox = _Outbox(self)
        self.graph = _Graph(self)

    async def ask(self, prompt: Prompt) -> Reply:
        if self.slow and prompt.key.endswith(self.slow):
            await asyncio.sleep(60)
        reply = await super().ask(prompt)
        self.plug.before(f"bill {prompt.key}")
        self.bill[prompt.key] = reply.tokens
        self.plug.done()
        return reply

    async def pulled(self, job: Job, plug: Plug) -> None:
        """One process, until its plug is pulled or it has nothing more to write."""
        if not isinstance(self.records, Records):
            self.records = Records()
        self.plug = self.records.plug = plug
        try:
            await self.build(job)
        finally:
            # Those that were under way at the same time find the plug pulled as well.
            await asyncio.sleep(0)

    async def lived(self, job: Job, *plugs: Plug) -> RunOutcome:
        """One process after the other, each with its plug, and a last one that is left alone."""
        for plug in plugs:
            with suppress(Pulled):
                await self.pulled(job, plug)
        if isinstance(self.records, Records):
            self.plug = self.records.plug = Plug()
        return await self.build(job)


class _Journal(MemoryJournal):
    def __init__(self, life: Life) -> None:
        super().__init__(life.clock)
        self._life = life

    async def append(self, event: Event) -> None:
        self._life.plug.before(f"journal {event.kind}")
        await super().append(event)
        self._life.plug.done()


class _Outbox(MemoryOutbox):
    def __init__(self, life: Life) -> None:
        super().__init__()
        self._life = life

    async def publish(self, run: str, out: str, files: object) -> None:
        self._life.plug.before("publish")
        await super().publish(run, out, files)  # type: ignore[arg-type]
        self._life.plug.done()


class _Graph(MemoryGraph):
    def __init__(self, life: Life) -> None:
        super().__init__()
        self._life = life

    async def upsert_nodes(self, nodes: object) -> None:
        self._life.plug.before("graph nodes")
        await super().upsert_nodes(nodes)  # type: ignore[arg-type]
        self._life.plug.done()

    async def upsert_edges(self, edges: object) -> None:
        self._life.plug.before("graph edges")
        await super().upsert_edges(edges)  # type: ignore[arg-type]
        self._life.plug.done()


PROFILED = json.dumps(PROFILE)
UNNAMED = "a function that doubles a number"
SHORT = Effort(candidates=2, least=0.0, votes=0, refinements=0, inputs=4)
FULL = Effort(candidates=8, enough=1.0, least=1.0, votes=2, refinements=1, inputs=4)
SEARCH = saying(
    slow=["Plan."], coder=[SQUARE, DOUBLE, TRIPLE, DOUBLE], votes=voting_for("6"), critic=[""]
)
STORIES: dict[str, tuple[Callable[[], Life], Job]] = {
    "a short run": (
        lambda: Life(saying(slow=[PROFILED], coder=[SQUARE, DOUBLE])),
        job_of(UNNAMED, effort=SHORT),
    ),
    "a search with plans, votes and repairs": (lambda: Life(SEARCH), job_of(effort=FULL)),
    "tokens run out": (
        lambda: Life(SEARCH),
        job_of(effort=FULL, budget=Budget(tokens=3000, seconds=600)),
    ),
    "money is limited": (
        lambda: Life(saying(coder=[SQUARE, DOUBLE])),
        job_of(effort=SHORT, budget=Budget(tokens=60_000, seconds=600, usd=1.0)),
    ),
}
LATE: dict[str, str] = {
    "the first of all questions": "ask slow 0",
    "the first of several at once": "ask coder 0",
    "the last of several at once": "ask critic 0",
}


def facts(life: Life, job: Job, outcome: RunOutcome) -> dict[str, object]:
    """All that has to be the same, whatever happened on the way; seconds are those of the day."""
    report = json.loads(life.files(job)["report.json"])
    seconds = r"(\d+ tokens, )\d+ s"
    return {
        "outcome": replace(outcome, spent=replace(outcome.spent, seconds=0.0)),
        "report": {**report, "seconds": 0.0},
        "files": {
            name: re.sub(seconds, r"\1", text)
            for name, text in life.files(job).items()
            if name != "report.json"
        },
        "steps": sorted(life.steps()),
        "bill": life.bill,
        "paid": sum(life.bill.values()) == outcome.spent.tokens,
        "events": sorted(
            entry.event.key for entry in life.journal.entries(job.run) if entry.event.key
        ),
        "learned": (len(life.graph._nodes), len(life.graph._edges)),  # type: ignore[attr-defined]
    }


async def writes_of(make: Callable[[], Life], job: Job) -> tuple[dict[str, object], list[str]]:
    life = make()
    life.records = Records()
    plug = life.plug = life.records.plug = Plug()
    return facts(life, job, await life.build(job)), plug.writes


@pytest.mark.parametrize("story", STORIES)
async def test_pulled_at_every_write_it_ends_as_if_nothing_had_been(story: str) -> None:
    make, job = STORIES[story]
    undisturbed, writes = await writes_of(make, job)
    assert undisturbed["paid"]
    assert {"record", "journal", "publish", "bill"} <= {write.split()[0] for write in writes}
    for at in range(1, len(writes) + 1):
        for after in (False, True):
            life = make()
            ended = await life.lived(job, Plug(at, after=after))
            assert facts(life, job, ended) == undisturbed, (writes[at - 1], at, after)


@pytest.mark.parametrize("late", LATE)
async def test_pulled_at_every_write_after_a_time_out_it_ends_the_same(late: str) -> None:
    """One question takes too long; once that is recorded, a quick answer comes too late."""

    class Still(ManualClock):
        def advance(self, seconds: float) -> None:
            """Only the budget's own time counts here."""

    def make() -> Life:
        life = Life(saying(slow=[PROFILED], coder=[SQUARE, DOUBLE]), slow=LATE[late])
        life.clock = Still()
        return life

    job = job_of(UNNAMED, effort=SHORT, budget=Budget(tokens=60_000, seconds=0.02))
    undisturbed, writes = await writes_of(make, job)
    assert f"ran out during '{LATE[late]}'" in str(undisturbed["report"])
    recorded = writes.index(f"record r1:step:{LATE[late]}") + 1
    for at in range(1, len(writes) + 1):
        life = make()
        with pytest.raises(Pulled):
            await life.pulled(job, Plug(at, after=True))
        if at >= recorded:
            life.slow = ""
        ended = await life.lived(job)
        assert facts(life, job, ended) == undisturbed, (writes[at - 1], at)
        assert ended.spent.seconds == 0.02


async def test_pulled_twice_in_a_row_it_ends_the_same() -> None:
    make, job = STORIES["a short run"]
    undisturbed, writes = await writes_of(make, job)
    for at in range(1, len(writes) + 1):
        for again in (1, 2, 5):
            life = make()
            ended = await life.lived(job, Plug(at, after=True), Plug(again, after=at % 2 == 0))
            assert facts(life, job, ended) == undisturbed, (writes[at - 1], at, again)
