"""A process that drives runs, as all others see it: it is there, and it lives."""

import asyncio
import os
import secrets
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from twinsmith.adapters.lease import lease
from twinsmith.core.driving import Worker
from twinsmith.core.errors import EngineError
from twinsmith.settings import Settings
from twinsmith.wiring.running import has_ended, known_workers, lease_folder, workers_of

BEAT_SECONDS = 2.0


class Presence:
    """This process among the workers of a database.

    It tells every two seconds that it lives, from the loop that drives its runs: one that hangs
    falls silent. On its own machine a lock tells at once that it has ended.
    """

    def __init__(self, settings: Settings, *, concurrency: int = 0) -> None:
        from twinsmith.flow.pipeline import PIPELINE_VERSION

        self._settings = settings
        self._table = workers_of(settings)
        self.worker = Worker(
            name=f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}",
            pipeline=PIPELINE_VERSION,
            serves=concurrency > 0,
            concurrency=max(concurrency, 1),
        )

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Be there for as long as the block lasts."""
        folder = lease_folder(self._settings, self.worker.name)
        with lease(folder, f"worker {self.worker.name}"):
            self._forget_ended()
            self._table.beat(self.worker)
            beating = asyncio.ensure_future(self._beat())
            try:
                yield
            finally:
                beating.cancel()
                await asyncio.gather(beating, return_exceptions=True)
                with suppress(EngineError):
                    self._table.leave(self.worker.name)
                shutil.rmtree(folder, ignore_errors=True)

    def known(self) -> tuple[Worker, ...]:
        """Every worker of the database."""
        return known_workers(self._settings, self._table)

    def living(self) -> list[str]:
        """The names of the workers that live."""
        return [each.name for each in self.known() if each.lives]

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with suppress(EngineError):
                await asyncio.to_thread(self._table.beat, self.worker)

    def _forget_ended(self) -> None:
        """Remove what workers of this data folder left that were killed."""
        folder = lease_folder(self._settings, self.worker.name).parent
        for left in [each for each in folder.iterdir() if has_ended(self._settings, each.name)]:
            with suppress(EngineError):
                self._table.leave(left.name)
            shutil.rmtree(left, ignore_errors=True)
