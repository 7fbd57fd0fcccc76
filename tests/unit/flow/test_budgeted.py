"""A model behind allowances: room, waiting for calls under way, a person's word, and replays."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from tests.worlds import World, job_of, saying
from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.costs.memory import MemoryPurse
from twinsmith.adapters.desk.durable import DurableDesk
from twinsmith.adapters.desk.memory import MemoryQuestions
from twinsmith.adapters.durable.memory import MemoryDurable
from twinsmith.adapters.journal.memory import MemoryJournal
from twinsmith.core.budget import most_tokens
from twinsmith.core.costs.allowance import Payer, allowance_in, bounds_of
from twinsmith.core.errors import BudgetExceeded, ModelUnavailable, Waiting
from twinsmith.core.events import Json
from twinsmith.core.execution import Limits
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.operating.alert import Alert
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.people.question import Answer
from twinsmith.flow.budgeted import GO_ON, STOP, BudgetedModel, Rules, Till
from twinsmith.flow.recorder import Ports
from twinsmith.ports import Model

PROMPT = Prompt(key="r1/ask", role="coder", nth=0, text="write", task="t", seed=1, max_tokens=31)
MOST = most_tokens("write") + 31
"""The tokens that are set aside for the prompt: a hundred."""
WAIT = 3600.0


@dataclass
class Counted:
    """A model whose answers take 40 tokens and as many dollars as it is told."""

    clock: ManualClock
    usd: float | None = 0.0
    asked: list[Prompt] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    fails: bool = False
    cached: bool = False

    async def ask(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            for _ in range(20):
                await asyncio.sleep(0.001)
            self.clock.advance(2)
            if self.fails:
                raise ModelUnavailable("nobody")
        finally:
            self.at_once -= 1
        return Reply(
            text="x", model="m", tokens_in=30, tokens_out=10, usd=self.usd, cached=self.cached
        )


class Shop:
    """Everything that paying takes, in memory."""

    def __init__(
        self, *limits: str, dearest: float = 0.0, clock: ManualClock | None = None
    ) -> None:
        self.clock = clock or ManualClock()
        self.purse = MemoryPurse()
        self.questions = MemoryQuestions()
        self.journal = MemoryJournal(self.clock)
        self.alerts: list[Alert] = []
        self.model = Counted(self.clock)
        self.rules = Rules(
            allowances=tuple(map(allowance_in, limits)), teams={"blue": ("ann",)}, seconds=600
        )
        self.till = Till(
            purse=self.purse,
            desk=DurableDesk(self.questions, self.clock, WAIT, parks=True),
            journal=self.journal,
            clock=self.clock,
            alert=self._told,
            dearest=lambda _in, _out: dearest,
        )

    def payer(self, run: str = "r1", model: Model | None = None) -> BudgetedModel:
        """The model as ann's process of a run has it: it remembers nothing of those before it."""
        payer = Payer(run=run, person="ann", app="shop")
        return BudgetedModel(model or self.model, payer, self.rules, self.till)

    def say(self, text: str) -> None:
        """Answer the only question that is open."""
        (record,) = [each for each in self.questions.listed() if each.answer is None]
        self.questions.answer(record.question.id, Answer(text=text, by="user:eve", at="now"))

    def spent(self, line: str) -> tuple[float, float]:
        payer = Payer(run="r1", person="ann", app="shop")
        (bound,) = bounds_of([allowance_in(line)], payer, self.clock.now(), self.rules.teams)
        (each,) = self.purse.standings([bound])
        return each.spent.of(bound.allowance.unit), each.set_aside.of(bound.allowance.unit)

    def passed(self) -> list[tuple[Json, Json]]:
        entries = self.journal.entries("r1")
        return [
            (each.event.data["budget"], each.event.data["soft"])
            for each in entries
            if each.event.kind == "budget.passed"
        ]

    async def _told(self, alert: Alert) -> None:
        self.alerts.append(alert)


async def test_what_calls_took_is_kept_with_whoever_pays() -> None:
    shop = Shop()
    shop.model.usd = 0.25
    await shop.payer().ask(PROMPT)
    assert shop.spent("person day 1 tokens") == (40, 0)
    assert shop.spent("team blue month 1 usd") == (0.25, 0)
    assert shop.spent("app shop day 1 seconds") == (2, 0)


async def test_the_cache_costs_nothing() -> None:
    shop = Shop()
    shop.model.cached, shop.model.usd = True, 5.0
    await shop.payer().ask(PROMPT)
    assert shop.spent("day 1 tokens") == (0, 0)
    assert shop.spent("day 1 usd") == (0, 0)
    assert shop.spent("day 1 seconds") == (0, 0)


async def test_who_nobody_answers_pays_nothing() -> None:
    shop = Shop("day 100 tokens")
    shop.model.fails = True
    with pytest.raises(ModelUnavailable):
        await shop.payer().ask(PROMPT)
    assert shop.spent("day 1 tokens") == (0, 0)


async def test_a_call_that_would_pass_a_budget_waits_for_a_person() -> None:
    shop = Shop(f"day {MOST + 39} tokens")
    await shop.payer().ask(PROMPT)
    again = replace(PROMPT, key="r1/ask 2")
    for _ in range(2):
        with pytest.raises(Waiting, match="would pass the budget") as waits:
            await shop.payer().ask(again)
    (record,) = shop.questions.listed()
    assert waits.value.topic == record.question.id
    assert waits.value.until == record.until
    assert (record.question.assumed, record.question.choices) == (STOP, (GO_ON, STOP))
    assert record.question.needs == "decide"
    assert len(shop.model.asked) == 1
    assert shop.passed() == [(f"day {MOST + 39} tokens", False)]
    # Told again each time, under one name: whoever keeps alerts keeps one.
    assert len({each.id for each in shop.alerts}) == 1


