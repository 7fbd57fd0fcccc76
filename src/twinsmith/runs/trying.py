"""Experiments as people ask for them: by words at a terminal, a form or the API."""

from typing import TYPE_CHECKING

from twinsmith.core.errors import ConfigError
from twinsmith.core.trying.experiment import Experiment, Recorded
from twinsmith.core.trying.experiment_seen import Planned
from twinsmith.runs.book import Book
from twinsmith.runs.experiments import Wanted, begin, drawn_up, stop
from twinsmith.runs.promotion import promote, undo
from twinsmith.runs.replay import fed, tasks_in, tasks_of_runs
from twinsmith.runs.versions import read

if TYPE_CHECKING:
    from twinsmith.client.shapes import NewExperiment

DEEDS = ("stop", "promote", "undo")


def planned(book: Book, wanted: "NewExperiment", *, files: bool = False) -> Planned:
    """The experiment that is wanted, with its power; ConfigError where it cannot be.

    Without `files` templates are named by their versions: who asks is not on this machine.
    """
    tasks: tuple[Recorded, ...] = ()
    if wanted.replay:
        told = wanted.tasks
        tasks = tasks_in(told, "--tasks") if told.strip() else tasks_of_runs(book, wanted.most)
    return drawn_up(
        book,
        Wanted(
            name=wanted.name,
            a=read(book, wanted.a, files=files),
            b=read(book, wanted.b, files=files),
            share=wanted.share,
            metric=wanted.metric,
            guards=tuple(wanted.guards),
            least=wanted.least,
            mode="replay" if wanted.replay else "live",
            tasks=tasks,
            seed=wanted.seed,
        ),
    )


async def started(book: Book, plan: Planned) -> Experiment:
    """Begin an experiment; the first runs of a replay are queued where a worker lives."""
    if plan.experiment.mode == "replay" and not book.workers(serving=True):
        raise ConfigError("a replay from here is built by workers; start one: twinsmith worker")
    experiment = await begin(book, plan)
    await fed(book, experiment.name)
    return experiment


async def done(book: Book, deed: str, name: str, reason: str) -> Experiment:
    """Stop an experiment, promote its winner, or take that back."""
    match deed:
        case "stop":
            return await stop(book, name, reason)
        case "promote":
            return await promote(book, name, reason)
        case "undo":
            return await undo(book, name, reason)
        case _:
            raise ConfigError(f"{deed!r} cannot be done with an experiment; {', '.join(DEEDS)}")
