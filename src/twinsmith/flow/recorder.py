"""One run's dealings with the outside world: each done once, paid once, journalled once.

Everything here is replayed when a run goes on after an interruption: finished steps give back what
they gave before, and events that the journal has already are not kept twice. Whatever is decided
here follows from what steps gave, never from a clock and never from which of several steps at once
came back first: then a replay takes the same way. Steps at once have to begin in the same order,
so nothing waits between the question of a stage and the beginning of its step.
"""

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
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
    facts_of_reading,
    facts_of_reply,
)
from twinsmith.core.people.question import PersonalQuestion
from twinsmith.core.task import Job
from twinsmith.core.variants import Variant, Varied
from twinsmith.core.verdict import Finding
from twinsmith.flow.at_once import all_through
from twinsmith.flow.begun import Begun
from twinsmith.flow.bound import prompt_of
from twinsmith.flow.people import answer_to
from twinsmith.flow.remembered import Inspected, Recalled, Remembered
from twinsmith.flow.timed import Timed, timed
from twinsmith.flow.traced import UNTOLD, Traced
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
    Telemetry,
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
    """A sandbox like the other one whose builds notice undefined behaviour."""
    retriever: Retriever
    graph: Graph
    desk: Desk
    journal: Journal
    outbox: Outbox
    durable: Durable
    clock: Clock
    telemetry: Telemetry = UNTOLD


@dataclass(slots=True)
class StageNote:
    """The note that a stage leaves in the journal when it is finished."""

    text: str = ""


