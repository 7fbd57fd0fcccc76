"""The journal as people look through it: filtered, in pages, verified, anchored."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Entry
from twinsmith.runs.records import Wanted, followed, latest, moment
from twinsmith.web.guard import Guarded, Visitor, needs
from twinsmith.web.office import office_of
from twinsmith.web.pages import Page, View, page_route, part, shown

journal = APIRouter(route_class=Guarded, include_in_schema=False)
MOST = 50
FILTERS = tuple(field.name for field in fields(Wanted))
KINDS = ("approval.", "incident.", "model.", "override.", "person.", "run.", "stage.", "user.")
"""Beginnings of kinds that people look for."""
PLACES: Mapping[str, str] = {
    "run": "/runs",
    "from": "/runs",
    "app": "/apps",
    "request": "/approvals",
}
"""Where a name that an entry's data holds leads to."""
CRUMBS = (("Journal", "/journal"),)


GIST = (
    "user",
    "task",
    "what",
    "said",
    "command",
    "scope",
    "stage",
    "role",
    "model",
    "state",
    "title",
    "method",
    "route",
    "reason",
    "note",
    "text",
)
"""Members of an entry's data that tell most of it."""
LONGEST_GIST = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A page that an entry is about: `word` says what its name is."""

    word: str
    name: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An entry with where it leads to, most of it in a few words, and its data as it stands."""

    entry: Entry
    links: tuple[Link, ...]
    gist: str
    data: str


async def entries(view: View) -> Page:
    """Entries of the system's own chain or of a run's, newest first."""
    asked = {name: view.asked(name).strip() for name in FILTERS}
    found: list[Entry] = []
    older, problem = 0, ""
    cursor = view.asked("cursor")
    before = int(cursor) if cursor.isdecimal() and len(cursor) < 16 else 0
    try:
        wanted = wanted_in(asked)
        found, older = await asyncio.to_thread(
            latest, view.visit.book, wanted, before=before, most=MOST
        )
    except ConfigError as error:
        problem = str(error)
    export = urlencode({name: text for name, text in asked.items() if text})
    return Page(
        title="Journal",
        section="Journal",
        parts={
            "filters": part(
                "journal_filters", asked=asked, kinds=KINDS, problem=problem, export=export
            ),
            "entries": part(
                "journal_entries", view=view, lines=[line_of(each) for each in found], older=older
            ),
        },
        data={"items": found, "next": str(older or ""), "problem": problem},
        live=False,
    )


async def checked(view: View) -> Page:
    """Every chain, or a run's, followed from its beginning to its end."""
    chains = await asyncio.to_thread(followed, view.visit.book, view.asked("run"))
    return Page(
        title="Verified",
        section="Journal",
        parts={"chains": part("journal_verified", chains=chains, one=view.asked("run"))},
        data={"ok": not any(each.broken for each in chains), "chains": chains},
        live=False,
        crumbs=CRUMBS,
    )


page_route(journal, "/journal", "audit", entries)
page_route(journal, "/journal/verify", "audit", checked)


@journal.post("/journal/anchor", openapi_extra=needs("audit"))
async def anchor(request: Request, visit: Visitor) -> Response:
    """A line that tells where the whole journal ends, for a person to store elsewhere."""
    line = await visit.book.anchor()
    view = View(visit=visit, office=office_of(request), names={}, query={}, path="/journal")
    page = Page(
        title="Anchor",
        section="Journal",
        parts={"anchor": part("journal_anchor", line=line)},
        data={"anchor": line},
        live=False,
        crumbs=CRUMBS,
    )
    return await shown(view, page)


def wanted_in(asked: Mapping[str, str]) -> Wanted:
    """What somebody wants to see; ConfigError where a time is none."""
    times = {name: moment(asked[name], name) for name in ("since", "until")}
    return Wanted(**{**asked, **times})


def line_of(entry: Entry) -> Line:
    """An entry as a row of the page."""
    data = json.dumps({**entry.event.data}, ensure_ascii=False, indent=2)
    return Line(entry=entry, links=links_of(entry), gist=gist_of(entry), data=data)


def gist_of(entry: Entry) -> str:
    """Most of what an entry tells, in a few words."""
    found = [entry.event.data.get(name) for name in GIST]
    told = ", ".join(" ".join(each.split()) for each in found if isinstance(each, str) and each)
    return told if len(told) <= LONGEST_GIST else f"{told[:LONGEST_GIST]}…"


def links_of(entry: Entry) -> tuple[Link, ...]:
    """The pages that an entry is about."""
    data, kind = entry.event.data, entry.event.kind
    about = data.get("about")
    named = {**(about if isinstance(about, dict) else {}), **data}
    if kind.startswith("approval."):
        named["request"] = data.get("id")
    found = {
        address: Link(word=word, name=name, address=address)
        for word, place in PLACES.items()
        if isinstance(name := named.get(word), str) and name
        for address in [f"{place}/{quote(name, safe='')}"]
    }
    return tuple(found.values())
