"""The list of apps: how each stands and does, what serves, what holds it, open incidents first."""

import asyncio
from dataclasses import dataclass

from fastapi import APIRouter

from twinsmith.core.operating.incident import Incident
from twinsmith.runs.apps import AppView, views
from twinsmith.runs.health import AppHealth, healths, latest_course, pace
from twinsmith.web.api.apps import shown
from twinsmith.web.charts import Row, sparkline
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

apps = APIRouter(route_class=Guarded, include_in_schema=False)
SMALL = ("requests", "failed", "p95", "memory")
SPAN, POINTS = 600.0, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class AppLine:
    """An app as the list shows it."""

    view: AppView
    health: AppHealth
    state: str
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
    now = pace(health.readings) if health.words not in ("not watched", "stopped") else None
    if health.words == "stopped":
        return "it is stopped"
    if now is None:
        return "nobody counts its requests just now"
    if not now:
        return "no requests now"
    return f"{now:.0f} requests/s now" if now >= 10 else f"{now:.1f} requests/s now"


def newest(incidents: tuple[Incident, ...]) -> tuple[Incident, ...]:
    """Incidents, those that wait for a person first, then the newest first."""
    return tuple(sorted(incidents, key=lambda each: (each.is_open, -each.opened)))


def _lines(view: View, known: dict[str, AppView]) -> list[AppLine]:
    book = view.visit.book
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
        state = state_of(seen, health)
        lines.append(AppLine(view=seen, health=health, state=state, small=small))
    return sorted(lines, key=lambda each: (not each.troubled, each.view.app.name))
