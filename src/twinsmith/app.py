"""The one place that wires flow, adapters and settings together, and the life of a run."""

import asyncio
import getpass
import hashlib
import os
import secrets
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.desk.terminal import Nobody
from twinsmith.adapters.lease import is_held, lease
from twinsmith.core.anchor import written
from twinsmith.core.budget import Budget
from twinsmith.core.case import Case, Ended, open_cases
from twinsmith.core.errors import (
    ConfigError,
    EngineError,
    InternalError,
    ModelUnavailable,
    RunBusy,
    RunCancelled,
    TwinsmithError,
    UnknownRun,
)
from twinsmith.core.events import SYSTEM, Event, Json
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.model import Prompt, Purpose, Reply, Role, facts_of_failure, facts_of_reply
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Program
from twinsmith.core.progress import ENDED, Progress, State, progress_of
from twinsmith.core.task import Job, Task, without_secrets
from twinsmith.wiring.effort import effort_of, quality_of, refuse_missing_frame
from twinsmith.wiring.journal import journal_of
from twinsmith.ports import Desk
from twinsmith.settings import Settings

if TYPE_CHECKING:
    from twinsmith.adapters.durable.dbos_engine import DbosEngine

CANCEL_PATIENCE_SECONDS = 10.0
# Questions of one run take seeds one after the other: another try begins far away from them.
RESEED = 100_000
# A solution that is right with a lower probability stays a case.
SURE = 0.75


