"""Questions, approvals, the queue and overrides over the API: where people are asked and decide."""

from typing import Annotated

from fastapi import APIRouter, Query

from twinsmith.client.shapes import Done, Modified, NewOverride, Said
from twinsmith.core.errors import ConfigError, Unknown
from twinsmith.core.operating.action import Queued
from twinsmith.core.operating.modified import edited
from twinsmith.core.people.approval import ApprovalRequest
from twinsmith.core.people.override import Override
from twinsmith.core.people.question import QuestionRecord
from twinsmith.runs import approvals as deciding
from twinsmith.runs import override as overriding
from twinsmith.runs import questions as asking
from twinsmith.runs.apps import queued
from twinsmith.web.guard import API, Guarded, Visitor, needs

people = APIRouter(prefix=API, tags=["people"], route_class=Guarded)
All = Annotated[bool, Query(alias="all")]


@people.get("/questions", openapi_extra=needs("read"))
def questions(visit: Visitor, every: All = False) -> tuple[QuestionRecord, ...]:
    """Questions that are open, oldest first; with `all`, those that were answered, too."""
    return asking.asked_questions(visit.book, answered=every)


@people.post("/questions/{question}/answer", openapi_extra=needs("build"))
async def answer(visit: Visitor, question: str, said: Said) -> QuestionRecord:
    """Answer a question; an empty text is its assumption. The first answer counts."""
    return await asking.answer(visit.book, question, said.text, visit.may)


@people.post("/budgets/{question}/answer", openapi_extra=needs("decide"))
async def permit(visit: Visitor, question: str, said: Said) -> QuestionRecord:
    """Let a run go on past a budget, or stop it there: the answer to its question."""
    return await asking.answer(visit.book, question, said.text, visit.may)


@people.get("/approvals", openapi_extra=needs("read"))
def requests(visit: Visitor, every: All = False) -> tuple[ApprovalRequest, ...]:
    """What waits for a person's word, oldest first; with `all`, what was decided, too."""
    return deciding.requests(visit.book, decided=every)


@people.get("/approvals/{request}", openapi_extra=needs("read"))
def one(visit: Visitor, request: str) -> ApprovalRequest:
    """One request with everything that is needed to decide about it."""
    known = deciding.requests(visit.book, decided=True)
    found = [each for each in known if each.id == request]
    if not found:
        raise Unknown(f"request {request!r} is not known; /api/v1/approvals?all=true lists them")
    return found[0]


@people.post("/approvals/{request}/approve", openapi_extra=needs("decide"))
async def approve(visit: Visitor, request: str, said: Said) -> ApprovalRequest:
    """Let an action be done."""
    return await deciding.decide(visit.book, request, "approve", note=said.text)


@people.post("/approvals/{request}/reject", openapi_extra=needs("decide"))
async def reject(visit: Visitor, request: str, said: Said) -> ApprovalRequest:
    """Refuse an action; everything stays as it is."""
    if not said.text.strip():
        raise ConfigError("a rejection needs a reason; say in `text` why not")
    return await deciding.decide(visit.book, request, "reject", note=said.text)


@people.post("/approvals/{request}/modify", openapi_extra=needs("decide"))
async def modify(visit: Visitor, request: str, wanted: Modified) -> ApprovalRequest:
    """Change the source or the terms of an action; it goes through all gates again."""
    files: dict[str, str] = {}
    if wanted.files:
        now = deciding.release_of(visit.book, deciding.request_named(visit.book, request))
        if now.deliverable is None:
            raise ConfigError(f"request {request} releases nothing: it has no files to modify")
        files = edited(now.deliverable, wanted.files)
    if not files and not wanted.terms:
        raise ConfigError("nothing is modified; give `files` that differ, or `terms`")
    terms = [f"{name}={value}" for name, value in wanted.terms.items()]
    return await deciding.decide(
        visit.book, request, "modify", note=wanted.note, files=files or None, terms=terms
    )


@people.get("/queue", openapi_extra=needs("read"))
def queue(visit: Visitor, every: All = False) -> tuple[Queued, ...]:
    """The execution queue in its order; with `all`, what is over, too."""
    return queued(visit.book, over=every)


@people.get("/overrides", openapi_extra=needs("read"))
def overrides(visit: Visitor) -> tuple[Override, ...]:
    """Every override there ever was, oldest first; one that is not `lifted` holds."""
    return overriding.overrides(visit.book)


@people.post("/overrides", openapi_extra=needs("override"))
async def override(visit: Visitor, wanted: NewOverride) -> Done:
    """Beat every automatic action at once; it holds until `release` lifts it."""
    lines = await overriding.override(visit.book, wanted.command, wanted.scope, wanted.reason)
    return Done(done=lines)
