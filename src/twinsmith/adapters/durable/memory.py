"""Steps remembered in a dictionary: the fake, and the baseline that durability is measured by."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.core.driving import Priority
from twinsmith.core.errors import EngineError, RunCancelled, Waiting
from twinsmith.core.events import Json
from twinsmith.ports import Clock, Workflow

T = TypeVar("T")


class MemoryDurable:
    """Give two of them the same `records` to play a process that died and came back."""

    def __init__(self, clock: Clock, records: dict[str, Json] | None = None) -> None:
        self._clock = clock
        self._records: dict[str, Json] = {} if records is None else records
        self._workflows: Mapping[str, Workflow] = {}
        self._run = ""
        self._begun = 0

    async def open(self, workflows: Mapping[str, Workflow]) -> None:
        """Register workflows by their names."""
        self._workflows = workflows

    async def start(
        self, workflow: str, run: str, given: Json, *, priority: Priority = "normal"
    ) -> None:
        """Keep a workflow for `drive`; there is no worker that would take it, nor an order."""
        self._records.setdefault(f"{run}:given", [workflow, given, priority])

    async def drive(self, workflow: str, run: str, given: Json) -> Json:
        """See a run to its end, or give its recorded end."""
        self._run, self._begun = run, 0
        await self.start(workflow, run, given)
        kept = self._records[f"{run}:given"]
        assert isinstance(kept, list)
        name, was, _ = kept

        async def flow() -> str:
            return json.dumps(await self._workflows[str(name)](run, was))

        ended: Json = json.loads(await self._once(f"{run}:end", flow, str))
        return ended

    async def step(self, name: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Do the work once and remember its value, under its place among all steps."""
        self._begun += 1
        place = f"{self._run}:place:{self._begun}"
        was = self._records.get(place, name)
        if was != name:
            raise EngineError(
                f"run {self._run} cannot go on: its step {self._begun} was {was!r}, now it is "
                f"{name!r}; start a new build"
            )
        value = await self._once(f"{self._run}:step:{name}", work, kind)
        self._records[place] = name
        return value

    async def send(self, run: str, topic: str, value: Json) -> bool:
        """Give a run a message; False where it has one about this topic."""
        key = f"{run}:message:{topic}"
        new = key not in self._records
        self._records.setdefault(key, value)
        return new

    async def receive(self, topic: str, until: str) -> Json:
        """The message about a topic, remembered as a step; None once the time is over."""
        run = self._run

        async def look() -> str:
            if f"{run}:message:{topic}" not in self._records and self._clock.now() < until:
                raise Waiting(f"run {run} waits until {until[:16]}", topic=topic, until=until)
            await self.send(run, topic, None)
            return json.dumps(self._records[f"{run}:message:{topic}"])

        received: Json = json.loads(await self.step(f"receive {topic}", look, str))
        return received

    async def cancel(self, run: str) -> None:
        """Stop a run for good, unless it has ended."""
        if f"{run}:end" not in self._records:
            self._records[f"{run}:cancelled"] = True

    async def _once(self, key: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        if f"{self._run}:cancelled" in self._records:
            raise RunCancelled(f"run {self._run} was cancelled; start a new build")
        if key not in self._records:
            self._records[key] = to_json(await work(), kind)
        return from_json(self._records[key], kind)