class App:
    """Everything a person can do, without the screen."""

    def __init__(self, settings: Settings, desk: Desk | None = None) -> None:
        self.settings = settings
        self.desk = desk or Nobody()
        self.aside: Callable[[], AbstractContextManager[None]] = nullcontext
        """What whoever shows the run does while a person is asked."""
        self.arriving: dict[str, int] = {}
        self.journal = journal_of(settings)

    def new_job(self, task: Task, *, out: Path | None, seed: int | None, budget: Budget) -> Job:
        """A job with a name of its own; refuses a folder that the result could not be put in."""
        from twinsmith.adapters.outbox.folder import check_folder

        run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        folder = (out or self._folder(run) / "result").expanduser().absolute()
        check_folder(folder)
        refuse_missing_frame(self.settings, task)
        kept, masked = without_secrets(task, self.settings.masking)
        return Job(
            run=run,
            task=kept,
            budget=budget,
            masked=masked,
            effort=effort_of(self.settings),
            quality=quality_of(self.settings),
            reply_tokens=self.settings.values.gateway.reply_tokens,
            seed=self.settings.values.build.seed if seed is None else seed,
            out=str(folder),
        )

    def again(self, case: Case) -> Job:
        """Another try at a case: what was asked and may be spent is the same, the seed is not."""
        first = self._kept_job(case.run)
        return self.new_job(case.task, out=None, seed=first.seed + RESEED, budget=first.budget)

    async def start(self, job: Job) -> RunOutcome:
        """Begin a run and see it to its end."""
        from twinsmith.adapters.durable.jobs import keep_job

        with lease(self._folder(job.run), job.run):
            keep_job(self._folder(job.run), job)
            await self._anchor_ended()
            await self._tell_started(job)
            return await self._see_through(job)

    async def resume(self, run: str) -> RunOutcome:
        """Go on with a run where it stopped; one that has ended gives its recorded outcome."""
        job = self._kept_job(run)
        with lease(self._folder(run), run):
            progress = self.progress(run)
            if progress.state == "cancelled":
                raise RunCancelled(f"run {run} was cancelled; start a new build")
            await self._tell_started(job)
            if progress.state not in ENDED:
                await self._tell(run, "run.resumed", {"pid": os.getpid()})
            return await self._see_through(job)

    async def cancel(self, run: str) -> Progress:
        """Stop a run for good, whoever drives it."""
        state = self.progress(run).state
        if state in ENDED:
            raise ConfigError(f"run {run} has ended already ({state}); there is nothing to cancel")
        await self._engine().cancel(run)
        await self._tell(run, "run.cancel_requested", {})
        try:
            with lease(self._folder(run), run):
                await self._end_cancelled(run)
        except RunBusy:
            await self._until_ended(run)
        return self.progress(run)

    def find(self, name: str) -> str:
        """The run that a person means: its whole name, or an ending that only one run has."""
        runs = self.journal.runs()
        matches = [run for run in runs if run == name] or [
            run for run in runs if name and run.endswith(name)
        ]
        if len(matches) > 1:
            raise UnknownRun(f"run {name!r} could be {', '.join(matches[-5:])}; give more of it")
        if not matches:
            hint = f"the latest is {runs[-1]}" if runs else 'there is none yet: twinsmith build "…"'
            raise UnknownRun(f"run {name!r} is not known; {hint}")
        return matches[0]

    def progress(self, run: str) -> Progress:
        """How far a run has come; one that nobody drives any more is interrupted."""
        progress = progress_of(run, self.journal.entries(run))
        if progress.state == "running" and not is_held(self._folder(run)):
            return replace(progress, state="interrupted")
        return progress

    def cases(self) -> tuple[Case, ...]:
        """Tasks that no run has solved yet, or not for sure; oldest first."""
        return open_cases(filter(None, map(self._ended, self.journal.runs())))

    async def ask(self, role: Role, ensemble: int, text: str, purpose: Purpose) -> Reply:
        """One question outside any run; it leaves its event in the system's chain."""
        from twinsmith.wiring.models import opened_model

        clock = SystemClock()
        prompt = Prompt(
            key=f"ask/{clock.now()}",
            role=role,
            nth=0,
            text=text,
            task=text,
            seed=self.settings.values.build.seed,
            max_tokens=self.settings.values.gateway.reply_tokens,
            ensemble=ensemble,
            purpose=purpose,
        )
        began = clock.seconds()
        try:
            async with opened_model(self.settings) as model:
                reply = await model.ask(prompt)
        except ModelUnavailable as error:
            await self._tell(SYSTEM, "model.failed", facts_of_failure(prompt, str(error)))
            raise
        reply = replace(reply, seconds=clock.seconds() - began)
        await self._tell(SYSTEM, "model.replied", facts_of_reply(prompt, reply))
        return reply

    async def execute(
        self, program: Program, command: Command, limits: Limits, tell: Callable[[str], None]
    ) -> tuple[Execution, str]:
        """One run of a person's program in the sandbox, outside any run; it leaves its event."""
        from twinsmith.wiring.sandbox import sandbox_of

        sandbox = sandbox_of(self.settings, tell)
        isolation = str(await sandbox.isolation())
        probe = Probe(name="exec", origin="person", command=command)
        execution = await sandbox.run(program, Probes(checks=(probe,)), limits)
        outcome = execution.results[0].outcome if execution.results else execution.problem[:200]
        await self._tell(
            SYSTEM,
            "program.executed",
            {
                "language": program.language,
                "sha256": hashlib.sha256(program.text.encode()).hexdigest(),
                "outcome": outcome,
                "isolation": isolation,
            },
        )
        return execution, isolation

    def _ended(self, run: str) -> Ended | None:
        progress = self.progress(run)
        if progress.state not in ENDED:
            return None
        try:
            task = self._kept_job(run).task
        except EngineError:
            return None
        # Where tests decide, or checks that follow from an interface, nothing is guessed.
        decided = bool(task.tests) or task.kind == "service"
        return Ended(
            run=run,
            task=task,
            state=progress.state,
            reason=progress.reason,
            sure=decided or progress.confidence >= SURE,
        )

    async def verify(self, program: Program, probes: Probes) -> Execution:
        """A finished service once more in the sandbox, outside any run; it leaves its event."""
        from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS
        from twinsmith.wiring.sandbox import limits_of, sandbox_of

        limits = replace(
            limits_of(self.settings), cpu_seconds=CPU_SECONDS, probe_seconds=PROBE_SECONDS
        )
        execution = await sandbox_of(self.settings).run(program, probes, limits)
        failed = sum(result.outcome != "passed" for result in execution.results)
        data: dict[str, Json] = {
            "sha256": hashlib.sha256(program.text.encode()).hexdigest(),
            "checks": len(execution.results),
            "failed": failed,
            "problem": execution.problem[:200],
        }
        await self._tell(SYSTEM, "program.verified", data)
        return execution

    async def _see_through(self, job: Job) -> RunOutcome:
        run = job.run
        try:
            outcome = await self._drive(job)
        except RunCancelled:
            await self._end_cancelled(run)
            raise
        except asyncio.CancelledError:
            await self._tell(run, "run.parked", {"reason": "interrupted by a person"})
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
        await self._end(
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
        from twinsmith.adapters.outbox.folder import FolderOutbox
        from twinsmith.flow.pipeline import build
        from twinsmith.flow.recorder import Ports
        from twinsmith.wiring.graph import opened_graph
        from twinsmith.wiring.knowledge import opened_retriever
        from twinsmith.wiring.models import opened_model
        from twinsmith.wiring.sandbox import limits_of, reviewer_of, sandbox_of, sanitized_of

        sandbox = sandbox_of(self.settings)
        isolation = str(await sandbox.isolation())
        await self._tell(job.run, "sandbox.ready", {"isolation": isolation}, key=isolation)
        engine = self._engine()
        limits = limits_of(self.settings)
        async with (
            opened_model(self.settings, self._heard) as model,
            opened_retriever(self.settings) as retriever,
            opened_graph(self.settings) as graph,
        ):
            ports = Ports(
                model=model,
                sandbox=sandbox,
                reviewer=reviewer_of(self.settings, sandbox),
                sanitized=sanitized_of(self.settings, sandbox),
                retriever=retriever,
                graph=graph,
                desk=self.desk,
                journal=self.journal,
                outbox=FolderOutbox(),
                durable=engine,
                clock=SystemClock(),
            )
            try:
                return await engine.drive(job.run, lambda: build(job, limits, ports), RunOutcome)
            finally:
                engine.close()

    def _heard(self, key: str, parts: int) -> None:
        """Answers that are coming in, for whoever shows the run; one that is here is counted."""
        if parts:
            self.arriving[key] = parts
        else:
            self.arriving.pop(key, None)

    def _engine(self) -> "DbosEngine":
        # The engine takes more than a second to import: only what drives a run pays for it.
        from twinsmith.adapters.durable.dbos_engine import DbosEngine
        from twinsmith.flow.pipeline import PIPELINE_VERSION

        return DbosEngine(self.settings.database_url, PIPELINE_VERSION)

    async def _tell_started(self, job: Job) -> None:
        data: dict[str, Json] = {
            "run": job.run,
            "task": job.task.text,
            "language": job.task.language,
            "kind": job.task.kind,
            "seed": job.seed,
            "out": job.out,
            "masked": str(job.masked),
        }
        await self._tell(SYSTEM, "run.started", data, key=f"run.started:{job.run}")
        await self._tell(job.run, "run.started", data, key="run.started")

    async def _end_cancelled(self, run: str) -> None:
        """Note that a person ended a run, and remove what it left where it was killed."""
        from twinsmith.adapters.outbox.folder import discard

        with suppress(EngineError):
            discard(run, self._kept_job(run).out)
        await self._end(run, "cancelled", {"reason": "cancelled by a person"})

    async def _end(self, run: str, state: State, data: dict[str, Json]) -> None:
        await self._tell(run, "run.ended", {"state": state, **data}, key="run.ended")
        await self._anchor(run, state)

    async def anchor(self) -> str:
        """A line that tells where the whole journal ends, for a person to store elsewhere."""
        await self._anchor_ended()
        return written(await self.journal.anchor_all(_user()), SystemClock().now())

    async def _anchor_ended(self) -> None:
        """Tell the system's chain of runs whose end it missed because a kill came between."""
        for event in self.journal.unanchored():
            if not is_held(self._folder(event.run)):
                await self._anchor(event.run, str(event.data.get("state")))

    async def _anchor(self, run: str, state: str) -> None:
        anchor = self.journal.anchor(run)
        ending: dict[str, Json] = {
            "run": run,
            "state": state,
            "lines": anchor.lines,
            "head": anchor.head,
        }
        await self._tell(SYSTEM, "run.ended", ending, key=f"run.ended:{run}")

    async def _tell(self, run: str, kind: str, data: dict[str, Json], key: str = "") -> None:
        await self.journal.append(Event(run=run, kind=kind, who=_user(), data=data, key=key))

    async def _until_ended(self, run: str) -> None:
        """Wait for the process that drives the run to notice; it looks once a second."""
        for _ in range(int(CANCEL_PATIENCE_SECONDS / 0.1)):
            if self.progress(run).state != "running":
                return
            await asyncio.sleep(0.1)
        raise RunBusy(
            f"run {run} is marked as cancelled, but the process that drives it has not stopped "
            f"after {CANCEL_PATIENCE_SECONDS:g} s; follow it with: twinsmith watch {run}"
        )

    def _kept_job(self, run: str) -> Job:
        from twinsmith.adapters.durable.jobs import kept_job

        return kept_job(self._folder(run))

    def _keep_traceback(self, run: str, error: Exception) -> Path:
        path = self._folder(run) / "crash.txt"
        text = "".join(traceback.format_exception(error))
        path.write_text(self.settings.masking.text(text), encoding="utf-8")
        return path

    def _folder(self, run: str) -> Path:
        return self.settings.home / "runs" / run


def _user() -> str:
    return f"user:{getpass.getuser()}"
