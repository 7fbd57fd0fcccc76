"""A worker: takes runs from the queue, and looks after those that nobody drives."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.driving import Change, changes, finished, requeued
from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.progress import ENDED
from twinsmith.runs.book import Book
from twinsmith.runs.dockyard import Dockyard
from twinsmith.runs.presence import Presence
from twinsmith.runs.resources import lacks_for_run
from twinsmith.runs.submit import BUILD, DELIVER, enqueue
from twinsmith.runs.telling import Telling
from twinsmith.runs.workshop import Workshop
from twinsmith.wiring.running import engine_of, messages_of

LOOK_SECONDS = 1.0


class WorkerProcess:
    """This process as a worker of a book; `said` gets a line for everything that happens."""

    def __init__(self, book: Book, concurrency: int, said: Callable[[str], None]) -> None:
        at_once = book.settings.values.workers.at_once
        if at_once and concurrency > at_once:
            raise ConfigError(
                f"{concurrency} runs at once are more than workers.at_once = {at_once} allows for "
                "all workers; take fewer"
            )
        self._book = book
        self._concurrency = concurrency
        self._at_once = at_once
        self._said = said
        self._trouble = ""
        self._presence = Presence(book.settings, concurrency=concurrency)
        self._messages = messages_of(book.settings)
        self._engine = engine_of(book.settings, self.name, self._presence.living)
        telling = Telling(book, self._engine, worker=self.name, serves=True, said=said)
        self._workshop = Workshop(
            book, self._engine, telling, lacks=lambda: lacks_for_run(book.settings)
        )
        self._dockyard = Dockyard(book, self._engine, telling)

    @property
    def name(self) -> str:
        """The name of the worker."""
        return self._presence.worker.name

    async def serve(self, stop: asyncio.Event) -> None:
        """Take runs until it is told to stop; what is under way then is handed to others."""
        async with self._presence.shown(), self._workshop, self._dockyard:
            try:
                await self._engine.open(
                    {BUILD: self._workshop.build, DELIVER: self._dockyard.deliver},
                    concurrency=self._concurrency,
                    at_once=self._at_once,
                )
                self._said(f"worker {self.name} takes up to {self._concurrency} runs at once")
                while not stop.is_set():
                    await self._look_after_runs()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), LOOK_SECONDS)
            finally:
                await self._engine.close()

    async def _look_after_runs(self) -> None:
        try:
            await self._change()
            await self._hand_out()
            self._trouble = ""
        except EngineError as error:
            # The next look may find the database again.
            if str(error) != self._trouble:
                self._trouble = str(error)
                self._said(self._trouble)

    async def _change(self) -> None:
        """Queue what lost its worker, has its answer or is overdue; strand what is too old."""
        driving = self._book.driving.listed()
        waiting = [(each.run, each.topic) for each in driving if each.state == "waiting"]
        for change in changes(
            driving,
            workers=self._presence.known(),
            me=self._presence.worker,
            busy=self._engine.busy,
            delivered=self._messages.delivered(waiting),
            now=SystemClock().now(),
        ):
            await self._changed(change)

    async def _changed(self, change: Change) -> None:
        if not self._book.driving.change(change):
            return
        kind = "run.parked" if change.state == "stranded" else "run.queued"
        self._said(f"run {change.run} {kind.removeprefix('run.')}: {change.why}")
        if self._book.progress(change.run).state not in ENDED:
            await self._book.tell(change.run, kind, {"reason": change.why})
        if not change.fence:
            # Queued for a pipeline that is gone: what the engine knows of it is dropped.
            await self._book.queue.forget(change.run)
        if change.state == "queued" and change.pipeline == self._presence.worker.pipeline:
            await self._hand_over(change.run)

    async def _hand_out(self) -> None:
        """Bring the engine's queue in line with the states of runs, whatever was cut off before."""
        book = self._book
        queued = [each.run for each in book.driving.listed() if each.state == "queued"]
        engaged = await book.queue.engaged(queued)
        driving = {each.run: each for each in book.driving.listed(also=engaged)}
        for change in finished(driving.values(), engaged):
            book.driving.change(change)
        for run in requeued(
            driving.values(),
            engaged,
            workers=self._presence.known(),
            me=self._presence.worker,
        ):
            await self._hand_over(run)

    async def _hand_over(self, run: str) -> None:
        """Put a run in the engine's queue; one that it does not know is begun."""
        known = self._book.driving.get(run)
        if known is not None and not await self._book.queue.again(run):
            await enqueue(self._book, self._book.given(run), known.priority)
