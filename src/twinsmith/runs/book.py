"""All runs of one home: their records, what happened in them, and who acts on them."""

import asyncio
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.anchor import written
from twinsmith.core.case import Case, Ended, open_cases
from twinsmith.core.driving import Worker
from twinsmith.core.errors import EngineError, UnknownRun
from twinsmith.core.events import SYSTEM, Event, Json
from twinsmith.core.people.actor import Actor
from twinsmith.core.progress import ENDED, Progress, State, progress_of
from twinsmith.core.run_record import Given, RunRecord
from twinsmith.core.task import Job
from twinsmith.core.trying.experiment import assigned_in
from twinsmith.flow.handed import run_ended, submitted
from twinsmith.ports import Runs, Telemetry
from twinsmith.settings import Settings
from twinsmith.wiring.experiments import trials_of
from twinsmith.wiring.journal import journal_of
from twinsmith.wiring.running import driving_of, known_workers, queue_of, workers_of
from twinsmith.wiring.runs import runs_of
from twinsmith.wiring.trying import versions_of

if TYPE_CHECKING:
    from twinsmith.adapters.durable.dbos_queue import DbosQueue
    from twinsmith.adapters.durable.driving import DrivingTable
    from twinsmith.adapters.durable.workers import WorkerTable

# A solution that is right with a lower probability stays a case.
SURE = 0.75


