"""One run's dealings with the outside world: each done once, paid once, journalled once.

Everything here is replayed when a run goes on after an interruption: finished steps give back what
they gave before, and events that the journal has already are not kept twice.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from twinsmith.core.budget import Ledger
from twinsmith.core.errors import BadReply, BudgetExceeded, ModelUnavailable
from twinsmith.core.events import Event, Json
from twinsmith.core.execution import Execution
from twinsmith.core.model import Prompt, Reply, Role, facts_of_failure, facts_of_reply
from twinsmith.core.task import Job
from twinsmith.ports import Clock, Durable, Journal, Model, Outbox, Sandbox

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The outside world of one run."""

    model: Model
    sandbox: Sandbox
    journal: Journal
    outbox: Outbox
    durable: Durable
    clock: Clock


@dataclass(slots=True)
class StageNote:
    """What a stage has to say when it is finished."""

    text: str = ""


class Recorder:
    """Asks, executes and publishes for one run, and keeps count."""

    def __init__(self, job: Job, ports: Ports) -> None:
        self.ledger = Ledger(job.budget)
        self.models: tuple[str, ...] = ()
        self._job = job
        self._ports = ports

    async def ask(
        self, role: Role, nth: int, text: str, *, retry: int = 0, schema: str = ""
    ) -> Reply:
        """One question to a model: a step of its own, so that it is never paid twice."""
        name = f"ask {role} {nth}" + (f" again {retry}" if retry else "")
        reserved = self.ledger.reserve(text, self._job.reply_tokens)
        prompt = Prompt(
            key=f"{self._job.run}/{name}",
            role=role,
            nth=nth,
            retry=retry,
            text=text,
            task=self._job.task.text,
            seed=self._job.seed + nth + 1000 * retry,
            max_tokens=reserved.reply_tokens,
            temperature=temperature_of(role, nth),
            schema=schema,
            max_usd=reserved.usd,
        )
        try:
            reply = await self._timed(name, lambda: self._ask(prompt), Reply)
        except BaseException:
            self.ledger.release(reserved)
            raise
        self.ledger.settle(reserved, tokens=reply.tokens, usd=reply.usd)
        self.ledger.took(reply.seconds)
        if reply.model not in self.models:
            self.models = (*self.models, reply.model)
        await self.tell("model.replied", key=name, who=role, data=facts_of_reply(prompt, reply))
        return reply

    async def execute(
        self, number: int, work: Callable[[Sandbox], Awaitable[Execution]]
    ) -> Execution:
        """One execution in the sandbox."""
        name = f"execute {number}"

        async def timed() -> Execution:
            began = self._ports.clock.seconds()
            execution = await work(self._ports.sandbox)
            return replace(execution, seconds=self._ports.clock.seconds() - began)

        execution = await self._timed(name, timed, Execution)
        self.ledger.took(execution.seconds)
        await self.tell(
            "candidate.executed",
            key=name,
            who="sandbox",
            data={
                "candidate": number,
                "seconds": round(execution.seconds, 3),
                "outcomes": {r.name: r.outcome for r in execution.results},
            },
        )
        return execution

    async def publish(self, files: Mapping[str, str]) -> None:
        """Hand the result to the person."""

        async def put() -> bool:
            await self._ports.outbox.publish(self._job.run, self._job.out, files)
            return True

        await self._ports.durable.step("publish", put, bool)
        digests: dict[str, Json] = {
            name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()
        }
        await self.tell(
            "result.published",
            key="publish",
            who="twinsmith",
            data={"out": self._job.out, "sha256": digests},
        )

    async def tell(self, kind: str, *, key: str, who: str, data: Mapping[str, Json]) -> None:
        """Keep one event; replaying it changes nothing."""
        await self._ports.journal.append(
            Event(run=self._job.run, kind=kind, who=who, data=data, key=f"{kind}:{key}")
        )

    @asynccontextmanager
    async def stage(self, name: str) -> AsyncIterator[StageNote]:
        """Mark the beginning and the end of a stage."""
        await self.tell("stage.started", key=name, who="twinsmith", data={"stage": name})
        note = StageNote()
        try:
            yield note
        except (BadReply, BudgetExceeded) as error:
            await self._stage_finished(name, str(error))
            raise
        await self._stage_finished(name, note.text)

    async def _stage_finished(self, name: str, note: str) -> None:
        await self.tell(
            "stage.finished", key=name, who="twinsmith", data={"stage": name, "note": note}
        )

    async def _ask(self, prompt: Prompt) -> Reply:
        began = self._ports.clock.seconds()
        try:
            reply = await self._ports.model.ask(prompt)
        except ModelUnavailable as error:
            # Without a key: each failed try is an event of its own.
            failed = facts_of_failure(prompt, str(error))
            await self._ports.journal.append(
                Event(run=self._job.run, kind="model.failed", who=prompt.role, data=failed)
            )
            raise
        return replace(reply, seconds=self._ports.clock.seconds() - began)

    async def _timed(self, name: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        left = self.ledger.seconds_left()
        try:
            async with asyncio.timeout(left):
                return await self._ports.durable.step(name, work, kind)
        except TimeoutError:
            self.ledger.took(left)
            raise BudgetExceeded(
                f"the budget of {self._job.budget.seconds:g} seconds ran out during '{name}'; "
                "give more with --budget-seconds in a new build"
            ) from None


def temperature_of(role: Role, nth: int) -> float:
    """Plans and the first candidate are close to the model's best guess; later ones differ."""
    return 0.8 if role != "slow" and nth > 0 else 0.2
