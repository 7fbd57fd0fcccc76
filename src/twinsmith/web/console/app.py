"""The page of one app: how it does over time, its releases, its incidents, its log, its deeds."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from twinsmith.client.shapes import release_shown
from twinsmith.core.errors import ConfigError, HostError, TwinsmithError
from twinsmith.core.operating.app import MOST_DIFF, App, Release, diff, rollback_target
from twinsmith.core.operating.incident import Incident
from twinsmith.core.operating.moments import moments
from twinsmith.runs import apps as known
from twinsmith.runs.health import AppHealth, healths, latest_course, listed_incidents
from twinsmith.runs.override import overrides
from twinsmith.web.api.apps import shown
from twinsmith.web.charts import Drawn, drawn
from twinsmith.web.console.apps import UnderWay, busy, newest, state_of, under_way
from twinsmith.web.console.held import Reach, consequence, reached
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

app = APIRouter(route_class=Guarded, include_in_schema=False)
SPANS: Mapping[str, tuple[float, str]] = {
    "10m": (600.0, "10 minutes"),
    "1h": (3600.0, "hour"),
    "1d": (86_400.0, "day"),
}
USUAL, LINES = "10m", 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSeen:
    """An app with everything that its page shows, but for its log."""

    view: known.AppView
    health: AppHealth
    state: str
    busy: str
    under_way: tuple[UnderWay, ...]
    releases: tuple[Release, ...]
    """Newest first."""
    incidents: tuple[Incident, ...]
    """All there ever were, those that are not over first."""
    target: int
    """The release that a rollback goes to; 0: there is none."""
    reach: Reach

    @property
    def app(self) -> App:
        """The app itself."""
        return self.view.app


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What changed from one release to another; `old` is 0 where there was none before."""

    new: int
    old: int
    text: str

    @property
    def cut(self) -> bool:
        """Whether there is more of it than is shown."""
        return len(self.text) >= MOST_DIFF


async def one(view: View) -> Page:
    """One app as it stands and does."""
    book = view.visit.book
    asked = await known.view(book, known.found(book, view.names["app"]))
    seen = await asyncio.to_thread(_seen, view, asked)
    span = view.asked("span") if view.asked("span") in SPANS else USUAL
    figures = await asyncio.to_thread(_figures, view, seen, span)
    compared = comparison(seen.releases, view.asked("diff"))
    log, problem = await _log(view, seen.app)
    given = {"view": view, "seen": seen, "app": seen.app}
    return Page(
        title=seen.app.name,
        section="Apps",
        parts={
            "summary": part("app_summary", **given),
            "deeds": part("app_deeds", **given, consequence=consequence),
            "charts": part("app_charts", **given, drawn=figures, span=span, spans=SPANS),
            "incidents": part("app_incidents", **given, incidents=seen.incidents[:10]),
            "releases": part("app_releases", **given, compared=compared),
            "diff": part("app_diff", **given, compared=compared) if compared else "",
            "log": part("app_log", app=seen.app, log=log, problem=problem),
        },
        data={
            **shown_as_data(seen),
            "figures": {"names": figures.names, "rows": figures.rows},
            "log": log.splitlines(),
        },
        crumbs=(("Apps", "/apps"),),
    )


page_route(app, "/apps/{app}", "read", one)


def shown_as_data(seen: AppSeen) -> dict[str, object]:
    """An app for programs that read the page's twin."""
    return {
        "app": shown(seen.view),
        "state": seen.state,
        "health": seen.health.words,
        "releases": [release_shown(each) for each in seen.releases],
        "incidents": seen.incidents,
    }


def comparison(releases: Sequence[Release], asked: str) -> Compared | None:
    """What changed in the release that somebody asks for since the one that served before it."""
    found = [each for each in releases if str(each.number) == asked]
    if not found:
        return None
    new = found[0]
    earlier = sorted((each for each in releases if each.number < new.number), key=_number)
    parent = [each for each in earlier if each.number == new.parent]
    old = next(reversed(parent or earlier), None)
    before = {} if old is None else old.deliverable.source.files
    text = diff(before, new.deliverable.source.files)
    return Compared(new=new.number, old=0 if old is None else old.number, text=text)


def _seen(view: View, asked: known.AppView) -> AppSeen:
    book, name = view.visit.book, asked.app.name
    health = healths(book, name)[0]
    releases = known.releases(book, name)
    try:
        target = rollback_target(asked.app, releases, 0).number
    except ConfigError:
        target = 0
    mine = [each for each in listed_incidents(book, over=True) if each.app == name]
    over = newest(tuple(each for each in mine if each.stage == "closed"))
    return AppSeen(
        view=asked,
        health=health,
        state=state_of(asked, health),
        busy=busy(health),
        under_way=under_way(asked, known.wanted(book)),
        releases=releases[::-1],
        incidents=(*newest(health.incidents), *over),
        target=target,
        reach=reached(name, [asked.app], known.queued(book), overrides(book)),
    )


def _figures(view: View, seen: AppSeen, span: str) -> Drawn:
    book, name = view.visit.book, seen.app.name
    course = latest_course(book, name, SPANS[span][0])
    actions = [each for each in known.queued(book, over=True) if each.app == name]
    marks = moments(seen.releases, seen.incidents, actions, since=course.since, until=course.until)
    return drawn(course, marks)


async def _log(view: View, one: App) -> tuple[str, str]:
    """The last lines that an app wrote, or why they cannot be read."""
    if not one.serving:
        return "", "No release serves yet, so there is nothing that could write."
    try:
        return await known.logs(view.visit.book, one.name, LINES), ""
    except HostError as error:
        return "", f"Its host cannot be asked: {error}"
    except TwinsmithError as error:
        return "", str(error)


def _number(release: Release) -> int:
    return release.number
