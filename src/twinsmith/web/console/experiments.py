"""Experiments: the list, and one of them with its arms, its interval over time, and its buttons."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response

from twinsmith.core.trying.experiment import MEANING, Experiment
from twinsmith.core.trying.experiment_power import in_words as power_in_words
from twinsmith.core.trying.experiment_seen import Seen, comparison, described, reading
from twinsmith.core.trying.experiment_verdict import Judgement, Point, in_words
from twinsmith.runs.experiments import listed, seen
from twinsmith.runs.promotion import request_of, winner
from twinsmith.runs.trying import done
from twinsmith.web.console.deeds import told
from twinsmith.web.guard import Guarded, Visit, Visitor, needs
from twinsmith.web.pages import Page, View, page_route, part

experiments = APIRouter(route_class=Guarded, include_in_schema=False)
Name = Annotated[str, Path(alias="experiment", max_length=60)]
Reason = Annotated[str, Form(max_length=500)]
WIDE, HIGH = 1000.0, 100.0
FRESH_SECONDS = 2.0
SIGNS = {
    "running": ("●", "working"),
    "over": ("▲", "waits"),
    "stopped": ("❚❚", "held"),
    "promoting": ("●", "working"),
    "promoted": ("✓", "good"),
    "undoing": ("●", "working"),
    "undone": ("○", "plain"),
}
GUARD_SIGNS = {"kept": ("✓", "good"), "open": ("○", "plain"), "broken": ("✕", "bad")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The interval over time, laid out; the template draws it."""

    effect: str
    low: str
    high: str
    band: str
    same: float
    """The height of no difference."""
    top: str
    bottom: str


async def every(view: View) -> Page:
    """All experiments, newest first."""
    found = await asyncio.to_thread(listed, view.visit.book)
    return Page(
        title="Experiments",
        section="Models",
        parts={
            "experiments": part(
                "experiments",
                experiments=found,
                meaning=MEANING,
                signs=SIGNS,
                described=described,
            )
        },
        data=[_brief(each) for each in found],
        crumbs=(("Models", "/models"),),
    )


async def one(view: View) -> Page:
    """An experiment: what is tried, what was found, how sure that is, and what can be done."""
    name = view.names["experiment"]
    found = await _seen(view, name)
    it, judgement = found.experiment, found.judgement
    return Page(
        title=f"Experiment {it.name}",
        section="Models",
        parts={
            "summary": part(
                "experiment_summary",
                it=it,
                meaning=MEANING[it.state],
                sign=SIGNS[it.state],
                why=it.why or judgement.why,
                power=power_in_words(found.power, it),
                request=request_of(it.name),
                winner=winner(it),
            ),
            "arms": part(
                "experiment_arms",
                seen=found,
                found=judgement.estimate,
                a=described(it, "a"),
                b=described(it, "b"),
                reading=reading,
                comparison=comparison,
            ),
            "course": part("experiment_course", drawn=drawn(judgement), seen=found),
            "guards": part(
                "experiment_guards", guards=judgement.guards, signs=GUARD_SIGNS, in_words=in_words
            ),
            "deeds": part("experiment_deeds", it=it, view=view, winner=winner(it)),
        },
        data=replace(found, experiment=_brief(it)),
        crumbs=(("Models", "/models"), ("Experiments", "/experiments")),
    )


page_route(experiments, "/experiments", "read", every)
page_route(experiments, "/experiments/{experiment}", "read", one)


@experiments.post("/experiments/{experiment}/stop", openapi_extra=needs("operate"))
async def stop(request: Request, visit: Visitor, name: Name, reason: Reason) -> Response:
    """End an experiment."""
    return await told(request, visit, _done(visit, "stop", name, reason))


@experiments.post("/experiments/{experiment}/promote", openapi_extra=needs("decide"))
async def promote(request: Request, visit: Visitor, name: Name, reason: Reason = "") -> Response:
    """Put the winner in force."""
    return await told(request, visit, _done(visit, "promote", name, reason))


@experiments.post("/experiments/{experiment}/undo", openapi_extra=needs("decide"))
async def undo(request: Request, visit: Visitor, name: Name, reason: Reason) -> Response:
    """Take a promotion back."""
    return await told(request, visit, _done(visit, "undo", name, reason))


def drawn(judgement: Judgement) -> Drawn | None:
    """The interval over time as lines on a ground; None where there are fewer than two moments."""
    points = [each for each in judgement.course if each.low is not None and each.high is not None]
    if len(points) < 2:
        return None
    same = 1.0 if judgement.estimate.is_ratio else 0.0
    least = min(same, *(each.low for each in points if each.low is not None))
    most = max(same, *(each.high for each in points if each.high is not None))
    room = max(most - least, 1e-9)

    def height(value: float) -> float:
        return round(HIGH - (value - least) / room * HIGH, 2)

    def line(values: Sequence[float]) -> str:
        step = WIDE / (len(values) - 1)
        return " ".join(f"{at * step:.1f},{height(each)}" for at, each in enumerate(values))

    low, high = line([_low(each) for each in points]), line([_high(each) for each in points])
    return Drawn(
        effect=line([each.effect for each in points]),
        low=low,
        high=high,
        band=f"{low} {' '.join(reversed(high.split()))}",
        same=height(same),
        top=comparison(judgement.estimate, most),
        bottom=comparison(judgement.estimate, least),
    )


def _low(point: Point) -> float:
    return point.effect if point.low is None else point.low


def _high(point: Point) -> float:
    return point.effect if point.high is None else point.high


def _brief(experiment: Experiment) -> Experiment:
    """An experiment without the words of its tasks, which may be many."""
    return replace(experiment, tasks=())


async def _seen(view: View, name: str) -> Seen:
    async def read() -> Seen:
        return await asyncio.to_thread(seen, view.office.book, name)

    return await view.office.kept.get(f"experiment {name}", read, FRESH_SECONDS)


async def _done(visit: Visit, deed: str, name: str, reason: str) -> str:
    after = await done(visit.book, deed, name, reason)
    return f"Experiment {name} is {MEANING[after.state]}."
