"""What waits for a person: requests and questions, the execution queue, manual override."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.operating.action import Queued, before
from twinsmith.core.people.approval import ApprovalRequest
from twinsmith.core.people.override import ALL, Override, command_of, holding
from twinsmith.core.people.question import QuestionRecord
from twinsmith.runs import override as overriding
from twinsmith.runs.approvals import requests
from twinsmith.runs.apps import queued
from twinsmith.runs.questions import asked_questions
from twinsmith.web.api.reading import page_of
from twinsmith.web.console.deeds import told
from twinsmith.web.console.dossier import WHY, outcome, sign_of
from twinsmith.web.console.held import Reach, consequence, reached
from twinsmith.web.guard import Guarded, Visitor, needs
from twinsmith.web.pages import Page, View, page_route, part
from twinsmith.wiring.delivering import apps_of

approvals = APIRouter(route_class=Guarded, include_in_schema=False)
MOST = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Everything that waits for a person's word, and what a person holds."""

    requests: tuple[ApprovalRequest, ...]
    """Those that are open, oldest first."""
    questions: tuple[QuestionRecord, ...]
    decided: tuple[ApprovalRequest, ...]
    """Those that are over, newest first; none unless they are asked for."""
    answered: tuple[QuestionRecord, ...]
    older: str
    """Where older ones begin; empty: that was all."""
    queue: tuple[Queued, ...]
    overrides: tuple[Override, ...]
    """Those that hold."""
    everything: Reach
    apps: tuple[Reach, ...]


async def inbox(view: View) -> Page:
    """The inbox: what is asked, oldest first, and what a person may take in hand."""
    seen = await asyncio.to_thread(_seen, view)
    behind = {each.run: before(each, seen.queue) for each in seen.queue}
    held = {each.app for each in seen.queue if holding(seen.overrides, each.app)}
    wanted = {each.run: each.id for each in seen.requests}
    every = bool(view.asked("all"))
    return Page(
        title="Approvals",
        section="Approvals",
        parts={
            "requests": part(
                "approvals_requests", view=view, seen=seen, every=every, why=WHY, sign=sign_of
            ),
            "questions": part("approvals_questions", view=view, seen=seen),
            "over": part("approvals_over", view=view, seen=seen, outcome=outcome) if every else "",
            "queue": part(
                "approvals_queue",
                view=view,
                queue=seen.queue,
                behind=behind,
                held=held,
                wanted=wanted,
            ),
            "override": part("approvals_override", view=view, seen=seen, consequence=consequence),
        },
        data={
            "requests": (*seen.requests, *seen.decided),
            "questions": (*seen.questions, *seen.answered),
            "next": seen.older,
            "queue": seen.queue,
            "overrides": seen.overrides,
        },
    )


page_route(approvals, "/approvals", "read", inbox)


@approvals.post("/overrides", openapi_extra=needs("override"))
async def override(
    request: Request,
    visit: Visitor,
    command: Annotated[str, Form(max_length=20)],
    scope: Annotated[str, Form(max_length=200)],
    reason: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Beat every automatic action of an app, or of all; or lift what holds it."""

    async def work() -> str:
        lines = await overriding.override(visit.book, command_of(command), scope, reason)
        return "; ".join(lines)

    return await told(request, visit, work())


def _seen(view: View) -> Waiting:
    book, now = view.visit.book, SystemClock().now()
    decided: list[ApprovalRequest] = []
    answered: list[QuestionRecord] = []
    older = ""
    if view.asked("all"):
        known = requests(book, decided=True)[::-1]
        over = [each for each in known if each.decision is not None or each.overdue(now)]
        decided, older = page_of(over, view.asked("cursor"), MOST, _place)
        every = asked_questions(book, answered=True)[::-1]
        answered = [each for each in every if each.answer is not None or each.overdue(now)][:MOST]
    apps, queue = apps_of(book.settings).listed(), queued(book)
    holds = tuple(each for each in overriding.overrides(book) if not each.lifted)
    return Waiting(
        requests=requests(book),
        questions=asked_questions(book),
        decided=tuple(decided),
        answered=tuple(answered),
        older=older,
        queue=queue,
        overrides=holds,
        everything=reached(ALL, apps, queue, holds),
        apps=tuple(reached(each.name, apps, queue, holds) for each in apps),
    )


def _place(request: ApprovalRequest) -> str:
    return f"{request.asked} {request.id}"
