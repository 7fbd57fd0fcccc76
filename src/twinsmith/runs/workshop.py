"""The workflows that runs are made of, and the outside world that all runs of a process share."""

import asyncio
import traceback
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from twinsmith.adapters.clock import SystemClock
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
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.progress import ENDED
from twinsmith.core.task import Job
from twinsmith.runs.book import Book
from twinsmith.runs.cancel import end_cancelled
from twinsmith.wiring.running import node_of

if TYPE_CHECKING:
    from twinsmith.adapters.desk.terminal import Terminal
    from twinsmith.adapters.durable.dbos_engine import DbosEngine
    from twinsmith.flow.recorder import Ports


def _unheard(_key: str, _parts: int) -> None:
    pass


def _unsaid(_line: str) -> None:
    pass


class Workshop:
    """Builds runs of a book in this process, any number at once, with the same models and tools."""

    def __init__(
        self,
        book: Book,
        engine: "DbosEngine",
        *,
        worker: str,
        serves: bool = False,
        terminal: "Terminal | None" = None,
        heard: Callable[[str, int], None] = _unheard,
        said: Callable[[str], None] = _unsaid,
    ) -> None:
        self._book = book
        self._engine = engine
        self._worker = worker
        self._serves = serves
        self._terminal = terminal
        self._heard = heard
        self._said = said
        self._stack = AsyncExitStack()
        self.began = False
        """Whether a run was begun here: what becomes of it is told then."""

    async def __aenter__(self) -> Self:
        """Open what all runs share."""
        from twinsmith.wiring.graph import opened_graph
        from twinsmith.wiring.knowledge import opened_retriever
        from twinsmith.wiring.models import opened_model
        from twinsmith.wiring.sandbox import limits_of, reviewer_of, sandbox_of, sanitized_of

        settings, enter = self._book.settings, self._stack.enter_async_context
        try:
            self._limits = limits_of(settings)
            self._sandbox = sandbox_of(settings)
            self._isolation = str(await self._sandbox.isolation())
            self._reviewer = reviewer_of(settings, self._sandbox)
            self._sanitized = sanitized_of(settings, self._sandbox)
            self._model = await enter(opened_model(settings, self._heard))
            self._retriever = await enter(opened_retriever(settings))
            self._graph = await enter(opened_graph(settings))
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def build(self, run: str, given: Json) -> Json:
        """The workflow of a build: its job in, its outcome out, everything told in the journal."""
        from twinsmith.adapters.durable.codec import from_json, to_json

        self.began = True
        job = from_json(given, Job)
        driving = self._book.driving.get(run) or Driving(run=run, state="driven")
        try:
            await self._book.tell_started(job)
            await self._tell_taken(run, driving)
            outcome = await self._built(job, driving)
            await self._tell_ended(outcome)
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
            await self._tell(run, "run.waiting", {"reason": str(waiting), "until": waiting.until})
            raise
        except TwinsmithError as error:
            await self._tell(run, "run.parked", {"reason": str(error)})
            raise
        except Exception as error:
            kept = self._keep_traceback(run, error)
            await self._tell(run, "run.parked", {"reason": f"internal error, see {kept}"})
            raise InternalError(
                f"{type(error).__name__} inside twinsmith; the traceback is in {kept}, the run is "
                f"parked; once mended: twinsmith resume {run}"
            ) from error
        return to_json(outcome, RunOutcome)

    async def _built(self, job: Job, driving: Driving) -> RunOutcome:
        from twinsmith.flow.pipeline import build

        told: dict[str, Json] = {"isolation": self._isolation}
        await self._tell(job.run, "sandbox.ready", told, key=self._isolation)
        return await build(job, self._limits, self._ports(driving))

    def _ports(self, driving: Driving) -> "Ports":
        from twinsmith.adapters.journal.fenced import FencedJournal
        from twinsmith.flow.recorder import Ports
        from twinsmith.wiring.outbox import outbox_of
        from twinsmith.wiring.people import desk_of

        settings = self._book.settings
        here = driving.node in ("", node_of(settings))
        return Ports(
            model=self._model,
            sandbox=self._sandbox,
            reviewer=self._reviewer,
            sanitized=self._sanitized,
            retriever=self._retriever,
            graph=self._graph,
            desk=desk_of(settings, self._terminal, attended=driving.attended),
            journal=FencedJournal(self._book.journal, self._engine.check),
            outbox=outbox_of(settings, here=here),
            durable=self._engine,
            clock=SystemClock(),
        )

    async def _tell_taken(self, run: str, driving: Driving) -> None:
        """Tell who drives a run now, unless it was told as ended and is only brought to its end."""
        state = self._book.progress(run).state
        data: dict[str, Json] = {"worker": self._worker, "fence": driving.fence}
        if state in ENDED:
            return
        if driving.fence > 1:
            await self._tell(run, "run.resumed", data)
        elif state == "queued":
            await self._tell(run, "run.taken", data)
        self._said(f"run {run} taken")

    async def _tell_ended(self, outcome: RunOutcome) -> None:
        self._engine.check()
        self._said(f"run {outcome.run} {'solved' if outcome.solved else 'not solved'}")
        await self._book.end(
            outcome.run,
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

    async def _tell_left(self, run: str) -> None:
        """Tell that this process stops; a worker hands its runs on."""
        with suppress(RunLost, EngineError):
            if self._serves:
                await self._tell(run, "run.queued", {"reason": f"worker {self._worker} leaves"})
            else:
                await self._tell(run, "run.parked", {"reason": "interrupted by a person"})

    async def _tell(self, run: str, kind: str, data: dict[str, Json], key: str = "") -> None:
        self._engine.check()
        if "reason" in data:
            self._said(f"run {run} {kind.removeprefix('run.')}: {data['reason']}")
        await self._book.tell(run, kind, data, key=key)

    def _keep_traceback(self, run: str, error: Exception) -> Path:
        path = self._book.folder(run) / "crash.txt"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        text = "".join(traceback.format_exception(error))
        path.write_text(self._book.settings.masking.text(text), encoding="utf-8")
        return path
