"""Experiments over the API: planned, begun, looked at, stopped, promoted, taken back."""

import asyncio
from dataclasses import replace

from fastapi import APIRouter

from twinsmith.client.shapes import NewExperiment, Said
from twinsmith.core.trying.experiment import Experiment
from twinsmith.core.trying.experiment_seen import Planned, Seen
from twinsmith.runs import experiments as trying
from twinsmith.runs.trying import done, planned, started
from twinsmith.web.guard import API, Guarded, Visitor, needs

experiments = APIRouter(prefix=API, tags=["experiments"], route_class=Guarded)


@experiments.get("/experiments", openapi_extra=needs("read"))
def every(visit: Visitor) -> tuple[Experiment, ...]:
    """Every experiment, newest first, without the tasks of replays."""
    return tuple(map(_brief, trying.listed(visit.book)))


@experiments.post("/experiments/plan", openapi_extra=needs("operate"))
def plan(visit: Visitor, wanted: NewExperiment) -> Planned:
    """The runs that an experiment would need; nothing is begun."""
    found = planned(visit.book, wanted)
    return replace(found, experiment=_brief(found.experiment))


@experiments.post("/experiments", status_code=201, openapi_extra=needs("operate"))
async def start(visit: Visitor, wanted: NewExperiment) -> Planned:
    """Begin an experiment: from now on its arms share the runs, or workers build its tasks."""
    found = await asyncio.to_thread(planned, visit.book, wanted)
    begun = await started(visit.book, found)
    return replace(found, experiment=_brief(begun))


@experiments.get("/experiments/{experiment}", openapi_extra=needs("read"))
def one(visit: Visitor, experiment: str) -> Seen:
    """An experiment with all that its runs show; nothing is decided by looking."""
    found = trying.seen(visit.book, experiment)
    return replace(found, experiment=_brief(found.experiment))


@experiments.post("/experiments/{experiment}/stop", openapi_extra=needs("operate"))
async def stop(visit: Visitor, experiment: str, said: Said) -> Experiment:
    """End an experiment: new runs are worked on as if it had never been."""
    return _brief(await done(visit.book, "stop", experiment, said.text))


@experiments.post("/experiments/{experiment}/promote", openapi_extra=needs("decide"))
async def promote(visit: Visitor, experiment: str, said: Said) -> Experiment:
    """Put the winner in force for all new runs; without a winner that takes a reason."""
    return _brief(await done(visit.book, "promote", experiment, said.text))


@experiments.post("/experiments/{experiment}/undo", openapi_extra=needs("decide"))
async def undo(visit: Visitor, experiment: str, said: Said) -> Experiment:
    """Take a promotion back: what it took the place of holds again."""
    return _brief(await done(visit.book, "undo", experiment, said.text))


def _brief(experiment: Experiment) -> Experiment:
    """An experiment without the words of its tasks, which may be many."""
    return replace(experiment, tasks=())
