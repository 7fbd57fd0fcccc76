"""Incidents: the list, and one of them from the first alarm to its end, with all that was tried."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.incident import Incident, path
from twinsmith.core.operating.moments import moments
from twinsmith.core.operating.remedy import MOST_ATTEMPTS
from twinsmith.core.people.approval import ApprovalRequest
from twinsmith.runs.approvals import requests
from twinsmith.runs.apps import queued
from twinsmith.runs.health import (
    close_incident,
    course_around,
    found_incident,
    listed_incidents,
)
from twinsmith.web.api.reading import page_of
from twinsmith.web.charts import Drawn, drawn
from twinsmith.web.console.apps import newest
from twinsmith.web.console.deeds import told
from twinsmith.web.guard import Guarded, Visitor, needs
from twinsmith.web.machine import MEANING, machine
from twinsmith.web.pages import Page, View, page_route, part
from twinsmith.wiring.delivering import releases_of

incidents = APIRouter(route_class=Guarded, include_in_schema=False)
MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentSeen:
    """An incident with everything that its page shows."""

    incident: Incident
    asks: tuple[ApprovalRequest, ...]
    """What a person was asked about it, and by whom it was decided, the newest last."""
    waits: ApprovalRequest | None
    """The request that is open; None where nothing waits."""
    drawn: Drawn


async def listed(view: View) -> Page:
    """Trouble with apps: what is not over, or all there ever was."""
    every, app = bool(view.asked("all")), view.asked("app")
    found = await asyncio.to_thread(listed_incidents, view.visit.book, over=every)
    apps = sorted({each.app for each in found})
    fitting = [each for each in found if app in ("", each.app)]
    if every:
        shown, following = page_of(fitting[::-1], view.asked("cursor"), MOST, _name)
    else:
        shown, following = list(newest(tuple(fitting))), ""
    return Page(
        title="Incidents",
        section="Apps",
        parts={
            "filters": part("incidents_filters", view=view, every=every, app=app, apps=apps),
            "incidents": part(
                "incidents", view=view, incidents=shown, following=following, every=every
            ),
        },
        data={"items": shown, "next": following},
        crumbs=(("Apps", "/apps"),),
    )


async def one(view: View) -> Page:
    """One incident: how far healing has come, what was seen, what was tried."""
    seen = await asyncio.to_thread(_seen, view)
    incident = seen.incident
    given = {"view": view, "seen": seen, "incident": incident}
    stages = path(incident)
    return Page(
        title=f"Incident {incident.id.rpartition('-')[2]}: {incident.kind}",
        section="Apps",
        parts={
            "summary": part("incident_summary", **given, most_attempts=MOST_ATTEMPTS),
            "healing": part(
                "incident_healing",
                **given,
                machine=machine(stages),
                stages=stages,
                meaning=MEANING,
            ),
            "attempts": part("incident_attempts", **given),
            "charts": part("incident_charts", **given, drawn=seen.drawn),
            "evidence": part("incident_evidence", **given),
        },
        data={"incident": incident, "path": stages, "requests": seen.asks},
        live=incident.stage != "closed",
        crumbs=(("Apps", "/apps"), (incident.app, f"/apps/{incident.app}")),
    )


page_route(incidents, "/incidents", "read", listed)
page_route(incidents, "/incidents/{incident}", "read", one)


@incidents.post("/incidents/{incident}/close", openapi_extra=needs("operate"))
async def close(
    request: Request,
    visit: Visitor,
    incident: str,
    reason: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Keep that a person has dealt with an incident."""

    async def work() -> str:
        if not reason.strip():
            raise ConfigError("say what was done about it; the next one who reads it needs that")
        closed = await close_incident(visit.book, incident, reason)
        return f"incident {closed.id} is closed: {closed.last}"

    return await told(request, visit, work())


def _seen(view: View) -> IncidentSeen:
    book, now = view.visit.book, SystemClock().now()
    incident = found_incident(book, view.names["incident"])
    runs = {incident.run, *(each.run for each in incident.attempts)} - {""}
    asks = tuple(each for each in requests(book, decided=True) if each.run in runs)
    course = course_around(book, incident)
    marks = moments(
        releases_of(book.settings).listed(incident.app),
        [incident],
        [each for each in queued(book, over=True) if each.app == incident.app],
        since=course.since,
        until=course.until,
    )
    waits = [each for each in asks if each.decision is None and not each.overdue(now)]
    return IncidentSeen(
        incident=incident,
        asks=asks,
        waits=waits[-1] if waits else None,
        drawn=drawn(course, marks),
    )


def _name(incident: Incident) -> str:
    return incident.id
