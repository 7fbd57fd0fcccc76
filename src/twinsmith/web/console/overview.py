"""The first page: the architecture as it stands, what waits for a person, the latest runs."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from fastapi import APIRouter

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.anatomy import PARTS, WAYS, PartName, Way
from twinsmith.core.condition import Circumstances, Condition, ConditionKind, conditions
from twinsmith.core.motion import DELIVERY, Motion, lit
from twinsmith.core.operating.incident import Incident
from twinsmith.core.people.approval import ApprovalRequest
from twinsmith.core.people.question import QuestionRecord
from twinsmith.core.progress import Progress
from twinsmith.runs.approvals import requests
from twinsmith.runs.apps import queued
from twinsmith.runs.book import Book
from twinsmith.runs.health import STALE_SECONDS, listed_incidents
from twinsmith.runs.override import overrides
from twinsmith.runs.questions import asked_questions
from twinsmith.web import drawing
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

overview = APIRouter(route_class=Guarded, include_in_schema=False)
MOST_WANTED = 8
SIGNS: Mapping[ConditionKind, tuple[str, str, str]] = {
    "idle": ("○", "plain", "idle"),
    "working": ("●", "working", "working"),
    "waits": ("▲", "waits", "waits"),
    "failing": ("✕", "bad", "failing"),
    "held": ("❚❚", "held", "held"),
}
"""A condition as a shape, a colour and a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Something that waits for a person: what it is, where it is dealt with, since when."""

    kind: str
    text: str
    page: str
    since: str | float
    until: str = ""
    """When it is decided without anybody; empty: never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Everything that the first page shows."""

    wanted: tuple[Wanted, ...]
    healing: tuple[Incident, ...]
    """Trouble that is being mended without anybody."""
    conditions: dict[PartName, Condition]
    motion: Motion
    lit: frozenset[Way]
    running: tuple[Progress, ...]
    latest: tuple[Progress, ...]


async def first(view: View) -> Page:
    """The whole system at a glance."""
    seen = await asyncio.to_thread(_seen, view)
    pages = _pages(seen.running, audits=view.visit.may("audit"))
    shown = {"seen": seen, "parts": PARTS, "ways": WAYS, "pages": pages, "signs": SIGNS}
    return Page(
        title="Overview",
        section="Overview",
        parts={
            "wanted": part(
                "overview_wanted", wanted=seen.wanted, healing=seen.healing, most=MOST_WANTED
            ),
            "architecture": part("overview_drawing", drawings=_drawings(), cut=_cut, **shown),
            "parts": part("overview_parts", **shown),
            "runs": part("overview_runs", view=view, runs=seen.latest),
        },
        data={
            "wanted": seen.wanted,
            "healing": seen.healing,
            "parts": {
                name: {"condition": seen.conditions[name], "last": seen.motion.last.get(name)}
                for name in PARTS
            },
            "lit": sorted(seen.lit),
            "runs": seen.latest,
        },
    )


page_route(overview, "/", "read", first)


def circumstances(
    running: Iterable[Progress],
    waiting: Iterable[Wanted],
    incidents: Iterable[Incident],
    states: Iterable[str],
    *,
    held: tuple[str, ...],
    serving: int,
    watched: bool,
) -> Circumstances:
    """What is known of the system in numbers; `states` are those of actions."""
    kinds = Counter(each.kind for each in waiting)
    acting = Counter(states)
    asked: Counter[tuple[int, str]] = Counter()
    trying = 0
    for run in running:
        questions = [
            (each.number, role) for each in run.ensembles for role in each.waiting.values()
        ]
        asked.update(questions)
        stage = next((each.name for each in reversed(run.stages) if not each.finished), "")
        trying += bool(not questions and stage and not stage.startswith(DELIVERY))
    handed = [each.is_open for each in incidents]
    return Circumstances(
        asked=asked,
        trying=trying,
        approvals=kinds["approval"],
        questions=kinds["question"],
        held=held,
        acting=acting["running"],
        queued=acting["queued"],
        serving=serving,
        watched=watched,
        healing=sum(handed),
        escalated=len(handed) - sum(handed),
    )


def wanted(
    approvals: Iterable[ApprovalRequest],
    questions: Iterable[QuestionRecord],
    incidents: Iterable[Incident],
) -> tuple[Wanted, ...]:
    """What waits for a person: incidents that were handed over, then by the time that is left."""
    handed = [
        Wanted(
            kind="incident",
            text=f"{each.app}: {each.last}",
            page=f"/incidents/{each.id}",
            since=each.changed,
        )
        for each in incidents
        if not each.is_open
    ]
    asked = [
        Wanted(
            kind="approval",
            text=each.dossier.what,
            page=f"/approvals/{each.id}",
            since=each.asked,
            until=each.until,
        )
        for each in approvals
    ]
    asked += [
        Wanted(
            kind="question",
            text=each.question.text,
            page=f"/runs/{each.question.run}",
            since=each.asked,
            until=each.until,
        )
        for each in questions
    ]
    return (*handed, *sorted(asked, key=lambda each: each.until))


def _seen(view: View) -> Seen:
    book, office, now = view.visit.book, view.office, SystemClock().now()
    driven = [each.run for each in book.driving.listed() if each.state == "driven"]
    motion = office.following.now(driven)
    found = office.glance.progresses(driven)
    running = tuple(each for each in found if each.state == "running")
    latest = office.glance.progresses(office.following.latest())
    incidents, serving = listed_incidents(book), _serving(book)
    wants = wanted(requests(book), asked_questions(book), incidents)
    known = circumstances(
        running,
        wants,
        incidents,
        (each.state for each in queued(book)),
        held=tuple(each.scope for each in overrides(book) if not each.lifted),
        serving=len(serving),
        watched=_is_watched(book, serving),
    )
    return Seen(
        wanted=wants,
        healing=tuple(each for each in incidents if each.is_open),
        conditions=conditions(known, motion, now),
        motion=motion,
        lit=lit(motion, now),
        running=running,
        latest=tuple(latest),
    )


def _serving(book: Book) -> list[str]:
    """The apps that should serve."""
    from twinsmith.wiring.delivering import apps_of

    known = apps_of(book.settings).listed()
    return [each.name for each in known if each.serving and each.wanted == "running"]


def _is_watched(book: Book, apps: Iterable[str]) -> bool:
    """Whether a monitor lives: here, or on a machine whose readings come."""
    from twinsmith.adapters.lease import is_held
    from twinsmith.wiring.watching import readings_of

    if is_held(book.settings.home / "monitor"):
        return True
    readings, now = readings_of(book.settings), time.time()
    return any(readings.listed(app, now - STALE_SECONDS, now + 1) for app in apps)


def _pages(running: tuple[Progress, ...], *, audits: bool) -> dict[PartName, str]:
    """The page of every part: of the ensembles, the run that they work at where it is only one."""
    known = {name: each.page for name, each in PARTS.items()}
    if not audits:
        known["log"] = "/runs"
    own = f"/runs/{running[0].run}" if len(running) == 1 else "/runs"
    return {name: own if page == "/runs" else page for name, page in known.items()}


@cache
def _drawings() -> tuple[tuple[drawing.Layout, tuple[drawing.Line, ...]], ...]:
    return tuple((each, drawing.lines(each)) for each in (drawing.broad(), drawing.narrow()))


def _cut(text: str, layout: drawing.Layout) -> str:
    return drawing.fitting(text, layout.letters)
