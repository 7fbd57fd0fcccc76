"""One run's dealings with the outside world: each done once, paid once, journalled once.

Everything here is replayed when a run goes on after an interruption: finished steps give back what
they gave before, and events that the journal has already are not kept twice. Whatever is decided
here follows from what steps gave, never from a clock and never from which of several steps at once
came back first: then a replay takes the same way. Steps at once have to begin in the same order,
so nothing waits between the question of a stage and the beginning of its step.
"""

import hashlib
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from twinsmith.core.budget import Ledger
from twinsmith.core.errors import (
    BadReply,
    BudgetExceeded,
    ConfigError,
    EngineError,
    ModelUnavailable,
)
from twinsmith.core.events import Event, Json
from twinsmith.core.execution import Execution
from twinsmith.core.knowing.insight import Reminder
from twinsmith.core.knowing.knowledge import Built, Hit
from twinsmith.core.model import (
    Prompt,
    Question,
    Reply,
    facts_of_failure,
    facts_of_question,
    facts_of_reply,
)
from twinsmith.core.task import Job
from twinsmith.core.variants import Variant, Varied
from twinsmith.core.verdict import Finding
from twinsmith.flow.at_once import all_through
from twinsmith.flow.begun import Begun
from twinsmith.flow.remembered import Inspected, Recalled, Remembered
from twinsmith.flow.timed import Timed, timed
from twinsmith.ports import (
    Clock,
    Desk,
    Durable,
    Graph,
    Journal,
    Model,
    Outbox,
    Retriever,
    Reviewer,
    Sandbox,
)

