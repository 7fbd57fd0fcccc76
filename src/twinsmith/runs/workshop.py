"""The workflow of builds, and the outside world that all builds of a process share."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.driving import Driving
from twinsmith.core.errors import TwinsmithError, Waiting
from twinsmith.core.events import Json
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.task import Job
from twinsmith.runs.alerts import raise_alert
from twinsmith.runs.book import Book
from twinsmith.runs.challengers import ChallengerBook
from twinsmith.runs.noted import note_job, note_shipped
from twinsmith.runs.telling import Telling
from twinsmith.wiring.running import node_of

if TYPE_CHECKING:
    from twinsmith.adapters.desk.terminal import Terminal
    from twinsmith.adapters.durable.dbos_engine import DbosEngine
    from twinsmith.flow.recorder import Ports
    from twinsmith.ports import Journal, Model

ROOM_SECONDS = 15.0
"""A run that found no room is taken again after so long, by whichever worker has some then."""


def _unheard(_key: str, _parts: int) -> None:
    pass


def _nothing() -> str:
    return ""


class Workshop:
    """Builds runs of a book in this process, any number at once, with the same models and tools.

    `lacks` says why the machine has no room for a further run; empty where it has.
    """

    def __init__(
        self,
        book: Book,
        engine: "DbosEngine",
        telling: Telling,
        *,
        terminal: "Terminal | None" = None,
        heard: Callable[[str, int], None] = _unheard,
        lacks: Callable[[], str] = _nothing,
    ) -> None:
        self._book = book
        self._engine = engine
        self._telling = telling
        self._terminal = terminal
        self._heard = heard
        self._lacks = lacks
        self._challengers = ChallengerBook(book)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open what all runs share."""
        from twinsmith.flow.challenged import ChallengedModel
        from twinsmith.flow.registered import RegisteredModel
        from twinsmith.wiring.costs import purse_of, rules_of
        from twinsmith.wiring.graph import opened_graph
        from twinsmith.wiring.knowledge import opened_retriever
        from twinsmith.wiring.models import opened_model
        from twinsmith.wiring.resources import cap_all
        from twinsmith.wiring.sandbox import limits_of, sandbox_of
        from twinsmith.wiring.trying import challengers_of, registry_of

        settings, enter = self._book.settings, self._stack.enter_async_context
        cap_all(settings)
        try:
            self._limits = limits_of(settings)
            self._sandbox = sandbox_of(settings)
            self._isolation = str(await self._sandbox.isolation())
            registry = registry_of(settings)
            await asyncio.to_thread(note_shipped, settings)
            opened = await enter(opened_model(settings, self._heard))
            registered = RegisteredModel(opened, registry, SystemClock())
            self._model = ChallengedModel(registered, challengers_of(settings), SystemClock())
            self._retriever = await enter(opened_retriever(settings))
            self._graph = await enter(opened_graph(settings))
            self._purse, self._rules = purse_of(settings), rules_of(settings)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def build(self, _run: str, given: Json) -> Json:
        """The workflow of a build: its job in, its outcome out, everything told in the journal."""
        from twinsmith.adapters.codec import from_json, to_json

        job = from_json(given, Job)

        async def built(driving: Driving) -> RunOutcome:
            return await self._built(job, driving)

        try:
            outcome = await self._telling.told(job, built, self._tell_ended)
        finally:
            await self._try(job)
            await self._look()
        return to_json(outcome, RunOutcome)

    async def _look(self) -> None:
        """Let challengers fall back whose guards are broken; what fails in that is no run's."""
        try:
            for score in await self._challengers.look():
                self._telling.say(f"{score.challenge.model} falls back: {score.broken}")
        except TwinsmithError as error:
            self._telling.say(f"challengers: {error}")

    async def _try(self, job: Job) -> None:
        """Let a run that ends or breaks here decide what it decides of experiments.

        Whatever fails in that is no fault of the run: the next one that ends decides then.
        """
        if not job.experiments:
            return
        from twinsmith.runs.promotion import reviewed_after
        from twinsmith.runs.replay import fed

        try:
            await reviewed_after(self._book, job)
            for name, _ in job.experiments:
                await fed(self._book, name)
        except TwinsmithError as error:
            self._telling.say(f"experiments of run {job.run}: {error}")

    async def _built(self, job: Job, driving: Driving) -> RunOutcome:
        from twinsmith.flow.pipeline import build
        from twinsmith.prompts import using
        from twinsmith.wiring.delivering import soon
        from twinsmith.wiring.trying import templates_of

        lacks = self._lacks()
        if lacks:
            raise Waiting(f"no room for it here: {lacks}", topic="room", until=soon(ROOM_SECONDS))
        told: dict[str, Json] = {"isolation": self._isolation}
        await self._telling.tell(job.run, "sandbox.ready", told, key=self._isolation)
        texts = await asyncio.to_thread(templates_of, self._book.settings, job.arrangement)
        await asyncio.to_thread(note_job, self._book.settings, job)
        with using(texts):
            return await build(job, self._limits, self._ports(job, driving))

    def _ports(self, job: Job, driving: Driving) -> "Ports":
        from twinsmith.adapters.journal.fenced import FencedJournal
        from twinsmith.flow.recorder import Ports
        from twinsmith.wiring.outbox import outbox_of
        from twinsmith.wiring.people import desk_of
        from twinsmith.wiring.sandbox import reviewer_of, sanitized_of
        from twinsmith.wiring.trying import arranged

        settings = arranged(self._book.settings, job.arrangement)
        journal = FencedJournal(self._book.journal, self._engine.check)
        here = driving.node in ("", node_of(settings))
        return Ports(
            model=self._budgeted(job, journal),
            sandbox=self._sandbox,
            reviewer=reviewer_of(settings, self._sandbox),
            sanitized=sanitized_of(settings, self._sandbox),
            retriever=self._retriever,
            graph=self._graph,
            desk=desk_of(settings, self._terminal, attended=driving.attended),
            journal=journal,
            outbox=outbox_of(settings, here=here),
            durable=self._engine,
            clock=SystemClock(),
            telemetry=self._book.telemetry,
        )

    def _budgeted(self, job: Job, journal: "Journal") -> "Model":
        """The models, as whoever gave the job may ask them."""
        from twinsmith.core.costs.allowance import Payer
        from twinsmith.core.costs.spending import name_in
        from twinsmith.flow.budgeted import BudgetedModel
        from twinsmith.wiring.costs import dearest_of, till_of

        app = job.mend.app if job.mend else ""
        payer = Payer(run=job.run, person=name_in(self._book.given_by(job.run)), app=app)
        till = till_of(
            self._book.settings,
            self._purse,
            journal,
            parks=True,
            alert=lambda alert: raise_alert(self._book, alert),
            dearest=dearest_of(self._book.settings, job.arrangement, self._challenging),
        )
        return BudgetedModel(self._model, payer, self._rules, till)

    def _challenging(self) -> tuple[str, ...]:
        """The models that may be asked beside those of a job."""
        from twinsmith.wiring.trying import challengers_of

        return tuple(each.model for each in challengers_of(self._book.settings).running())

    async def _tell_ended(self, outcome: RunOutcome) -> None:
        self._telling.say(f"run {outcome.run} {'solved' if outcome.solved else 'not solved'}")
        await self._book.end(
            outcome.run,
            "solved" if outcome.solved else "not solved",
            {
                "reason": outcome.reason,
                "out": outcome.out,
                "winner": outcome.winner,
                "confidence": round(outcome.confidence, 3),
                "tokens": outcome.spent.tokens,
                "seconds": round(outcome.spent.seconds, 3),
            },
        )
