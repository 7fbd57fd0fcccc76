"""A release that waits, edited by a person: its source, its terms; then it is checked again."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.datastructures import FormData

from twinsmith.core.errors import ConfigError, Conflict, Forbidden, TwinsmithError
from twinsmith.core.operating.action import TUNABLE, Terms
from twinsmith.core.operating.modified import AskedFor, editable, edited
from twinsmith.settings.values import Deploy
from twinsmith.web.console.approval import Name, RequestSeen, request_seen, said
from twinsmith.web.guard import Guarded, Visit, Visitor, needs
from twinsmith.web.office import office_of
from twinsmith.web.pages import Page, View, page_route, part, shown
from twinsmith.web.problems import status_of

approval_edit = APIRouter(route_class=Guarded, include_in_schema=False)
FILE, TERM = "file:", "term:"
LABELS: Mapping[str, str] = {
    "memory_mb": "Memory in MB",
    "processes": "Processes at most",
    "ready_seconds": "Seconds until it has to be ready",
    "canary_share": "Percent of requests that it gets at first (0: no canary)",
    "canary_seconds": "Seconds of the canary",
    "soak_seconds": "Seconds that it is watched before it counts as good",
    "drain_seconds": "Seconds that requests under way may still take",
    "battery": "Attack it before it serves (1: yes, 0: no)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What a person typed in the form; nothing of it is lost when something is wrong with it."""

    files: Mapping[str, str]
    terms: Mapping[str, str]
    note: str = ""


async def form(view: View) -> Page:
    """The form with the release as it is asked for."""
    seen, now = await asyncio.to_thread(_open, view.visit, view.names["request"])
    terms = {name: f"{getattr(now.terms, name):g}" for name in TUNABLE}
    typed = Typed(files=editable(now.deliverable), terms=terms)
    return _page(seen, now, typed, "")


page_route(approval_edit, "/approvals/{request}/edit", "decide", form)


@approval_edit.post("/approvals/{request}/modify", openapi_extra=needs("decide"))
async def modify(request: Request, visit: Visitor, name: Name) -> Response:
    """Change the source or the terms of an action; it goes through all gates again."""
    async with request.form() as sent:
        typed = _typed(sent)
    seen, now = await asyncio.to_thread(_open, visit, name)
    try:
        files, terms = changes(now, typed)
        line = await said(visit, seen.request.id, "modify", typed.note, files=files, terms=terms)
    except TwinsmithError as error:
        view = View(visit=visit, office=office_of(request), names={}, query={}, path="")
        return await shown(view, _page(seen, now, typed, str(error)), status_of(error))
    note = f"{line}; it goes through all gates again, and is asked about again"
    office_of(request).notices.put(visit.person.session, note)
    return RedirectResponse(f"/approvals/{seen.request.id}", 303)


def changes(now: AskedFor, typed: Typed) -> tuple[dict[str, str] | None, tuple[str, ...]]:
    """What differs from what is asked for: files and terms; ConfigError where nothing does."""
    files = edited(now.deliverable, typed.files) if now.deliverable is not None else {}
    terms = changed_terms(now.terms, typed.terms)
    if not files and not terms:
        raise ConfigError("nothing is different from what is asked for; approve it, or change it")
    return files or None, tuple(f"{name}={value!r}" for name, value in terms.items())


def changed_terms(terms: Terms, typed: Mapping[str, str]) -> dict[str, float]:
    """The terms that a person changed; ConfigError says which one cannot be so."""
    found: dict[str, float] = {}
    for name in TUNABLE:
        text = typed.get(name, "").strip()
        try:
            value = float(text) if text else float(getattr(terms, name))
        except ValueError:
            raise ConfigError(f"{LABELS[name]}: {text[:40]!r} is no number") from None
        if value != float(getattr(terms, name)):
            found[name] = value
    try:
        Deploy.model_validate({**asdict(terms), **found})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise ConfigError(
            f"{LABELS.get(name, name)}: {found.get(name)} cannot be: {first['msg'].lower()}"
        ) from None
    return found


def _open(visit: Visit, name: str) -> tuple[RequestSeen, AskedFor]:
    """A request that can still be changed by whoever visits, and what is asked for in it."""
    seen = request_seen(visit, name)
    if seen.why_not:
        raise Forbidden(f"request {seen.request.id}: {seen.why_not}")
    if not seen.is_open:
        raise Conflict(f"request {seen.request.id} is decided, or its time is over")
    if seen.now is None:
        raise ConfigError(f"what request {seen.request.id} is about cannot be read any more")
    return seen, seen.now


def _typed(form: FormData) -> Typed:
    texts = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    return Typed(
        files={n.removeprefix(FILE): text for n, text in texts.items() if n.startswith(FILE)},
        terms={n.removeprefix(TERM): text for n, text in texts.items() if n.startswith(TERM)},
        note=texts.get("note", "")[:2000],
    )


def _page(seen: RequestSeen, now: AskedFor, typed: Typed, problem: str) -> Page:
    request = seen.request
    known = editable(now.deliverable)
    return Page(
        title="Edit and check again",
        section="Approvals",
        parts={
            "edit": part(
                "approval_edit",
                seen=seen,
                typed=typed,
                known=known,
                terms=now.terms,
                labels=LABELS,
                problem=problem,
            )
        },
        data={"request": request.id, "files": known, "terms": now.terms},
        live=False,
        crumbs=(
            ("Approvals", "/approvals"),
            (request.id.rpartition("-")[2], f"/approvals/{request.id}"),
        ),
    )
