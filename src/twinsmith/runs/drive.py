"""Runs driven in this process, for the person who sits at it: begun, resumed, parked, ended."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

from twinsmith.adapters.desk.terminal import Terminal
from twinsmith.core.driving import Driving
from twinsmith.core.errors import DatabaseAway, EngineError, RunBusy, RunCancelled, TwinsmithError
from twinsmith.core.events import Json
from twinsmith.core.run_record import Given
from twinsmith.core.task import Job
from twinsmith.runs.book import Book
from twinsmith.runs.dockyard import Dockyard
from twinsmith.runs.ended import Outcome, outcome_in
from twinsmith.runs.presence import Presence
from twinsmith.runs.submit import BUILD, DELIVER, workflow_of
from twinsmith.runs.telling import Telling
from twinsmith.runs.workshop import Workshop
from twinsmith.wiring.running import engine_of, node_of

if TYPE_CHECKING:
    from twinsmith.adapters.durable.dbos_engine import DbosEngine


class Driver:
    """Drives runs of a book, one at a time."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.terminal: Terminal | None = None
        """Where a person sits who may be asked; None where nobody does."""
        self.aside: Callable[[], AbstractContextManager[None]] = nullcontext
        """Makes room on the screen while a person is asked; set by whoever shows the run."""
        self.arriving: dict[str, int] = {}
        """Parts of answers that are coming in, by question."""

    async def start(self, job: Given, key: str | None = None) -> Outcome:
        """Begin a run and see it to its end; RunBusy where its key has given another run before."""
        book, presence = self.book, Presence(self.book.settings)
        async with presence.shown():
            book.keep(job)
            mine = Driving(
                run=job.run,
                state="driven",
                worker=presence.worker.name,
                fence=1,
                pipeline=presence.worker.pipeline,
                node=node_of(book.settings),
            )
            known = book.driving.submit(mine, key)
            if known != job.run:
                raise RunBusy(
                    f"key {key!r} is run {known}; follow it with: twinsmith watch {known}"
                )
            await book.anchor_ended()
            await book.tell_started(job)
            return await self._see_through(job, presence, fence=1)

    async def resume(self, run: str) -> Outcome:
        """Go on with a run where it stopped; one that has ended gives its recorded outcome."""
        book = self.book
        job = book.given(run)
        if book.progress(run).state == "cancelled":
            raise RunCancelled(f"run {run} was cancelled; start a new build")
        presence = Presence(book.settings)
        async with presence.shown():
            living = [*presence.living(), presence.worker.name]
            fence = book.driving.claim(
                run, presence.worker.name, pipeline=presence.worker.pipeline, living=living
            )
            await book.tell_started(job)
            return await self._see_through(job, presence, fence=fence)

    async def _see_through(self, job: Given, presence: Presence, *, fence: int) -> Outcome:
        engine = engine_of(self.book.settings, presence.worker.name, presence.living)
        telling = Telling(
            self.book, engine, worker=presence.worker.name, serves=False, said=lambda _line: None
        )
        engine.adopt(job.run, fence)
        try:
            return outcome_in(job, await self._driven(job, engine, telling))
        except (TwinsmithError, asyncio.CancelledError) as error:
            if not telling.began or isinstance(error, DatabaseAway):
                await self._park(job.run, error)
            raise

    async def _driven(self, job: Given, engine: "DbosEngine", telling: Telling) -> Json:
        """The recorded end of a run, in the world that it needs: models are not opened for all."""
        world = (
            Workshop(self.book, engine, telling, terminal=self.terminal, heard=self._heard)
            if isinstance(job, Job)
            else Dockyard(self.book, engine, telling)
        )
        async with world:
            try:
                if isinstance(world, Workshop):
                    await engine.open({BUILD: world.build})
                else:
                    await engine.open({DELIVER: world.deliver})
                return await engine.drive(*workflow_of(job))
            finally:
                await engine.close()

    async def _park(self, run: str, error: BaseException) -> None:
        """Note why a run could not even be begun; where the database is away, nobody can."""
        with suppress(EngineError):
            self.book.driving.seize(run, "parked")
            reason = str(error) or "interrupted by a person"
            await self.book.tell(run, "run.parked", {"reason": reason})

    def _heard(self, key: str, parts: int) -> None:
        """Count what is coming in of an answer; one that is here is counted no more."""
        if parts:
            self.arriving[key] = parts
        else:
            self.arriving.pop(key, None)