class Book:
    """The runs of one home as one actor reads them and writes about them."""

    def __init__(self, settings: Settings, actor: Actor) -> None:
        self.settings = settings
        self.actor = actor
        self.journal = journal_of(settings)

    def acting_as(self, actor: Actor) -> "Book":
        """This book as somebody else reads it and writes in it, over the same tables."""
        other = copy(self)
        other.actor = actor
        return other

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
        if progress.state == "running" and not self.is_driven(run):
            return replace(progress, state="interrupted")
        return progress

    def is_driven(self, run: str) -> bool:
        """Whether a living worker, or a command at a terminal, drives a run."""
        driving = self.driving.get(run)
        if driving is None or driving.state != "driven":
            return False
        return any(each.name == driving.worker for each in self.workers())

    def workers(self, *, serving: bool = False) -> tuple[Worker, ...]:
        """Every worker that lives; with `serving`, only those that take runs from the queue."""
        known = known_workers(self.settings, self._workers)
        return tuple(each for each in known if each.lives and (each.serves or not serving))

    def folder(self, run: str) -> Path:
        """The folder of a run below the home."""
        return self.settings.home / "runs" / run

    def given(self, run: str) -> Given:
        """The job or action that a run was begun with; EngineError where it cannot be read."""
        record = self._runs.get(run)
        if record is None:
            raise EngineError(f"run {run} has no record here; start a new build")
        return record.job

    def given_by(self, run: str) -> str:
        """The signature of whoever began a run; empty where nobody knows."""
        record = self._runs.get(run)
        return record.by if record else ""

    def job(self, run: str) -> Job:
        """The job of a build; EngineError where the run is none."""
        given = self.given(run)
        if not isinstance(given, Job):
            raise EngineError(f"run {run} is no build: {given.title}")
        return given

    def keep(self, job: Given) -> None:
        """Keep the record of a run, signed by the actor."""
        record = RunRecord(job=job, by=self.actor.signature, at=SystemClock().now())
        self._runs.save(record)
        if self.actor.way == "terminal":
            self.telemetry.tell(submitted(job, at=record.at))

    def given_at(self, run: str) -> str:
        """When a run was given, ISO 8601 in UTC; empty where nobody knows."""
        record = self._runs.get(run)
        return record.at if record else ""

    # They take a while to import: only what needs them pays for it.
    @cached_property
    def _runs(self) -> Runs:
        return runs_of(self.settings)

    @cached_property
    def telemetry(self) -> Telemetry:
        """What is told of what this process does."""
        from twinsmith.wiring.telemetry import telemetry_of

        return telemetry_of(self.settings, self.actor.way)

    @cached_property
    def driving(self) -> "DrivingTable":
        """Who drives which run."""
        return driving_of(self.settings)

    @cached_property
    def queue(self) -> "DbosQueue":
        """The engine's queue."""
        return queue_of(self.settings)

    @cached_property
    def _workers(self) -> "WorkerTable":
        return workers_of(self.settings)

    def cases(self) -> tuple[Case, ...]:
        """Tasks that no run has solved yet, or not for sure; oldest first."""
        return open_cases(filter(None, map(self._ended, self.journal.runs())))

    async def tell(self, run: str, kind: str, data: dict[str, Json], key: str = "") -> None:
        """Keep an event that the actor caused; the system's own chain is the run SYSTEM."""
        told = {**data, "via": self.actor.where} if self.actor.where else data
        who = self.actor.signature
        await self.journal.append(Event(run=run, kind=kind, who=who, data=told, key=key))

    async def tell_started(self, job: Given) -> None:
        """Note that a run was submitted, in its own chain and in the system's."""
        data: dict[str, Json] = {**_facts(job), "run": job.run, "by": self.actor.way}
        if isinstance(job, Job) and job.experiments:
            await asyncio.to_thread(self._assign, job)
        await self.tell(SYSTEM, "run.started", data, key=f"run.started:{job.run}")
        if isinstance(job, Job):
            data = {**data, "versions": await asyncio.to_thread(versions_of, self.settings, job)}
        await self.tell(job.run, "run.started", data, key="run.started")

    def _assign(self, job: Job) -> None:
        """Keep which arms of experiments a run is in that begins now."""
        table = trials_of(self.settings)
        for each in assigned_in(job.run, job.task.text, job.experiments):
            table.assign(each)

    async def end(self, run: str, state: State, data: dict[str, Json]) -> None:
        """Note how a run ended, in its own chain and in the system's."""
        await self.tell(run, "run.ended", {"state": state, **data}, key="run.ended")
        await self._anchor(run, state)
        await self._tell_over(run, state)

    async def _tell_over(self, run: str, state: State) -> None:
        """Tell telemetry that a run is over, before whoever drives it lets go of it."""
        record = self._runs.get(run)
        if record is not None:
            run_ended(record.job, state, began=record.at, telemetry=self.telemetry)
            await asyncio.to_thread(self.telemetry.flush)

    async def anchor(self) -> str:
        """A line that tells where the whole journal ends, for a person to store elsewhere."""
        await self.anchor_ended()
        return written(await self.journal.anchor_all(self.actor.signature), SystemClock().now())

    async def anchor_ended(self) -> None:
        """Tell the system's chain of runs whose end it missed because a kill came between."""
        for event in self.journal.unanchored():
            if not self.is_driven(event.run):
                await self._anchor(event.run, str(event.data.get("state")))

    async def until_left(self, run: str, seconds: float) -> bool:
        """Wait for whoever drives a run to let go of it; False where that takes too long."""
        for _ in range(int(seconds / 0.1)):
            if not self.is_driven(run):
                return True
            await asyncio.sleep(0.1)
        return False

    async def _anchor(self, run: str, state: str) -> None:
        anchor = self.journal.anchor(run)
        ending: dict[str, Json] = {
            "run": run,
            "state": state,
            "lines": anchor.lines,
            "head": anchor.head,
        }
        await self.tell(SYSTEM, "run.ended", ending, key=f"run.ended:{run}")

    def _ended(self, run: str) -> Ended | None:
        progress = self.progress(run)
        if progress.state not in ENDED:
            return None
        try:
            task = self.job(run).task
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


def _facts(job: Given) -> dict[str, Json]:
    """What the journal tells of a job or an action."""
    if isinstance(job, Job):
        return {
            "task": job.task.text,
            "language": job.task.language,
            "kind": job.task.kind,
            "seed": job.seed,
            "out": job.out,
            "masked": str(job.masked),
            "tested": bool(job.task.tests),
            "settings": job.settings,
            "experiments": dict(job.experiments),
            "app": job.mend.app if job.mend else "",
            **_repeated(job),
        }
    source = job.deliverable.source if job.deliverable else None
    return {
        "task": job.title,
        "kind": job.kind,
        "app": job.app,
        "host": job.host,
        "trigger": job.trigger,
        "source": source.digest if source else "",
        "from": source.run if source else "",
        "why": list(job.about) if job.trigger == "person" else [],
    }


def _repeated(job: Job) -> dict[str, Json]:
    """Which run a job builds again, and what is different from then."""
    if job.repeats is None:
        return {}
    return {"repeats": job.repeats.run, "different": list(job.repeats.different)}
