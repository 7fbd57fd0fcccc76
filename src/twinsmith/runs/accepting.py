"""A task from a form or a program, made into a run for the workers."""

import asyncio
from typing import TYPE_CHECKING

from twinsmith.core.budget import Budget
from twinsmith.core.errors import ConfigError, Conflict, RunBusy
from twinsmith.core.probe import read_tests
from twinsmith.core.progress import ENDED
from twinsmith.core.task import Job, read_task, runs_when_masked
from twinsmith.core.trying.arrangement import AS_SET
from twinsmith.runs.book import Book
from twinsmith.runs.spec import read_spec, spec_in
from twinsmith.runs.submit import new_job, requeue, submit
from twinsmith.runs.versions import read

if TYPE_CHECKING:
    from twinsmith.client.shapes import NewRun

TESTS_FILE = "tests"


async def submitted(book: Book, wanted: "NewRun") -> str:
    """The run of a task that is left to workers; ConfigError says what is wrong with it."""
    # A long document takes seconds to read; a server has others to answer meanwhile.
    job = await asyncio.to_thread(accepted, book, wanted)
    # Somebody follows it: questions wait for an answer as long as the settings say.
    return await submit(book, job, priority=wanted.priority, attended=True)


def accepted(book: Book, wanted: "NewRun") -> Job:
    """The job of a task; a mistake in it is told before anything starts."""
    document = read_spec(wanted.spec, "spec") if wanted.spec.strip() else spec_in(wanted.task)
    task = read_task(
        text=wanted.task,
        language=wanted.language,
        kind=wanted.kind,
        tests=wanted.tests,
        spec=document,
    )
    if wanted.tests:
        read_tests(wanted.tests, file=TESTS_FILE)
    given = book.settings.values.build
    budget = Budget(
        tokens=wanted.budget_tokens or given.budget_tokens,
        seconds=wanted.budget_seconds or given.budget_seconds,
        usd=(wanted.budget_usd or given.budget_usd) or None,
    )
    # Whoever asks is not on this machine: templates are named by their versions.
    arrangement = read(book, wanted.arrangement, files=False) if wanted.arrangement else AS_SET
    job = new_job(book, task, out=None, seed=wanted.seed, budget=budget, arrangement=arrangement)
    if wanted.tests and not runs_when_masked(job.task.tests):
        raise ConfigError("the tests hold secrets outside of strings and comments; take them out")
    return job


async def resumed(book: Book, run: str) -> None:
    """Queue a run that stands still; Conflict where it does not."""
    state = book.progress(run).state
    if state in ENDED:
        raise Conflict(f"run {run} has ended ({state}); start a new one")
    if state == "running":
        raise RunBusy(f"run {run} is being worked on")
    await requeue(book, run)
