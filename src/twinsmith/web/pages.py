"""Pages: parts that are rendered on the server, whole at first, and each anew when it changed."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic_core import to_jsonable_python

from twinsmith.core.errors import EngineError
from twinsmith.core.people.role import Permission
from twinsmith.web import words
from twinsmith.web.diffs import diffed
from twinsmith.web.guard import Visit, Visitor, needs
from twinsmith.web.office import Office, office_of
from twinsmith.web.welcome import as_long_as_welcome

CSRF = "__csrf__"
"""Stands in rendered parts for a session's token, so that several people can share them."""
EVENTS = "text/event-stream"
Section = Literal[
    "Overview", "Runs", "Approvals", "Apps", "Models", "Knowledge", "Journal", "Settings", ""
]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A page that somebody wants to see: the names in its address, and what stands behind it."""

    visit: Visit
    office: Office
    names: Mapping[str, str]
    query: Mapping[str, str]
    path: str
    """The address of the page without what stands behind it."""

    def asked(self, name: str, default: str = "") -> str:
        """What the address says about a filter."""
        return self.query.get(name, default)[:400]

    def link(self, **changed: str) -> str:
        """This page with other filters; an empty one is left out."""
        kept = {k: v for k, v in {**self.query, **changed}.items() if v}
        return f"{self.path}?{urlencode(kept)}" if kept else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: its title, the parts of it in their order, and the data that they show."""

    title: str
    section: Section
    parts: Mapping[str, str]
    """The HTML of each part by the id of its element."""
    data: object = None
    """What the page shows, as its JSON twin gives it."""
    live: bool = True
    crumbs: tuple[tuple[str, str], ...] = field(default=())
    """Where this page belongs: a title and an address each."""


_TIMES = re.compile(r"(<time [^>]*>)[^<]*")
Builder = Callable[[View], Awaitable[Page]]


@cache
def templates() -> Environment:
    """The templates; everything that is put into them is escaped."""
    made = Environment(
        loader=PackageLoader("twinsmith.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(words.FILTERS)
    made.filters["diffed"] = diffed
    made.globals.update(words.GLOBALS)
    made.globals["csrf"] = CSRF
    return made


def part(template: str, **values: object) -> str:
    """A part of a page, rendered."""
    return templates().get_template(f"{template}.html").render(**values)


def page_route(router: APIRouter, path: str, permission: Permission, builder: Builder) -> None:
    """Serve a page in its three forms: for people, as JSON beside it, and live."""

    async def as_json(request: Request, visit: Visitor) -> Response:
        page = await builder(_view(request, visit, request.url.path.removesuffix(".json")))
        return JSONResponse(to_jsonable_python(page.data, fallback=str, by_alias=True))

    async def live(request: Request, visit: Visitor) -> Response:
        office, path = office_of(request), request.url.path.removeprefix("/live") or "/"
        office.shared.refuse_full()
        patches = _patches(_view(request, visit, path), builder)
        lines = as_long_as_welcome(office.identity, visit.person, patches)
        return StreamingResponse(lines, media_type=EVENTS)

    async def whole(request: Request, visit: Visitor) -> Response:
        view = _view(request, visit, request.url.path)
        return await shown(view, await builder(view))

    rule = needs(permission)
    twin = "/index.json" if path == "/" else f"{path}.json"
    for place, work in ((twin, as_json), (f"/live{path}", live), (path, whole)):
        router.get(place, openapi_extra=rule, include_in_schema=False)(work)


async def shown(view: View, page: Page, status: int = 200) -> Response:
    """A whole page, with the frame around it."""
    session = view.visit.person.session
    frame = await view.office.standing.now()
    html = (
        templates()
        .get_template("frame.html")
        .render(
            page=page,
            who=view.visit.person,
            view=view,
            frame=frame,
            notice=session.notice if session else "",
        )
    )
    if session and session.notice:
        await asyncio.to_thread(view.office.notices.taken, session)
    token = session.csrf if session else ""
    return HTMLResponse(html.replace(CSRF, token), status)


async def _patches(view: View, builder: Builder) -> AsyncIterator[str]:
    """What changes of a page, as it changes; everything once at first: nothing is missed."""
    person = view.visit.person
    token = person.session.csrf if person.session else ""
    key = (view.link(), person.name, person.permissions)
    sent: dict[str, str] = {}
    yield "retry: 1000\n\n"
    async with view.office.shared.looking(key, lambda: _parts(view, builder)) as looks:
        async for parts in looks:
            changed = {name: html for name, html in parts.items() if sent.get(name) != _mark(html)}
            sent |= {name: _mark(html) for name, html in changed.items()}
            for name, html in changed.items():
                told = json.dumps({"id": name, "html": html.replace(CSRF, token)})
                yield f"event: patch\ndata: {told}\n\n"
            if not changed:
                yield ": still here\n\n"


async def _parts(view: View, builder: Builder) -> dict[str, str]:
    """All parts of a page and of the frame as they are now."""
    try:
        frame = await view.office.standing.now()
        page = await builder(view)
        return {
            "standing": part("standing", frame=frame),
            "rail": part("rail", frame=frame, section=page.section),
            **page.parts,
        }
    except EngineError as error:
        return {"standing": part("away", problem=str(error))}


def _mark(html: str) -> str:
    """A hash of a part; times go on by themselves in the browser and do not count."""
    return hashlib.sha256(_TIMES.sub(r"\1", html).encode()).hexdigest()


def _view(request: Request, visit: Visit, path: str) -> View:
    names = {str(name): str(value) for name, value in request.path_params.items()}
    return View(
        visit=visit,
        office=office_of(request),
        names=names,
        query=dict(request.query_params),
        path=path,
    )


def problem_page(
    request: Request, status: int, title: str, text: str, number: str, headers: dict[str, str]
) -> Response:
    """A problem as a person reads it."""
    html = (
        templates()
        .get_template("problem.html")
        .render(
            title=title,
            text=text,
            number=number,
            status=status,
            back=request.headers.get("referer"),
        )
    )
    return HTMLResponse(html, status, headers=headers)
