"""What the journal is told of a run while this process drives it, whatever the run is about."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from twinsmith.core.driving import Driving
from twinsmith.core.errors import (
    DatabaseAway,
    EngineError,
    InternalError,
    RunCancelled,
    RunLost,
    TwinsmithError,
    Waiting,
)
from twinsmith.core.events import Json
from twinsmith.core.progress import ENDED
from twinsmith.core.run_record import Given
from twinsmith.flow.handed import run_begun
from twinsmith.runs.book import Book
from twinsmith.runs.cancel import end_cancelled

if TYPE_CHECKING:
    from twinsmith.adapters.durable.dbos_engine import DbosEngine

T = TypeVar("T")


class Telling:
    """Tells of the runs that one process drives; `said` gets a line for everything that happens."""

    def __init__(
        self,
        book: Book,
        engine: "DbosEngine",
        *,
        worker: str,
        serves: bool,
        said: Callable[[str], None],
    ) -> None:
        self._book = book
        self._engine = engine
        self._worker = worker
        self._serves = serves
        self._said = said
        self.began = False
        """Whether a run was begun here: what becomes of it is told then."""

    async def told(
        self,
        job: Given,
        work: Callable[[Driving], Awaitable[T]],
        end: Callable[[T], Awaitable[None]],
    ) -> T:
        """The value of the work of a run; `end` tells how it ended, exceptions are told here."""
        self.began = True
        run = job.run
        driving = self._book.driving.get(run) or Driving(run=run, state="driven")
        try:
            await self._book.tell_started(job)
            await self._tell_taken(job, driving)
            value = await work(driving)
            self._engine.check()
            await end(value)
        except (RunLost, DatabaseAway) as error:
            self._said(str(error))
            raise
        except RunCancelled:
            self._engine.check()
            await end_cancelled(self._book, run)
            raise
        except asyncio.CancelledError:
            await self._tell_left(run)
            raise
        except Waiting as waiting:
            await self.tell(run, "run.waiting", {"reason": str(waiting), "until": waiting.until})
            raise
        except TwinsmithError as error:
            await self.tell(run, "run.parked", {"reason": str(error)})
            raise
        except Exception as error:
            kept = self._keep_traceback(run, error)
            await self.tell(run, "run.parked", {"reason": f"internal error, see {kept}"})
            raise InternalError(
                f"{type(error).__name__} inside twinsmith; the traceback is in {kept}, the run is "
                f"parked; once mended: twinsmith resume {run}"
            ) from error
        return value

    async def tell(self, run: str, kind: str, data: dict[str, Json], key: str = "") -> None:
        """Keep an event of a run that this process still holds."""
        self._engine.check()
        if "reason" in data:
            self._said(f"run {run} {kind.removeprefix('run.')}: {data['reason']}")
        await self._book.tell(run, kind, data, key=key)

    def say(self, line: str) -> None:
        """Say a line to whoever watches this process."""
        self._said(line)

    async def _tell_taken(self, job: Given, driving: Driving) -> None:
        """Tell who drives a run now, unless it was told as ended and is only brought to its end."""
        run = job.run
        state = self._book.progress(run).state
        data: dict[str, Json] = {"worker": self._worker, "fence": driving.fence}
        if state in ENDED:
            return
        first = driving.fence <= 1 and state == "queued"
        given = self._book.given_at(run)
        run_begun(job, given, worker=self._worker, waited=first, telemetry=self._book.telemetry)
        if driving.fence > 1:
            await self.tell(run, "run.resumed", data)
        elif state == "queued":
            await self.tell(run, "run.taken", data)
        self._said(f"run {run} taken")

    async def _tell_left(self, run: str) -> None:
        """Tell that this process stops; a worker hands its runs on."""
        with suppress(RunLost, EngineError):
            if self._serves:
                await self.tell(run, "run.queued", {"reason": f"worker {self._worker} leaves"})
            else:
                await self.tell(run, "run.parked", {"reason": "interrupted by a person"})

    def _keep_traceback(self, run: str, error: Exception) -> Path:
        path = self._book.folder(run) / "crash.txt"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        text = "".join(traceback.format_exception(error))
        path.write_text(self._book.settings.masking.text(text), encoding="utf-8")
        return path
