"""Actions driven in this process over one open engine, any number at once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.driving import Driving
from twinsmith.core.errors import TwinsmithError, Waiting
from twinsmith.core.operating.action import Action
from twinsmith.core.progress import ENDED
from twinsmith.runs.book import Book
from twinsmith.runs.dockyard import Dockyard
from twinsmith.runs.presence import Presence
from twinsmith.runs.standing import keep_cancelled
from twinsmith.runs.submit import DELIVER, workflow_of
from twinsmith.runs.telling import Telling
from twinsmith.wiring.running import engine_of, messages_of, node_of


class Crew:
    """Begins actions, and goes on with those that were cut off; `said` gets a line for each."""

    def __init__(self, book: Book, said: Callable[[str], None]) -> None:
        self._book = book
        self._said = said
        self._presence = Presence(book.settings)
        self._engine = engine_of(book.settings, self._presence.worker.name, self._presence.living)
        self._telling = Telling(
            book, self._engine, worker=self._presence.worker.name, serves=False, said=said
        )
        self._messages = messages_of(book.settings)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._refused: dict[str, str] = {}

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Be ready to drive for as long as the block lasts."""
        dockyard = Dockyard(self._book, self._engine, self._telling)
        async with self._presence.shown(), dockyard:
            await self._engine.open({DELIVER: dockyard.deliver})
            try:
                yield
            finally:
                for task in self._tasks.values():
                    task.cancel()
                await asyncio.gather(*self._tasks.values(), return_exceptions=True)
                await self._engine.close()

    async def begin(self, action: Action) -> None:
        """Begin an action, or go on with it; whoever has begun it here already goes on."""
        if action.run not in self._tasks:
            self._tasks[action.run] = asyncio.ensure_future(self._driven(action))

    def is_busy(self, run: str) -> bool:
        """Whether a run is driven here."""
        task = self._tasks.get(run)
        return task is not None and not task.done()

    def waits(self, run: str) -> bool:
        """Whether a run waits for a person's word, or its turn, and nothing has come yet."""
        known = self._book.driving.get(run)
        if known is None or known.state != "waiting" or known.until <= SystemClock().now():
            return False
        return not self._messages.delivered([(run, known.topic)])

    async def refused(self, run: str) -> str | None:
        """Why a run was not done, in words; empty: it was; None: it is not over, or not known."""
        if not run or self.is_busy(run):
            return None
        if run in self._refused:
            return self._refused[run]
        progress = self._book.progress(run)
        if progress.state not in ENDED:
            return None
        return "" if progress.state == "done" else progress.reason or progress.state

    async def _driven(self, action: Action) -> None:
        run, book = action.run, self._book
        try:
            known = book.driving.get(run)
            if known is None:
                book.keep(action)
                self._engine.adopt(run, 1)
                book.driving.submit(self._mine(run))
                await book.tell_started(action)
            await self._engine.drive(*workflow_of(action))
        except Waiting:
            # A person's word, or its turn: whoever looks next goes on with it.
            self._tasks.pop(run, None)
        except TwinsmithError as error:
            self._refused[run] = str(error)
            await self._give_up(action, str(error))

    async def _give_up(self, action: Action, why: str) -> None:
        """End an action that cannot go on: nobody else of the app waits for it then."""
        with suppress(TwinsmithError):
            await self._book.queue.cancel(action.run)
            self._book.driving.seize(action.run, "ended")
            keep_cancelled(self._book, action)
            await self._book.end(action.run, "cancelled", {"reason": why})

    def _mine(self, run: str) -> Driving:
        worker = self._presence.worker
        return Driving(
            run=run,
            state="driven",
            worker=worker.name,
            fence=1,
            pipeline=worker.pipeline,
            node=node_of(self._book.settings),
        )