class Recorder:
    """The recorder of one run: asks, executes and publishes for it, and keeps count."""

    def __init__(self, job: Job, ports: Ports) -> None:
        self.ledger = Ledger(job.budget)
        self._job = job
        self._ports = ports
        self._executions = 0
        self._questions = 0
        self._begun = Begun()
        self._traced = Traced(job.run, job.trace, ports.telemetry, ports.clock)
        self._sandbox = self._traced.counted(ports.sandbox)
        self._sanitized = self._traced.counted(ports.sanitized)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in the order of the questions."""
        return self._begun.models

    @property
    def short(self) -> str:
        """The message of the first step that the budget could not pay; empty where it paid all."""
        return self._begun.short

    async def ask(self, question: Question) -> Reply:
        """One question to a model: a step of its own, so that it is never paid twice."""
        role, nth, retry = question.role, question.nth, question.retry
        name = f"ask {role} {nth}" + (f" again {retry}" if retry else "")
        longest = min(question.tokens or self._job.reply_tokens, self._job.reply_tokens)
        with self._begun.step(name):
            reserved = self.ledger.reserve(question.text, longest)
        prompt = prompt_of(question, self._job, name, reserved)
        try:
            reply, seconds = await self._timed(
                name, lambda: self._ask(name, prompt), Timed[Reply], prompt
            )
        except BaseException:
            self.ledger.release(reserved)
            raise
        self.ledger.settle(reserved, tokens=reply.tokens, usd=reply.usd)
        self._begun.answered(name, reply.model)
        reply = replace(reply, seconds=seconds)
        facts = facts_of_reply(prompt, reply) | facts_of_reading(question.read, reply.text)
        await self.tell("model.replied", key=name, who=role, data=facts)
        return reply

    async def together(
        self, asked: Sequence[Coroutine[Any, Any, T]], also: Sequence[Coroutine[Any, Any, U]]
    ) -> tuple[list[T], list[U]]:
        """The answers of all, asked at once: a local model answers four nearly as fast as two.

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
        """The answers of all, asked some at a time: the budget may not cover all at once."""
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
        """The answers of all, asked one after the other."""
        try:
            return [await one for one in asked]
        finally:
            # Those that were not begun, because one before them could not be answered.
            for one in asked:
                one.close()

    async def execute(
        self, number: int, action: Callable[[Sandbox], Awaitable[Execution]]
    ) -> Execution:
        """The execution of a candidate in the sandbox, as a step that is journalled."""
        self._executions += 1
        name = f"execute {number}, {self._executions}"
        execution, seconds = await self._timed(
            name, lambda: action(self._sandbox), Timed[Execution]
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
        self, number: int, action: Callable[[Sandbox], Awaitable[Varied]]
    ) -> tuple[Variant, ...]:
        """The edits of the first `number` candidates that are worth keeping, tried once."""
        name = f"vary {number}"
        found, seconds = await self._timed(name, lambda: action(self._sandbox), Timed[Varied])
        data: dict[str, Json] = {
            "after": number,
            "tried": found.tried,
            "kept": [variant.of for variant in found.kept],
            "seconds": round(seconds, 3),
        }
        await self.tell("candidates.varied", key=name, who="sandbox", data=data)
        return found.kept

    async def inspect(
        self, number: int, action: Callable[[Reviewer, Sandbox], Awaitable[tuple[Finding, ...]]]
    ) -> tuple[Finding, ...]:
        """The reviewer's findings on a candidate, besides its results."""
        name = f"inspect {number}"

        async def look() -> Inspected:
            return Inspected(findings=await action(self._ports.reviewer, self._sanitized))

        seen, _ = await self._timed(name, look, Timed[Inspected])
        data: dict[str, Json] = {
            "candidate": number,
            "findings": [f"{each.severity} {each.what}, {each.where}" for each in seen.findings],
        }
        await self.tell("candidate.inspected", key=name, who="reviewer", data=data)
        return seen.findings

    async def ask_person(self, question: str, assumed: str, choices: Sequence[str] = ()) -> str:
        """The answer of a person to a question, asked once and recorded.

        Raises Waiting where the run is left until somebody answers.
        """
        self._questions += 1
        run, name = self._job.run, f"ask a person {self._questions}"
        asked = PersonalQuestion(
            id=f"{run}.{self._questions}",
            run=run,
            text=question,
            assumed=assumed,
            choices=tuple(choices),
        )
        with self._traced.stage(name):
            answer = await answer_to(asked, name, self._ports.desk, self._ports.durable)
        await self.tell(
            "person.answered",
            key=name,
            who="person" if answer != assumed else "twinsmith",
            data={"question": question, "assumed": assumed, "answer": answer},
        )
        return answer

    async def recall(
        self, action: Callable[[Retriever], Awaitable[tuple[Hit, ...]]], *, about: str = ""
    ) -> tuple[Hit, ...]:
        """The pieces of knowledge about a thing, looked up once; none where the library is away."""

        async def look() -> Recalled:
            try:
                return Recalled(hits=await action(self._ports.retriever))
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
        self, action: Callable[[Graph], Awaitable[tuple[Reminder, ...]]]
    ) -> tuple[Reminder, ...]:
        """The insights of earlier runs, looked up once; none where the graph is away."""

        async def look() -> Remembered:
            try:
                return Remembered(reminders=await action(self._ports.graph))
            except (ConfigError, EngineError) as error:
                return Remembered(reminders=(), problem=str(error))

        found, _ = await self._timed("remember", look, Timed[Remembered])
        data: dict[str, Json] = {
            "insights": [each.key for each in found.reminders],
            "problem": found.problem,
        }
        await self.tell("insights.remembered", key="remember", who="twinsmith", data=data)
        return found.reminders

    async def share(self, action: Callable[[Graph, str], Awaitable[int]]) -> None:
        """Keep the insights of this run, once; where the graph is away the journal says so."""

        async def keep() -> str:
            try:
                return f"{await action(self._ports.graph, self._ports.clock.now())} insights"
            except (ConfigError, EngineError) as error:
                return f"not kept: {error}"

        said = await self._ports.durable.step("share", self._traced.step("share", keep), str)
        await self.tell("insights.shared", key="share", who="twinsmith", data={"said": said})

    async def keep(self, made: Built) -> None:
        """Put a verified program into the library, once; where it is away the journal says so."""

        async def put() -> str:
            try:
                return await self._ports.retriever.keep(made)
            except (ConfigError, EngineError, ModelUnavailable) as error:
                return f"not kept: {error}"

        said = await self._ports.durable.step("keep", self._traced.step("keep", put), str)
        await self.tell("program.kept", key="keep", who="twinsmith", data={"said": said})

    async def publish(self, files: Mapping[str, str]) -> None:
        """Hand the files of the result to the person, once."""

        async def put() -> bool:
            await self._ports.outbox.publish(self._job.run, self._job.out, files)
            return True

        await self._ports.durable.step("publish", self._traced.step("publish", put), bool)
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
        """Keep one event in the journal; replaying it changes nothing."""
        await self._ports.journal.append(
            Event(run=self._job.run, kind=kind, who=who, data=data, key=f"{kind}:{key}")
        )

    @asynccontextmanager
    async def stage(self, name: str) -> AsyncIterator[StageNote]:
        """Journal the beginning and the end of a stage, with the note that it leaves."""
        await self.tell("stage.started", key=name, who="twinsmith", data={"stage": name})
        note = StageNote()
        try:
            with self._traced.stage(name):
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
        self,
        name: str,
        action: Callable[[], Awaitable[T]],
        kind: type[Timed[T]],
        prompt: Prompt | None = None,
    ) -> tuple[T, float]:
        """The value of a step and the seconds it took; BudgetExceeded where it ran out of them."""
        with self._begun.step(name):
            left = self.ledger.seconds_left()

            async def within() -> Timed[T]:
                return await timed(action, most=left, clock=self._ports.clock)

            traced = self._traced.step(name, within, prompt)
            done = await self._ports.durable.step(name, traced, kind)
            self.ledger.took(done.seconds)
            if done.value is None:
                raise BudgetExceeded(
                    done.why
                    or f"the budget of {self._job.budget.seconds:g} seconds ran out during "
                    f"'{name}'; give more with --budget-seconds in a new build"
                )
            return done.value, done.seconds
