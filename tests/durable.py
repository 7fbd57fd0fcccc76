"""Engines for tests: one store, opened by one after another as processes come and go."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.durable.dbos_engine import DbosEngine
from twinsmith.adapters.durable.dbos_queue import DbosQueue
from twinsmith.adapters.durable.driving import DrivingTable
from twinsmith.adapters.durable.memory import MemoryDurable
from twinsmith.adapters.messages import MessageTable
from twinsmith.core.events import Json
from twinsmith.ports import Durable, Workflow

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A frozen value with a tuple in it: what steps give back."""

    text: str
    parts: tuple[int, ...] = ()


class Engine(Durable, Protocol):
    async def open(self, workflows: dict[str, Workflow]) -> None: ...

    async def drive(self, workflow: str, run: str, given: Json) -> Json: ...


class Place:
    """One store, opened by one engine after another as processes come and go."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = StoppedClock()
        self.records: dict[str, Json] = {}

    @asynccontextmanager
    async def engine(self, pipeline: str = "1") -> AsyncIterator[Engine]:
        if not self.url:
            yield MemoryDurable(self.clock, self.records)
            return
        engine = self.dbos(pipeline)
        try:
            yield engine
        finally:
            await engine.close()

    def dbos(self, pipeline: str = "1") -> DbosEngine:
        return DbosEngine(
            self.url,
            pipeline,
            worker=f"w{secrets.token_hex(4)}",
            leases=DrivingTable(self.url),
            messages=MessageTable(self.url),
            clock=self.clock,
            living=list,
        )

    async def cancel(self, run: str) -> None:
        if self.url:
            await DbosQueue(self.url, "1").cancel(run)
        else:
            await MemoryDurable(self.clock, self.records).cancel(run)


class StoppedClock(SystemClock):
    """A clock that stands where it was put."""

    at = "2026-11-16T10:00:00.000000+00:00"

    def now(self) -> str:
        return self.at


async def drive(
    engine: Engine, run: str, flow: Callable[[], Awaitable[T]], kind: type[T], given: Json = None
) -> T:
    """What a workflow of this flow gives."""

    async def workflow(_run: str, _given: Json) -> Json:
        return to_json(await flow(), kind)

    await engine.open({"flow": workflow})
    return from_json(await engine.drive("flow", run, given), kind)


def counted(calls: list[str], name: str, value: Made) -> Callable[[], Awaitable[Made]]:
    async def work() -> Made:
        calls.append(name)
        return value

    return work
