"""Apps, releases and incidents over the API."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from twinsmith.client.shapes import (
    AppShown,
    Deed,
    DeedBegun,
    HealthShown,
    NewApp,
    ReleaseShown,
    Said,
    release_shown,
)
from twinsmith.core.errors import ConfigError, Unknown
from twinsmith.core.operating.action import Action, ActionKind
from twinsmith.core.operating.incident import Incident
from twinsmith.core.people.override import words
from twinsmith.runs import apps as known
from twinsmith.runs import health as doing
from twinsmith.runs.deploy import acting, deploying
from twinsmith.runs.resources import refuse_full
from twinsmith.runs.submit import submit
from twinsmith.web.api.people import All
from twinsmith.web.guard import API, Guarded, Visit, Visitor, needs

apps = APIRouter(prefix=API, tags=["apps"], route_class=Guarded)
LONGEST_LOG = 5000


@apps.get("/apps", openapi_extra=needs("read"))
async def listed(visit: Visitor) -> tuple[AppShown, ...]:
    """Every app as it stands now."""
    return tuple(shown(each) for each in await known.views(visit.book))


@apps.post("/apps", status_code=202, openapi_extra=needs("deploy"))
async def deploy(visit: Visitor, wanted: NewApp) -> DeedBegun:
    """Release what a run has built, behind all gates."""
    run = visit.book.find(wanted.run)
    action = deploying(
        visit.book,
        run,
        name=wanted.name,
        host=wanted.host,
        port=wanted.port,
        replace=wanted.replace,
        secrets=wanted.secrets or None,
    )
    refuse_full(visit.book, action.app)
    return await begun(visit, action)


@apps.get("/apps/{app}", openapi_extra=needs("read"))
async def one(visit: Visitor, app: str) -> AppShown:
    """One app as it stands now."""
    return shown(await known.view(visit.book, known.found(visit.book, app)))


@apps.get("/apps/{app}/releases", openapi_extra=needs("read"))
def releases(visit: Visitor, app: str) -> tuple[ReleaseShown, ...]:
    """The releases of an app, oldest first, and what became of each."""
    return tuple(map(release_shown, known.releases(visit.book, app)))


@apps.get("/apps/{app}/releases/{number}/source", openapi_extra=needs("read"))
def source(visit: Visitor, app: str, number: int) -> dict[str, str]:
    """The files of a release by their names."""
    for each in known.releases(visit.book, app):
        if each.number == number:
            return each.deliverable.source.files
    raise Unknown(f"app {app} has no release {number}; /api/v1/apps/{app}/releases lists them")


@apps.get("/apps/{app}/logs", openapi_extra=needs("read"), response_class=Response)
async def logs(
    visit: Visitor, app: str, lines: Annotated[int, Query(ge=1, le=LONGEST_LOG)] = 200
) -> Response:
    """The last lines that the serving release wrote, without its secrets."""
    text = await known.logs(visit.book, app, lines)
    return Response(text, media_type="text/plain; charset=utf-8")


@apps.get("/apps/{app}/health", openapi_extra=needs("read"))
def health(visit: Visitor, app: str) -> HealthShown:
    """How an app did in the last minutes."""
    seen = doing.healths(visit.book, app)[0]
    series = seen.series()
    return HealthShown(
        app=app,
        words=seen.words,
        release=seen.app.serving,
        seen_seconds_ago=seen.ago,
        at=tuple(each.at for each in seen.readings),
        series={name: tuple(values) for name, values, _ in series},
        units={name: unit for name, _, unit in series},
        reading=seen.readings[-1] if seen.readings else None,
    )


@apps.post("/apps/{app}/rollback", status_code=202, openapi_extra=needs("operate"))
async def rollback(visit: Visitor, app: str, wanted: Deed) -> DeedBegun:
    """Let an earlier release serve again: no model is asked, it takes seconds."""
    return await _done(visit, "rollback", app, wanted)


@apps.post("/apps/{app}/start", status_code=202, openapi_extra=needs("operate"))
async def start(visit: Visitor, app: str, wanted: Deed) -> DeedBegun:
    """Start an app again: one release serves afterwards."""
    return await _done(visit, "start", app, wanted)


@apps.post("/apps/{app}/stop", status_code=202, openapi_extra=needs("operate"))
async def stop(visit: Visitor, app: str, wanted: Deed) -> DeedBegun:
    """Stop an app; what is in flight is finished, and its data stays."""
    return await _done(visit, "stop", app, wanted)


@apps.post("/apps/{app}/restart", status_code=202, openapi_extra=needs("operate"))
async def restart(visit: Visitor, app: str, wanted: Deed) -> DeedBegun:
    """Start the serving release of an app anew."""
    return await _done(visit, "restart", app, wanted)


@apps.post("/apps/{app}/remove", status_code=202, openapi_extra=needs("operate"))
async def remove(visit: Visitor, app: str, wanted: Deed) -> DeedBegun:
    """Remove an app; with `data`, its data, too."""
    return await _done(visit, "remove", app, wanted)


@apps.get("/incidents", openapi_extra=needs("read"))
def incidents(visit: Visitor, every: All = False, app: str = "") -> tuple[Incident, ...]:
    """Trouble that is not over, oldest first; with `all`, all there ever was."""
    found = doing.listed_incidents(visit.book, over=every)
    return tuple(each for each in found if app in ("", each.app))


@apps.get("/incidents/{incident}", openapi_extra=needs("read"))
def incident(visit: Visitor, incident: str) -> Incident:
    """One incident with all that was seen and done."""
    return doing.found_incident(visit.book, incident)


@apps.post("/incidents/{incident}/close", openapi_extra=needs("operate"))
async def close(visit: Visitor, incident: str, said: Said) -> Incident:
    """Keep that a person has dealt with an incident."""
    if not said.text.strip():
        raise ConfigError("say in `text` what was done about it")
    return await doing.close_incident(visit.book, incident, said.text)


async def begun(visit: Visit, action: Action) -> DeedBegun:
    """An action that was left to the workers."""
    run = await submit(visit.book, action, priority="high")
    return DeedBegun(run=run, app=action.app, kind=action.kind, host=action.host)


async def _done(visit: Visit, kind: ActionKind, app: str, wanted: Deed) -> DeedBegun:
    action = acting(visit.book, kind, app, to=wanted.to, data=wanted.data, why=wanted.reason)
    return await begun(visit, action)


def shown(view: known.AppView) -> AppShown:
    """An app as it goes over the wire."""
    state = view.status.state if view.status else "stopped"
    return AppShown(
        app=view.app,
        state=state if not view.problem else "unknown",
        problem=view.problem,
        override=words(view.override) if view.override else "",
        under_way=view.under_way,
        status=view.status,
        held=view.override,
    )
