"""One request for a person's word: all that is needed to decide, and what a person says to it."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import TwinsmithError
from twinsmith.core.operating.action import Action, Terms
from twinsmith.core.operating.modified import AskedFor
from twinsmith.core.people.approval import ApprovalRequest, Said, may_decide
from twinsmith.runs.approvals import decide, release_of, request_named, requests
from twinsmith.runs.promotion import is_experiment
from twinsmith.web.console.deeds import told
from twinsmith.web.console.dossier import WHY, approving, changes_in, outcome, sign_of, size_of
from twinsmith.web.guard import Guarded, Visit, Visitor, needs
from twinsmith.web.pages import Page, View, page_route, part

approval = APIRouter(route_class=Guarded, include_in_schema=False)
Name = Annotated[str, Path(alias="request")]
PROMOTING = (
    "Puts the winner in force for all new runs of everybody, at once.",
    "Its experiment's page takes it back.",
)
"""What an approval of an experiment's winner leads to, and how it is undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSeen:
    """A request with everything that its page shows."""

    request: ApprovalRequest
    action: Action | None
    """The action that it is about; None where it cannot be read any more."""
    now: AskedFor | None
    """What is asked for after all earlier changes; None where that cannot be read any more."""
    is_open: bool
    why_not: str
    """Why whoever looks may not decide; empty where they may."""
    again: str
    """The later request of the same run; empty where there is none."""
    following: str
    """Another request that is open; empty where there is none."""


async def one(view: View) -> Page:
    """A request: what changes, why, what shows that it is right, and the buttons."""
    seen = await asyncio.to_thread(request_seen, view.visit, view.names["request"])
    dossier = seen.request.dossier
    sign = sign_of(dossier.risk)
    leads = approving(seen.action, seen.now.terms if seen.now else Terms())
    if is_experiment(seen.request):
        leads = PROMOTING
    return Page(
        title=f"Approval {seen.request.id.rpartition('-')[2]}",
        section="Approvals",
        parts={
            "request": part("approval_request", seen=seen, why=WHY, sign=sign),
            "decision": part(
                "approval_decision",
                view=view,
                seen=seen,
                leads=leads,
                outcome=outcome,
                changes=changes_in,
            ),
            "grounds": part("approval_grounds", dossier=dossier),
            "changes": part("approval_changes", diff=dossier.diff, size=size_of(dossier.diff)),
        },
        data={"request": seen.request, "open": seen.is_open, "why_not": seen.why_not},
        crumbs=(("Approvals", "/approvals"),),
    )


page_route(approval, "/approvals/{request}", "read", one)


@approval.post("/approvals/{request}/approve", openapi_extra=needs("decide"))
async def approve(
    request: Request,
    visit: Visitor,
    name: Name,
    note: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Let an action be done."""
    return await told(request, visit, said(visit, name, "approve", note))


@approval.post("/approvals/{request}/reject", openapi_extra=needs("decide"))
async def reject(
    request: Request,
    visit: Visitor,
    name: Name,
    reason: Annotated[str, Form(min_length=1, max_length=2000)],
) -> Response:
    """Refuse an action; everything stays as it is."""
    return await told(request, visit, said(visit, name, "reject", reason))


async def said(
    visit: Visit,
    name: str,
    word: Said,
    note: str,
    *,
    files: dict[str, str] | None = None,
    terms: tuple[str, ...] = (),
) -> str:
    """Say something to a request; what a person is told of it then."""
    decided = await decide(visit.book, name, word, note=note, files=files, terms=terms)
    if is_experiment(decided):
        return f"{decided.dossier.what}: {outcome(word)}"
    idle = "" if visit.book.workers(serving=True) else "; no worker takes runs: twinsmith worker"
    return f"{decided.dossier.what}: {outcome(word)}{idle}"


def request_seen(visit: Visit, name: str) -> RequestSeen:
    """A request as whoever visits sees it; Unknown where there is none of that name."""
    book, policy = visit.book, visit.book.settings.values.approvals
    request = request_named(book, name)
    try:
        given, now = book.given(request.run), release_of(book, request)
    except TwinsmithError:
        given, now = None, None
    same = [each for each in requests(book, decided=True) if each.run == request.run]
    others = [each.id for each in requests(book) if each.id != request.id]
    return RequestSeen(
        request=request,
        action=given if isinstance(given, Action) else None,
        now=now,
        is_open=request.decision is None and not request.overdue(SystemClock().now()),
        why_not=may_decide(request, book.actor.signature, allowed=policy.by, own=policy.own),
        again=next((each.id for each in same if each.asked > request.asked), ""),
        following=others[0] if others else "",
    )
