"""Runs seen to their end in this process: begun, resumed, parked, ended."""

import asyncio
import os
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.desk.terminal import Terminal
from twinsmith.adapters.lease import lease
from twinsmith.core.errors import InternalError, RunCancelled, TwinsmithError
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.progress import ENDED
from twinsmith.core.task import Job
from twinsmith.runs.book import Book
from twinsmith.runs.cancel import end_cancelled


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

    async def start(self, job: Job) -> RunOutcome:
        """Begin a run and see it to its end."""
        with lease(self.book.folder(job.run), job.run):
            self.book.keep(job)
            await self.book.anchor_ended()
            await self._tell_started(job)
            return await self._see_through(job)

    async def resume(self, run: str) -> RunOutcome:
        """Go on with a run where it stopped; one that has ended gives its recorded outcome."""
        book = self.book
        job = book.job(run)
        with lease(book.folder(run), run):
            progress = book.progress(run)
            if progress.state == "cancelled":
                raise RunCancelled(f"run {run} was cancelled; start a new build")
            await self._tell_started(job)
            if progress.state not in ENDED:
                await book.tell(run, "run.resumed", {"pid": os.getpid()})
            return await self._see_through(job)

    async def _see_through(self, job: Job) -> RunOutcome:
        book, run = self.book, job.run
        try:
            outcome = await self._drive(job)
        except RunCancelled:
            await end_cancelled(book, run)
            raise
        except asyncio.CancelledError:
            await book.tell(run, "run.parked", {"reason": "interrupted by a person"})
            raise
        except TwinsmithError as error:
            await book.tell(run, "run.parked", {"reason": str(error)})
            raise
        except Exception as error:
            kept = self._keep_traceback(run, error)
            await book.tell(run, "run.parked", {"reason": f"internal error, see {kept}"})
            raise InternalError(
                f"{type(error).__name__} inside twinsmith; the traceback is in {kept}, the run is "
                f"parked; once mended: twinsmith resume {run}"
            ) from error
        await book.end(
            run,
            "solved" if outcome.solved else "not solved",
            {
                "reason": outcome.reason,
                "out": outcome.out,
                "winner": outcome.winner,
                "confidence": round(outcome.confidence, 3),
                "tokens": outcome.spent.tokens,
                "seconds": round(outcome.spent.seconds, 3),
            },
        )
        return outcome

    async def _drive(self, job: Job) -> RunOutcome:
        from twinsmith.flow.pipeline import build
        from twinsmith.flow.recorder import Ports
        from twinsmith.wiring.graph import opened_graph
        from twinsmith.wiring.knowledge import opened_retriever
        from twinsmith.wiring.models import opened_model
        from twinsmith.wiring.outbox import outbox_of
        from twinsmith.wiring.people import desk_of
        from twinsmith.wiring.sandbox import limits_of, reviewer_of, sandbox_of, sanitized_of

        settings = self.book.settings
        sandbox = sandbox_of(settings)
        isolation = str(await sandbox.isolation())
        await self.book.tell(job.run, "sandbox.ready", {"isolation": isolation}, key=isolation)
        engine = self.book.engine()
        limits = limits_of(settings)
        async with (
            opened_model(settings, self._heard) as model,
            opened_retriever(settings) as retriever,
            opened_graph(settings) as graph,
        ):
            ports = Ports(
                model=model,
                sandbox=sandbox,
                reviewer=reviewer_of(settings, sandbox),
                sanitized=sanitized_of(settings, sandbox),
                retriever=retriever,
                graph=graph,
                desk=desk_of(settings, self.terminal),
                journal=self.book.journal,
                outbox=outbox_of(settings),
                durable=engine,
                clock=SystemClock(),
            )
            try:
                return await engine.drive(job.run, lambda: build(job, limits, ports), RunOutcome)
            finally:
                engine.close()

    def _heard(self, key: str, parts: int) -> None:
        """Count what is coming in of an answer; one that is here is counted no more."""
        if parts:
            self.arriving[key] = parts
        else:
            self.arriving.pop(key, None)

    async def _tell_started(self, job: Job) -> None:
        data: dict[str, Json] = {
            "run": job.run,
            "task": job.task.text,
            "language": job.task.language,
            "kind": job.task.kind,
            "seed": job.seed,
            "out": job.out,
            "masked": str(job.masked),
            "by": self.book.actor.way,
        }
        await self.book.tell(SYSTEM, "run.started", data, key=f"run.started:{job.run}")
        await self.book.tell(job.run, "run.started", data, key="run.started")

    def _keep_traceback(self, run: str, error: Exception) -> Path:
        path = self.book.folder(run) / "crash.txt"
        text = "".join(traceback.format_exception(error))
        path.write_text(self.book.settings.masking.text(text), encoding="utf-8")
        return path
