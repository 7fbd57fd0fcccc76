"""The page of versions: what is in force, what took part in results, and challengers of roles."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response

from twinsmith.core.trying.arrangement import PLACES
from twinsmith.core.trying.challenger import Score
from twinsmith.core.trying.versions import KINDS
from twinsmith.runs import challengers
from twinsmith.runs import versions as deeds
from twinsmith.web.console.deeds import told
from twinsmith.web.guard import Guarded, Visit, Visitor, needs
from twinsmith.web.pages import Page, View, page_route, part

versions = APIRouter(route_class=Guarded, include_in_schema=False)
FRESH_SECONDS = 4.0
Text = Annotated[str, Form(max_length=300)]
SIGNS = {
    "active": ("○", "plain"),
    "pinned": ("●", "working"),
    "promoted": ("✓", "good"),
    "retired": ("❚❚", "held"),
}
COURSES = {
    "running": ("●", "working"),
    "stopped": ("❚❚", "held"),
    "fallen": ("✕", "bad"),
    "promoted": ("✓", "good"),
}
SAYS = {
    "better": "it is right more often",
    "worse": "it is right less often",
    "open": "nothing can be said yet",
}


async def all_versions(view: View) -> Page:
    """What is in force, who challenges whom, and every version that took part."""
    kind = next((each for each in KINDS if each == view.asked("kind")), "")
    found = await asyncio.to_thread(deeds.overview, view.visit.book, kind)
    scores = await _scores(view)
    running = [each.challenge.role for each in scores if each.challenge.course == "running"]
    return Page(
        title="Versions",
        section="Models",
        parts={
            "inforce": part("versions_in_force", view=view, entries=found.in_force, places=PLACES),
            "challengers": part(
                "versions_challengers",
                view=view,
                scores=scores,
                running=running,
                courses=COURSES,
                says=SAYS,
            ),
            "versions": part(
                "versions_all",
                view=view,
                versions=found.versions,
                kinds=KINDS,
                kind=kind,
                signs=SIGNS,
            ),
        },
        data={"versions": found, "challengers": scores},
        crumbs=(("Models", "/models"),),
    )


page_route(versions, "/models/versions", "read", all_versions)


@versions.post("/models/versions/give", openapi_extra=needs("operate"))
async def give(
    request: Request,
    visit: Visitor,
    key: Text,
    value: Text,
    verb: Annotated[Literal["pinned", "promoted"], Form()] = "promoted",
) -> Response:
    """Put a model of a role, a setting or a template in force."""

    async def done() -> str:
        made = await deeds.give(visit.book, key.strip(), value.strip(), verb, files=False)
        return f"{made.key} = {made.value} holds for every run from now on."

    return await told(request, visit, done())


@versions.post("/models/versions/restore", openapi_extra=needs("operate"))
async def restore(request: Request, visit: Visitor, what: Text) -> Response:
    """Take back what was pinned, promoted or retired."""

    async def done() -> str:
        return "; ".join(await deeds.restore(visit.book, what))

    return await told(request, visit, done())


@versions.post("/models/versions/retire", openapi_extra=needs("operate"))
async def retire(request: Request, visit: Visitor, what: Text) -> Response:
    """Let nobody ask a model, or a version of it."""

    async def done() -> str:
        fresh = await deeds.retire(visit.book, what)
        return f"{what} {'is' if fresh else 'was'} retired."

    return await told(request, visit, done())


@versions.post("/models/versions/challenge", openapi_extra=needs("operate"))
async def challenge(
    request: Request,
    visit: Visitor,
    role: Text,
    model: Text,
    share: Annotated[float, Form(gt=0, le=100)] = 10.0,
    guards: Text = "",
) -> Response:
    """Give a model a share of a role's calls, in percent, within guards."""
    work = _challenged(visit, role, model, share, guards)
    return await told(request, visit, work)


@versions.post("/models/versions/stop", openapi_extra=needs("operate"))
async def stop(request: Request, visit: Visitor, role: Text) -> Response:
    """Give the challenger of a role no more calls."""

    async def done() -> str:
        ended = await challengers.stop(visit.book, role)
        return f"{ended.model} gets no more calls of {ended.role}."

    return await told(request, visit, done())


async def _challenged(visit: Visit, role: str, model: str, share: float, guards: str) -> str:
    words = guards.replace(",", " ").split()
    made = await challengers.challenge(visit.book, role, model.strip(), share / 100, words)
    return f"{made.model} gets {made.share:.0%} of the calls of {made.role} from now on."


async def _scores(view: View) -> tuple[Score, ...]:
    async def read() -> tuple[Score, ...]:
        return await asyncio.to_thread(view.office.challengers.scores)

    return await view.office.kept.get("challengers", read, FRESH_SECONDS)
