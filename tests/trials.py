"""Runs of experiments as a real journal tells of them, without anything being built."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from twinsmith.core.budget import Budget
from twinsmith.core.events import SYSTEM
from twinsmith.core.people.actor import Actor
from twinsmith.core.task import Job, Task
from twinsmith.core.trying.experiment import Arm, Experiment
from twinsmith.runs.book import Book
from twinsmith.runs.experiments import Wanted, begin, drawn_up
from twinsmith.runs.promotion import reviewed_after
from twinsmith.runs.submit import new_job
from twinsmith.runs.versions import read
from twinsmith.settings import load

BUDGET = Budget(tokens=1000, seconds=60)
ANN, BOB = Actor(name="ann"), Actor(name="bob")
Outcome = Callable[[int, Arm], tuple[bool, int]]
"""Whether the n-th task is solved in an arm, and the tokens that it takes."""


def opened(home: Path, actor: Actor = ANN, **told: str) -> Book:
    """A book as another process opens it."""
    given = {
        "TWINSMITH_HOME": str(home),
        "TWINSMITH_TELEMETRY_KEEP_HOURS": "0",
        "OPENAI_API_KEY": "swordfish-42",
        **told,
    }
    return Book(load(given), actor)


def task(number: int) -> Task:
    """A task of its own."""
    return Task(text=f"double number {number}", language="python", kind="function")


def begun(book: Book, name: str = "few", b: str = "build.votes=2", **more: object) -> Experiment:
    """An experiment that runs."""
    wanted = Wanted(name=name, a=read(book, []), b=read(book, b.split()), **more)  # type: ignore[arg-type]
    return asyncio.run(begin(book, drawn_up(book, wanted)))


def given(book: Book, number: int) -> Job:
    """A job for the n-th task, as a person gives it."""
    return new_job(book, task(number), out=None, seed=None, budget=BUDGET)


def ended(book: Book, job: Job, *, solved: bool = True, tokens: int = 500) -> None:
    """A run that was begun and has ended, with all that its end decides."""

    async def run() -> None:
        book.keep(job)
        await book.tell_started(job)
        await book.tell(job.run, "model.replied", {"tokens_in": tokens - 1, "tokens_out": 1})
        await book.end(
            job.run, "solved" if solved else "not solved", {"reason": "", "seconds": 1.0}
        )
        await reviewed_after(book, job)

    asyncio.run(run())


def broken(book: Book, job: Job) -> None:
    """A run that was begun and stopped for an error."""

    async def run() -> None:
        book.keep(job)
        await book.tell_started(job)
        await book.tell(job.run, "run.parked", {"reason": "502"})
        await reviewed_after(book, job)

    asyncio.run(run())


def series(book: Book, most: int, outcome: Outcome) -> int:
    """Tasks one after the other until no experiment takes them any more; how many there were."""
    for number in range(most):
        job = given(book, number)
        if not job.experiments:
            return number
        ((_, arm),) = job.experiments
        solved, tokens = outcome(number, "b" if arm == "b" else "a")
        ended(book, job, solved=solved, tokens=tokens)
    return most


def told(book: Book, kind: str) -> list[dict[str, object]]:
    """What the system's chain tells of a kind, with who signed it."""
    return [
        {"who": each.event.who, **each.event.data}
        for each in book.journal.entries(SYSTEM)
        if each.event.kind == kind
    ]
