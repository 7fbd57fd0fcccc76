"""A replay that this process drives, run by run, or that workers drive and this one follows."""

import asyncio
from collections.abc import Callable

from twinsmith.core.errors import DatabaseAway, EngineError, RunBusy, TwinsmithError
from twinsmith.core.progress import ENDED
from twinsmith.core.trying.experiment import Experiment
from twinsmith.runs.book import Book
from twinsmith.runs.drive import Driver
from twinsmith.runs.experiments import found
from twinsmith.runs.promotion import settled
from twinsmith.runs.replay import Turn, fed, job_for, key_of, turns

LOOK_SECONDS = 0.5
MOST_BROKEN = 3
"""After so many runs that broke one after the other, it is the machine's fault."""


async def replayed(book: Book, name: str, said: Callable[[str], None]) -> Experiment:
    """A replay seen to its end: what is done is not done again."""
    experiment = await settled(book, name)
    if experiment.state == "running" and book.workers(serving=True):
        return await _followed(book, name, said)
    broken = 0
    for turn in turns(book, experiment):
        if experiment.state != "running":
            break
        state = await _driven(book, experiment, turn)
        if not state:
            continue
        said(f"task {turn.first} of {len(experiment.tasks)}, arm {turn.arm}: {state}")
        broken = broken + 1 if state not in ENDED else 0
        if broken >= MOST_BROKEN:
            raise EngineError(
                f"{broken} runs broke one after the other ({state}); once that is mended: "
                f"twinsmith experiment replay {name}"
            )
        experiment = await settled(book, name)
    return await settled(book, name)


async def _driven(book: Book, experiment: Experiment, turn: Turn) -> str:
    """How a task in an arm ended; empty where it had ended before."""
    driver, run = Driver(book), turn.run
    if run and book.progress(run).state in ENDED:
        return ""
    try:
        if run:
            await driver.resume(run)
        else:
            job = job_for(book, experiment, turn)
            run = job.run
            await driver.start(job, key_of(experiment, turn))
    except (DatabaseAway, RunBusy):
        raise
    except TwinsmithError as error:
        return f"broke: {error}"
    return book.progress(run).state


async def _followed(book: Book, name: str, said: Callable[[str], None]) -> Experiment:
    told: set[str] = set()
    while True:
        experiment = await settled(book, name)
        for turn in turns(book, experiment):
            state = book.progress(turn.run).state if turn.run else ""
            if turn.run not in told and state in (*ENDED, "parked"):
                told.add(turn.run)
                said(f"task {turn.first} of {len(experiment.tasks)}, arm {turn.arm}: {state}")
        if experiment.state != "running":
            return found(book, name)
        waiting = await fed(book, name)
        if not waiting and not book.workers(serving=True):
            raise EngineError(
                f"no worker is left; go on here or there: twinsmith experiment replay {name}"
            )
        await asyncio.sleep(LOOK_SECONDS)
