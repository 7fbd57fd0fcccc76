"""A task in, a job out: with a name of its own, a folder for its result, and no secrets."""

import secrets
from datetime import UTC, datetime
from pathlib import Path

from twinsmith.core.budget import Budget
from twinsmith.core.case import Case
from twinsmith.core.driving import Change, Driving, Priority
from twinsmith.core.errors import EngineError
from twinsmith.core.events import Json
from twinsmith.core.operating.action import Action
from twinsmith.core.run_record import Given
from twinsmith.core.task import Job, Task, without_secrets
from twinsmith.core.telemetry import new_trace
from twinsmith.core.trying.arrangement import AS_SET, Arrangement, over
from twinsmith.flow.traced import here
from twinsmith.runs.book import Book
from twinsmith.runs.trials import Arms, arms_for
from twinsmith.wiring.effort import effort_of, quality_of, refuse_missing_frame
from twinsmith.wiring.running import node_of
from twinsmith.wiring.trying import arranged, in_force, refuse_unknown

# Questions of one run take seeds one after the other: another try begins far away from them.
RESEED = 100_000
BUILD, DELIVER = "build", "deliver"


def new_run() -> str:
    """A name for a new run, by which runs are in the order of their age."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def new_job(
    book: Book,
    task: Task,
    *,
    out: Path | None,
    seed: int | None,
    budget: Budget,
    arrangement: Arrangement = AS_SET,
    arms: Arms | None = None,
) -> Job:
    """A job for a task, arranged over what is in force; refuses a folder for no result.

    Without `arms` it takes part in the experiments that run, which arrange it too.
    """
    if arms is None:
        arrangement, arms = arms_for(book, task, arrangement)
    whole = over(in_force(book.settings), arrangement)
    refuse_unknown(book.settings, whole)
    settings = arranged(book.settings, whole)
    run = new_run()
    folder = folder_for(book, run, out)
    refuse_missing_frame(settings, task)
    kept, masked = without_secrets(task, settings.masking)
    return Job(
        run=run,
        task=kept,
        budget=budget,
        masked=masked,
        effort=effort_of(settings),
        quality=quality_of(settings),
        reply_tokens=settings.values.gateway.reply_tokens,
        seed=settings.values.build.seed if seed is None else seed,
        out=str(folder),
        arrangement=whole,
        experiments=arms,
        trace=here() or new_trace().text,
    )


def folder_for(book: Book, run: str, out: Path | None) -> Path:
    """Where the result of a run goes; ConfigError where that is no place for one."""
    from twinsmith.adapters.outbox.folder import check_folder

    folder = (out or book.folder(run) / "result").expanduser().absolute()
    check_folder(folder)
    return folder


def another_try(book: Book, case: Case) -> Job:
    """A job for a case: what was asked and may be spent is the same, the seed is not."""
    first = book.job(case.run)
    return new_job(book, case.task, out=None, seed=first.seed + RESEED, budget=first.budget)


async def submit(
    book: Book,
    job: Given,
    *,
    key: str | None = None,
    priority: Priority = "normal",
    attended: bool = False,
) -> str:
    """Queue a run for the workers; the name of the run, or of the one that this key gave before."""
    from twinsmith.flow.pipeline import PIPELINE_VERSION

    book.keep(job)
    wanted = Driving(
        run=job.run,
        state="queued",
        pipeline=PIPELINE_VERSION,
        priority=priority,
        node=node_of(book.settings),
        attended=attended,
    )
    run = book.driving.submit(wanted, key)
    if run == job.run:
        await book.anchor_ended()
        await book.tell_started(job)
        await book.tell(run, "run.queued", {"priority": priority})
        await enqueue(book, job, priority)
    return run


def workflow_of(job: Given) -> tuple[str, str, Json]:
    """The workflow that a run is driven by, its name and its input."""
    from twinsmith.adapters.codec import to_json

    if isinstance(job, Job):
        return BUILD, job.run, to_json(job, Job)
    return DELIVER, job.run, to_json(job, Action)


async def enqueue(book: Book, job: Given, priority: Priority) -> None:
    """Hand a run to the engine's queue; doing it twice is harmless."""
    await book.queue.start(*workflow_of(job), priority=priority)


async def requeue(book: Book, run: str) -> None:
    """Queue a run that nobody drives once more; EngineError where that cannot be."""
    from twinsmith.flow.pipeline import PIPELINE_VERSION

    known = book.driving.get(run)
    if known is None or known.pipeline != PIPELINE_VERSION:
        began = known.pipeline if known else "an earlier release"
        raise EngineError(
            f"run {run} was begun by pipeline {began}, this is {PIPELINE_VERSION}; install the "
            "version that began it, or start a new build"
        )
    if known.state == "queued":
        return
    wanted = Change(
        run=run, fence=known.fence, state="queued", pipeline=known.pipeline, why="resumed"
    )
    if book.driving.change(wanted):
        await book.tell(run, "run.queued", {"reason": f"resumed by {book.actor.name}"})
        if not await book.queue.again(run):
            await enqueue(book, book.given(run), known.priority)
