"""Recorded tasks, built by both arms of an experiment with the same seed, on the queue."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass

from twinsmith.core.budget import Budget
from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.events import Json
from twinsmith.core.progress import ENDED
from twinsmith.core.task import Job, Task, read_task
from twinsmith.core.trying.arrangement import Arrangement, over
from twinsmith.core.trying.experiment import ARMS, Arm, Experiment, Recorded, unit_of
from twinsmith.runs.book import Book
from twinsmith.runs.experiments import found
from twinsmith.runs.submit import new_job, submit
from twinsmith.wiring.experiments import trials_of

OFFLINE = Arrangement(settings=(("build.retrieval", "false"),))
"""Both arms look nothing up: whichever comes second would find the program of the first."""
FIELDS = ("text", "language", "kind", "tests", "spec")
AHEAD = 2
"""So many pairs of runs are queued for each worker: where it is decided early, few are too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A task of a replay in one of its arms."""

    number: int
    arm: Arm
    run: str = ""
    """The run that was begun for it; empty: none yet."""

    @property
    def first(self) -> int:
        """The number as people count."""
        return self.number + 1


def tasks_in(text: str, name: str) -> tuple[Recorded, ...]:
    """The tasks of a file: one a line, as words or as a JSON object; # begins a remark."""
    tasks: dict[str, Recorded] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        try:
            task = _recorded(words)
            task_of(task)
        except ConfigError as error:
            raise ConfigError(f"{name}, line {number}: {error}") from None
        tasks.setdefault(unit_of(task.text), task)
    if not tasks:
        raise ConfigError(f"{name} holds no task; write one a line")
    return tuple(tasks.values())


def tasks_of_runs(book: Book, most: int) -> tuple[Recorded, ...]:
    """The tasks of the latest builds that ended, each once, oldest first."""
    tasks: dict[str, Recorded] = {}
    for run in reversed(book.journal.runs()):
        if len(tasks) >= most:
            break
        try:
            job = book.job(run)
        except EngineError:
            continue
        if job.mend is None and book.progress(run).state in ENDED:
            told = {field: getattr(job.task, field) for field in FIELDS}
            tasks.setdefault(unit_of(job.task.text), Recorded(**told))
    return tuple(reversed(tasks.values()))


def task_of(recorded: Recorded) -> Task:
    """A recorded task as one that can be built; ConfigError where it is none."""
    return read_task(
        text=recorded.text,
        language=recorded.language,
        kind=recorded.kind,
        tests=recorded.tests,
        spec=recorded.spec,
    )


def turns(book: Book, experiment: Experiment) -> tuple[Turn, ...]:
    """Every task in both arms, in their order: a begins with one task, b with the next."""
    known = {
        (each.assigned.unit, each.assigned.arm): each.assigned.run
        for each in trials_of(book.settings).listed(experiment.name)
    }
    return tuple(
        Turn(number=number, arm=arm, run=known.get((unit_of(task.text), arm), ""))
        for number, task in enumerate(experiment.tasks)
        for arm in (ARMS if number % 2 == 0 else ARMS[::-1])
    )


def job_for(book: Book, experiment: Experiment, turn: Turn) -> Job:
    """The job of a task in an arm; both arms have the same seed and the same budget."""
    given = book.settings.values.build
    budget = Budget(
        tokens=given.budget_tokens, seconds=given.budget_seconds, usd=given.budget_usd or None
    )
    return new_job(
        book,
        task_of(experiment.tasks[turn.number]),
        out=None,
        seed=experiment.seed + turn.number,
        budget=budget,
        arrangement=over(OFFLINE, experiment.arrangement(turn.arm)),
        arms=((experiment.name, turn.arm),),
    )


def key_of(experiment: Experiment, turn: Turn) -> str:
    """The key under which a task in an arm is built once, whoever asks for it."""
    return f"experiment {experiment.name} {turn.number} {turn.arm}"


async def fed(book: Book, name: str) -> int:
    """Queue what comes next of a replay; how many runs of it are not over.

    Whoever ends a run of it does so, and whoever follows it: twice is once.
    """
    experiment = await asyncio.to_thread(found, book, name)
    if experiment.state != "running" or experiment.mode != "replay":
        return 0
    workers = len(book.workers(serving=True))
    if not workers:
        return 0
    waiting = 0
    for turn in await asyncio.to_thread(turns, book, experiment):
        if turn.run:
            waiting += book.progress(turn.run).state not in (*ENDED, "parked")
        elif waiting < 2 * AHEAD * workers:
            job = await asyncio.to_thread(job_for, book, experiment, turn)
            await submit(book, job, key=key_of(experiment, turn), priority="low")
            waiting += 1
    return waiting


def _recorded(words: str) -> Recorded:
    if not words.startswith("{"):
        return Recorded(text=words)
    try:
        told: Json = json.loads(words)
    except ValueError as error:
        raise ConfigError(f"it begins like JSON and is none: {error}") from None
    texts = dict(_texts(told)) if isinstance(told, dict) else {}
    if "text" not in texts:
        raise ConfigError(f'a task has a "text", and may have {", ".join(FIELDS[1:])}')
    return Recorded(**texts)


def _texts(told: dict[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in told.items():
        if name not in FIELDS or not isinstance(value, str):
            raise ConfigError(f"{name!r} is no text of a task; one of {', '.join(FIELDS)}")
        yield name, value
