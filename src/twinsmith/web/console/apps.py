"""The list of apps: how each stands and does, what serves, what holds it, open incidents first."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from twinsmith.core.driving import DrivingState
from twinsmith.core.operating.action import Action
from twinsmith.core.operating.incident import Incident
from twinsmith.runs.apps import AppView, views
from twinsmith.runs.apps import wanted as asked_for
from twinsmith.runs.health import AppHealth, healths, latest_course, pace
from twinsmith.web.api.apps import shown
from twinsmith.web.charts import Row, sparkline
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

apps = APIRouter(route_class=Guarded, include_in_schema=False)
SMALL = ("requests", "failed", "p95", "memory")
SPAN, POINTS = 600.0, 40
Wanted = Sequence[tuple[Action, DrivingState]]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """An action with an app that is not over."""

    run: str
    title: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AppLine:
    """An app as the list shows it."""

    view: AppView
    health: AppHealth
    state: str
    under_way: tuple[UnderWay, ...]
    small: tuple[tuple[str, str, Row | None], ...]
    """The name and unit of each figure, and how it went in the last minutes."""

    @property
    def troubled(self) -> bool:
        """Whether it has an incident that is not closed."""
        return bool(self.health.incidents)


async def listed(view: View) -> Page:
    """Every app, those in trouble first."""
    known = {each.app.name: each for each in await views(view.visit.book)}
    lines = await asyncio.to_thread(_lines, view, known)
    open_ones = tuple(incident for line in lines for incident in line.health.incidents)
    return Page(
        title="Apps",
        section="Apps",
        parts={
            "incidents": part("apps_incidents", incidents=newest(open_ones)) if lines else "",
            "apps": part("apps", view=view, lines=lines),
        },
        data={
            "apps": [shown(each.view) for each in lines],
            "health": {each.view.app.name: each.health.words for each in lines},
            "incidents": open_ones,
        },
    )


page_route(apps, "/apps", "read", listed)


def state_of(view: AppView, health: AppHealth) -> str:
    """How an app stands, in a word or two: its host knows best, then whoever watches it."""
    if view.problem:
        return "unknown"
    if not view.app.serving:
        return "never served"
    if health.words == "not watched":
        return view.status.state if view.status else "unknown"
    return health.words


def busy(health: AppHealth) -> str:
    """How much an app is used just now, in words."""
    if not health.app.serving:
        return "nothing serves yet"
    now = pace(health.readings) if health.words not in ("not watched", "stopped") else None
    if health.words == "stopped":
        return "it is stopped"
    if now is None:
        return "nobody counts its requests just now"
    if not now:
        return "no requests now"
    return f"{now:.0f} requests/s now" if now >= 10 else f"{now:.1f} requests/s now"


def under_way(view: AppView, wanted: Wanted) -> tuple[UnderWay, ...]:
    """What is done with an app, or waits for a worker; one that is not known by its run."""
    mine = [(action, state) for action, state in wanted if action.app == view.app.name]
    told = [UnderWay(run=each.run, title=each.title, state=state) for each, state in mine]
    runs = {each.run for each in told}
    rest = [UnderWay(run=run, title="", state="") for run in view.under_way if run not in runs]
    return (*told, *rest)


def newest(incidents: tuple[Incident, ...]) -> tuple[Incident, ...]:
    """Incidents, those that wait for a person first, then the newest first."""
    return tuple(sorted(incidents, key=lambda each: (each.is_open, -each.opened)))


def _lines(view: View, known: dict[str, AppView]) -> list[AppLine]:
    book = view.visit.book
    wanted = asked_for(book)
    lines = []
    for health in healths(book):
        seen = known.get(health.app.name)
        if seen is None:
            # It was made between two looks.
            continue
        course = latest_course(book, health.app.name, SPAN, most=POINTS)
        times = [each.at for each in course.readings]
        small = tuple(
            (name, unit, sparkline(times, values))
            for name, values, unit in course.series()
            if name in SMALL
        )
        lines.append(
            AppLine(
                view=seen,
                health=health,
                state=state_of(seen, health),
                under_way=under_way(seen, wanted),
                small=small,
            )
        )
    return sorted(lines, key=lambda each: (not each.troubled, each.view.app.name))