T = TypeVar("T")
U = TypeVar("U")
LONGEST_PROBLEM = 500
MOST_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The outside world of one run."""

    model: Model
    sandbox: Sandbox
    reviewer: Reviewer
    sanitized: Sandbox
    """The same sandbox with builds that notice what is undefined."""
    retriever: Retriever
    graph: Graph
    desk: Desk
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
        self._job = job
        self._ports = ports
        self._executions = 0
        self._questions = 0
        self._begun = Begun()

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in the order of the questions."""
        return self._begun.models

    @property
    def short(self) -> str:
        """What the budget could not pay, once there is something."""
        return self._begun.short

    async def ask(self, question: Question) -> Reply:
        """One question to a model: a step of its own, so that it is never paid twice."""
        role, nth, retry = question.role, question.nth, question.retry
        name = f"ask {role} {nth}" + (f" again {retry}" if retry else "")
        longest = min(question.tokens or self._job.reply_tokens, self._job.reply_tokens)
        with self._begun.step(name):
            reserved = self.ledger.reserve(question.text, longest)
        prompt = Prompt(
            key=f"{self._job.run}/{name}",
            role=role,
            nth=nth,
            retry=retry,
            text=question.text,
            task=self._job.task.text,
            seed=self._job.seed + nth + 1000 * retry,
            max_tokens=reserved.reply_tokens,
            ensemble=question.ensemble,
            purpose=question.purpose,
            temperature=question.temperature,
            schema=question.schema,
            max_usd=reserved.usd,
        )
        try:
            reply, seconds = await self._timed(name, lambda: self._ask(name, prompt), Timed[Reply])
        except BaseException:
            self.ledger.release(reserved)
            raise
        self.ledger.settle(reserved, tokens=reply.tokens, usd=reply.usd)
        self._begun.answered(name, reply.model)
        reply = replace(reply, seconds=seconds)
        await self.tell("model.replied", key=name, who=role, data=facts_of_reply(prompt, reply))
        return reply

    async def together(
        self, asked: Sequence[Coroutine[Any, Any, T]], also: Sequence[Coroutine[Any, Any, U]]
    ) -> tuple[list[T], list[U]]:
        """Everything at once: the embedded model answers four in little more time than two.

        Where one fails, the others are waited for: they are paid, so their answers are kept. One by
        one where money is limited: what one may cost is only known when all before it are paid.
        """
        if self._job.budget.usd is not None:
            try:
                return await self.in_turn(asked), await self.in_turn(also)
            finally:
                for one in also:
                    one.close()
        if len(asked) + len(also) <= MOST_AT_ONCE:
            with self.ledger.at_once():
                return await all_through(asked, also)
        return await self._in_batches(asked), await self._in_batches(also)

    async def _in_batches(self, asked: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Some at once: what is set aside for all of them may be more than there is."""
        found: list[T] = []
        try:
            for first in range(0, len(asked), MOST_AT_ONCE):
                with self.ledger.at_once():
                    some, _ = await all_through(asked[first : first + MOST_AT_ONCE], ())
                found += some
        finally:
            for one in asked:
                one.close()
        return found

    async def in_turn(self, asked: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """One after the other."""
        try:
            return [await one for one in asked]
        finally:
            # Those that were not begun, because one before them could not be answered.
            for one in asked:
                one.close()

    async def execute(
        self, number: int, work: Callable[[Sandbox], Awaitable[Execution]]
    ) -> Execution:
        """One execution in the sandbox."""
        self._executions += 1
        name = f"execute {number}, {self._executions}"
        execution, seconds = await self._timed(
            name, lambda: work(self._ports.sandbox), Timed[Execution]
        )
        await self.tell(
            "candidate.executed",
            key=name,
            who="sandbox",
            data={
                "candidate": number,
                "seconds": round(seconds, 3),
                "outcomes": dict(Counter(r.outcome for r in execution.results)),
                "problem": execution.problem[:LONGEST_PROBLEM],
            },
        )
        return execution

    async def vary(
        self, number: int, work: Callable[[Sandbox], Awaitable[Varied]]
    ) -> tuple[Variant, ...]:
        """Edits of the first so many candidates, tried once; those that are worth keeping."""
        name = f"vary {number}"
        found, seconds = await self._timed(name, lambda: work(self._ports.sandbox), Timed[Varied])
        data: dict[str, Json] = {
            "after": number,
            "tried": found.tried,
            "kept": [variant.of for variant in found.kept],
            "seconds": round(seconds, 3),
        }
        await self.tell("candidates.varied", key=name, who="sandbox", data=data)
        return found.kept

    async def inspect(
        self, number: int, work: Callable[[Reviewer, Sandbox], Awaitable[tuple[Finding, ...]]]
    ) -> tuple[Finding, ...]:
        """What is wrong with a candidate besides its results."""
        name = f"inspect {number}"

        async def look() -> Inspected:
            return Inspected(findings=await work(self._ports.reviewer, self._ports.sanitized))

        seen, _ = await self._timed(name, look, Timed[Inspected])
        data: dict[str, Json] = {
            "candidate": number,
            "findings": [f"{each.severity} {each.what}, {each.where}" for each in seen.findings],
        }
        await self.tell("candidate.inspected", key=name, who="reviewer", data=data)
        return seen.findings

    async def ask_person(self, question: str, assumed: str) -> str:
        """One question to a person, asked once; the answer is recorded."""

        async def ask() -> str:
            return await self._ports.desk.ask(question, assumed)

        self._questions += 1
        name = f"ask a person {self._questions}"
        answer = await self._ports.durable.step(name, ask, str)
        await self.tell(
            "person.answered",
            key=name,
            who="person" if answer != assumed else "twinsmith",
            data={"question": question, "assumed": assumed, "answer": answer},
        )
        return answer

    async def recall(
        self, work: Callable[[Retriever], Awaitable[tuple[Hit, ...]]], *, about: str = ""
    ) -> tuple[Hit, ...]:
        """What is known, looked up once for each thing that it is about."""

        async def look() -> Recalled:
            try:
                return Recalled(hits=await work(self._ports.retriever))
            except (ConfigError, EngineError, ModelUnavailable) as error:
                return Recalled(hits=(), problem=str(error))

        name = f"recall {about}".rstrip()
        found, _ = await self._timed(name, look, Timed[Recalled])
        data: dict[str, Json] = {
            "pieces": [f"{hit.passage.source}: {hit.passage.path}" for hit in found.hits],
            "problem": found.problem,
        }
        await self.tell("knowledge.recalled", key=name, who="twinsmith", data=data)
        return found.hits

    async def remember(
        self, work: Callable[[Graph], Awaitable[tuple[Reminder, ...]]]
    ) -> tuple[Reminder, ...]:
        """What earlier runs learned, looked up once; a graph that is away stops no run."""

        async def look() -> Remembered:
            try:
                return Remembered(reminders=await work(self._ports.graph))
            except (ConfigError, EngineError) as error:
                return Remembered(reminders=(), problem=str(error))

        found, _ = await self._timed("remember", look, Timed[Remembered])
        data: dict[str, Json] = {
            "insights": [each.key for each in found.reminders],
            "problem": found.problem,
        }
        await self.tell("insights.remembered", key="remember", who="twinsmith", data=data)
        return found.reminders

    async def share(self, work: Callable[[Graph, str], Awaitable[int]]) -> None:
        """Keep what was learned, once; where the graph is away the journal says so."""

        async def keep() -> str:
            try:
                return f"{await work(self._ports.graph, self._ports.clock.now())} insights"
            except (ConfigError, EngineError) as error:
                return f"not kept: {error}"

        said = await self._ports.durable.step("share", keep, str)
        await self.tell("insights.shared", key="share", who="twinsmith", data={"said": said})

    async def keep(self, made: Built) -> None:
        """Put a verified program into the library, once; where it is away the journal says so."""

        async def put() -> str:
            try:
                return await self._ports.retriever.keep(made)
            except (ConfigError, EngineError, ModelUnavailable) as error:
                return f"not kept: {error}"

        said = await self._ports.durable.step("keep", put, str)
        await self.tell("program.kept", key="keep", who="twinsmith", data={"said": said})

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

    async def _ask(self, name: str, prompt: Prompt) -> Reply:
        await self.tell("model.asked", key=name, who=prompt.role, data=facts_of_question(prompt))
        try:
            return await self._ports.model.ask(prompt)
        except ModelUnavailable as error:
            # Without a key: each failed try is an event of its own.
            failed = facts_of_failure(prompt, str(error))
            await self._ports.journal.append(
                Event(run=self._job.run, kind="model.failed", who=prompt.role, data=failed)
            )
            raise

    async def _timed(
        self, name: str, work: Callable[[], Awaitable[T]], kind: type[Timed[T]]
    ) -> tuple[T, float]:
        """What a step gave and the seconds it took; BudgetExceeded where it ran out of them."""
        with self._begun.step(name):
            left = self.ledger.seconds_left()

            async def within() -> Timed[T]:
                return await timed(work, most=left, clock=self._ports.clock)

            done = await self._ports.durable.step(name, within, kind)
            self.ledger.took(done.seconds)
            if done.value is None:
                raise BudgetExceeded(
                    f"the budget of {self._job.budget.seconds:g} seconds ran out during '{name}'; "
                    "give more with --budget-seconds in a new build"
                )
            return done.value, done.seconds