async def test_a_run_that_may_go_on_does_and_others_ask_anew() -> None:
    shop = Shop("day 10 tokens")
    with pytest.raises(Waiting):
        await shop.payer().ask(PROMPT)
    shop.say(GO_ON)
    payer = shop.payer()
    await payer.ask(PROMPT)
    await payer.ask(replace(PROMPT, key="r1/ask 2"))
    assert len(shop.questions.listed()) == 1
    with pytest.raises(Waiting):
        await shop.payer("r2").ask(replace(PROMPT, key="r2/ask"))
    assert [each.question.run for each in shop.questions.listed()] == ["r1", "r2"]


async def test_the_next_day_is_asked_about_anew() -> None:
    shop = Shop("day 10 tokens")
    with pytest.raises(Waiting):
        await shop.payer().ask(PROMPT)
    shop.say(GO_ON)
    shop.clock.advance(86_400)
    with pytest.raises(Waiting):
        await shop.payer().ask(PROMPT)


@pytest.mark.parametrize("answered", [True, False])
async def test_no_and_no_answer_end_it(answered: bool) -> None:
    shop = Shop("day 10 tokens")
    with pytest.raises(Waiting):
        await shop.payer().ask(PROMPT)
    if answered:
        shop.say(STOP)
    else:
        shop.clock.advance(WAIT + 1)
    with pytest.raises(BudgetExceeded, match="the budget 'day 10 tokens' is spent"):
        await shop.payer().ask(PROMPT)
    assert shop.model.asked == []


async def test_soft_ones_are_told_and_hold_nobody() -> None:
    shop = Shop("day 50 tokens soft", "day 1000 tokens")
    payer = shop.payer()
    await payer.ask(PROMPT)
    assert shop.passed() == []
    await payer.ask(replace(PROMPT, key="r1/ask 2"))
    await payer.ask(replace(PROMPT, key="r1/ask 3"))
    assert shop.passed() == [("day 50 tokens soft", True)]
    assert len({each.id for each in shop.alerts}) == 1
    assert shop.questions.listed() == ()


async def test_many_runs_at_once_pass_no_budget() -> None:
    # Room for three calls at their most, and for six as they are.
    shop = Shop(f"day {3 * MOST} tokens")
    calls = [shop.payer(f"r{n}").ask(replace(PROMPT, key=f"r{n}/ask")) for n in range(12)]
    ended = await asyncio.gather(*calls, return_exceptions=True)
    answered = [each for each in ended if isinstance(each, Reply)]
    assert all(isinstance(each, Reply | Waiting) for each in ended)
    spent, set_aside = shop.spent("day 1 tokens")
    assert spent == 40 * len(answered) <= 3 * MOST
    assert set_aside == 0
    # Those that found it full of calls under way waited for them, and were asked after all.
    assert 1 < shop.model.most_at_once <= 3
    assert len(answered) == (3 * MOST - MOST) // 40 + 1


async def test_where_money_is_limited_no_dearer_model_is_asked() -> None:
    shop = Shop("day 1 usd", dearest=0.75)
    await shop.payer().ask(PROMPT)
    await shop.payer().ask(replace(PROMPT, key="r1/ask 2", max_usd=0.5))
    assert [each.max_usd for each in shop.model.asked] == [0.75, 0.5]
    free = Shop("day 1000 tokens", "day 1 usd soft", dearest=0.75)
    await free.payer().ask(PROMPT)
    assert free.model.asked[0].max_usd is None


async def built(shop: Shop, world: World, records: dict[str, Json]) -> RunOutcome:
    """The run, or the rest of it, in a process of its own."""
    from bench.flows import driven
    from twinsmith.adapters.sandbox.canned import EmptySandbox
    from twinsmith.adapters.sandbox.review_canned import CannedReviewer

    durable = MemoryDurable(world.clock, records)
    ports = Ports(
        model=shop.payer(model=world),
        sandbox=world,
        reviewer=CannedReviewer({}),
        sanitized=EmptySandbox(),
        retriever=world.retriever,
        graph=world.graph,
        desk=world.desk,
        journal=world.journal,
        outbox=world.outbox,
        durable=durable,
        clock=world.clock,
    )
    return await driven(job_of(), Limits(), ports, durable)


@pytest.mark.parametrize("said", [GO_ON, STOP])
async def test_a_run_takes_the_same_way_whenever_it_is_replayed(said: str) -> None:
    whole = World(saying())
    await whole.build(job_of())
    assert whole.billed > 0
    for calls in range(len(whole.asked)):
        world, records = World(saying()), dict[str, Json]()
        shop = Shop("day 1 tokens", clock=world.clock)
        # The first calls are free: somebody has paid for them.
        for key in whole.answered[:calls]:
            await free(shop, key)
        with pytest.raises(Waiting):
            await built(shop, world, records)
        asked = len(world.asked)
        assert asked <= calls
        shop.say(said)
        outcome = await built(shop, world, records)
        assert len(world.answered) == len(set(world.answered))
        if said == STOP:
            assert "the budget 'day 1 tokens' is spent" in outcome.reason or outcome.solved
            assert len(world.asked) == asked
        else:
            assert len(world.asked) == len(whole.asked)
        # Killed at its end, and gone on with on another day, which has room: the same way.
        shop.clock.advance(86_400)
        del records["r1:end"]
        asked = len(world.asked)
        assert await built(shop, world, records) == outcome
        assert len(world.asked) == asked


async def free(shop: Shop, key: str) -> None:
    from twinsmith.core.costs.allowance import Amount
    from twinsmith.core.costs.claim import Claim

    payer = Payer(run="somebody")
    shop.purse.pay(Claim(key=key, payer=payer, day="2026-01-01", amount=Amount()))
