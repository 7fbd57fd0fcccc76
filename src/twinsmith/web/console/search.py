"""The page that finds things by words: runs, apps, requests, incidents."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from fastapi import APIRouter

from twinsmith.core.operating.app import App
from twinsmith.core.operating.incident import Incident
from twinsmith.core.people.approval import ApprovalRequest
from twinsmith.core.progress import Progress
from twinsmith.runs.approvals import requests
from twinsmith.runs.glance import MOST_KEPT
from twinsmith.runs.health import listed_incidents
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

search = APIRouter(route_class=Guarded, include_in_schema=False)
MOST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that was found, and what of it people see."""

    page: str
    name: str
    state: str
    text: str
    at: str | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Things of a kind, the newest first."""

    title: str
    items: tuple[Found, ...]
    count: int
    """How many there are; those that are shown may be fewer."""
    all: str
    """The page of all of them."""


async def results(view: View) -> Page:
    """Everything that has the words in it."""
    words = view.asked("q").strip()
    groups = await asyncio.to_thread(_groups, view, words) if words else ()
    return Page(
        title="Search",
        section="",
        parts={"found": part("search", words=words, groups=groups, most=MOST_KEPT)},
        data={"q": words, "groups": groups},
        live=False,
    )


page_route(search, "/search", "read", results)


def has(words: str, *texts: str) -> bool:
    """Whether every word is in one of the texts, however it is written."""
    told = "\n".join(texts).casefold()
    return all(word in told for word in words.casefold().split())


def group(title: str, everything: str, found: Iterable[Found]) -> Group:
    """What was found of a kind, not too much of it."""
    items = tuple(found)
    return Group(title=title, items=items[:MOST], count=len(items), all=everything)


def found_runs(words: str, runs: Iterable[Progress]) -> Iterable[Found]:
    """The runs with the words in their tasks, names or reasons."""
    for each in runs:
        if has(words, each.task, each.run, each.reason):
            yield Found(
                page=f"/runs/{each.run}",
                name=each.run,
                state=each.state,
                text=each.task,
                at=each.started,
            )


def found_apps(words: str, apps: Iterable[App]) -> Iterable[Found]:
    """The apps with the words in their names or addresses."""
    for each in apps:
        if has(words, each.name, each.host, each.url):
            serves = f"release {each.serving} serves at {each.url}" if each.serving else each.url
            state = "serving" if each.serving and each.wanted == "running" else each.wanted
            yield Found(page=f"/apps/{each.name}", name=each.name, state=state, text=serves, at="")


def found_requests(words: str, known: Iterable[ApprovalRequest]) -> Iterable[Found]:
    """The requests for a person's word, open and decided, with the words in them."""
    for each in known:
        note = each.decision.note if each.decision else ""
        if has(words, each.dossier.what, each.app, each.id, each.by, note):
            yield Found(
                page=f"/approvals/{each.id}",
                name=each.id,
                state=each.decision.said if each.decision else "waiting",
                text=each.dossier.what,
                at=each.asked,
            )


def found_incidents(words: str, known: Iterable[Incident]) -> Iterable[Found]:
    """The incidents with the words in their stories."""
    for each in known:
        if has(words, each.id, each.app, each.kind, *(step.did for step in each.steps)):
            yield Found(
                page=f"/incidents/{each.id}",
                name=each.id,
                state=each.stage,
                text=f"{each.app}: {each.last}",
                at=each.opened,
            )


def _groups(view: View, words: str) -> tuple[Group, ...]:
    from urllib.parse import urlencode

    from twinsmith.wiring.delivering import apps_of

    book, asked = view.visit.book, urlencode({"q": words})
    runs = view.office.glance.progresses(book.journal.runs()[: -MOST_KEPT - 1 : -1])
    return (
        group("Runs", f"/runs?{asked}", found_runs(words, runs)),
        group("Apps", "/apps", found_apps(words, apps_of(book.settings).listed())),
        group(
            "Approvals",
            "/approvals?all=1",
            found_requests(words, requests(book, decided=True)[::-1]),
        ),
        group(
            "Incidents",
            "/incidents?all=1",
            found_incidents(words, listed_incidents(book, over=True)[::-1]),
        ),
    )
