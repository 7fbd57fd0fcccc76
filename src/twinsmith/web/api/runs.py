"""Runs over the API: submitted, listed, followed, stopped, fetched."""

import io
import json
import zipfile
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from twinsmith.client.shapes import Begun, Ending, Listed, NewRun, Said
from twinsmith.client.version_shapes import Again
from twinsmith.core.board import Board
from twinsmith.core.errors import Conflict, Forbidden, TwinsmithError
from twinsmith.core.operating.action import Action
from twinsmith.core.progress import ENDED, Progress, State, unfinished
from twinsmith.runs.accepting import resumed, submitted
from twinsmith.runs.again import job_like
from twinsmith.runs.cancel import cancel
from twinsmith.runs.ended import outcome_in
from twinsmith.runs.package import result_in
from twinsmith.runs.submit import submit as submit_job
from twinsmith.web.api.reading import Cursor, Most, page_of
from twinsmith.web.guard import API, Guarded, Visit, Visitor, needs
from twinsmith.web.office import Office, office_of
from twinsmith.web.problems import Refused
from twinsmith.web.welcome import as_long_as_welcome

runs = APIRouter(prefix=f"{API}/runs", tags=["runs"], route_class=Guarded)
EVENTS = "text/event-stream"


@runs.get("", openapi_extra=needs("read"))
def listed(
    request: Request,
    visit: Visitor,
    limit: Most = 50,
    cursor: Cursor = "",
    state: Annotated[State | None, Query()] = None,
    q: Annotated[str, Query(max_length=200)] = "",
) -> Listed[Progress]:
    """Runs, newest first; `q` are words of their tasks."""
    glance, names = office_of(request).glance, sorted(visit.book.journal.runs(), reverse=True)
    if state is None and not q:
        names, following = page_of(names, cursor, limit, str)
        return Listed(items=tuple(glance.progresses(names)), next=following)
    known = glance.progresses(names)
    fitting = [
        each
        for each in known
        if state in (None, each.state) and q.casefold() in each.task.casefold()
    ]
    shown, following = page_of(fitting, cursor, limit, lambda each: each.run)
    return Listed(items=tuple(shown), next=following)


@runs.post("", status_code=202, openapi_extra=needs("build"))
async def submit(wanted: NewRun, visit: Visitor, response: Response) -> Begun:
    """Leave a task to the workers."""
    run = await submitted(visit.book, wanted)
    response.headers["location"] = f"/api/v1/runs/{run}"
    return _begun(visit, run)


@runs.post("/{run}/again", status_code=202, openapi_extra=needs("build"))
async def again(visit: Visitor, run: str, wanted: Again, response: Response) -> Begun:
    """Build a run again with the versions of then: the same task, seed, models, templates."""
    job = job_like(visit.book, visit.book.find(run), near=wanted.near, out=None)
    name = await submit_job(visit.book, job, attended=True)
    response.headers["location"] = f"/api/v1/runs/{name}"
    return _begun(visit, name)


@runs.get("/{run}", openapi_extra=needs("read"))
def one(request: Request, visit: Visitor, run: str) -> Progress:
    """How far a run has come."""
    return office_of(request).glance.progress(visit.book.find(run))


@runs.get("/{run}/board", openapi_extra=needs("read"))
def board(request: Request, visit: Visitor, run: str) -> Board:
    """What lies on the table of a run: requirements, candidates, checks, results."""
    return office_of(request).glance.board(visit.book.find(run))


@runs.get("/{run}/outcome", openapi_extra=needs("read"))
async def outcome(visit: Visitor, run: str) -> Ending:
    """How a run ended; a conflict while it goes on, and where it was stopped."""
    book = visit.book
    name = book.find(run)
    progress = book.progress(name)
    if progress.state not in ENDED:
        raise Conflict(f"run {name} is not over; its outcome is there when it is")
    why_not = unfinished(progress)
    if why_not is not None:
        raise why_not
    known = (await book.queue.engaged([name])).get(name)
    if known is None:
        raise Conflict(f"run {name} has no outcome here; see: twinsmith status {name}")
    if not known.over:
        # Whoever asks the engine now waits with a thread of this server.
        raise Refused(409, f"the outcome of run {name} is not written yet; ask again", wait=1)
    return Ending(outcome=outcome_in(book.given(name), await book.queue.result(name)))


@runs.post("/{run}/cancel", openapi_extra=needs("build"))
async def stop(visit: Visitor, run: str, said: Said | None = None) -> Progress:
    """Stop a run for good; `text` says why, and is kept with it."""
    return await stopped(visit, visit.book.find(run), said.text if said else "")


@runs.post("/{run}/resume", status_code=202, openapi_extra=needs("build"))
async def resume(visit: Visitor, run: str) -> Begun:
    """Let workers go on with a run that stands still."""
    name = visit.book.find(run)
    await resumed(visit.book, name)
    return _begun(visit, name)


@runs.get("/{run}/program", openapi_extra=needs("read"), response_class=Response)
def program(visit: Visitor, run: str) -> Response:
    """The result of a run as a ZIP file."""
    name = visit.book.find(run)
    if visit.book.progress(name).state not in ENDED:
        raise Conflict(f"run {name} is not over; its program is there when it is")
    files, _ = result_in(visit.book, name)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(files.items()):
            archive.writestr(f"{name}/{path}", text)
    headers = {"content-disposition": f'attachment; filename="{name}.zip"'}
    return Response(held.getvalue(), media_type="application/zip", headers=headers)


@runs.get("/{run}/events", openapi_extra=needs("read"), response_class=StreamingResponse)
async def events(
    request: Request,
    visit: Visitor,
    run: str,
    last_event_id: Annotated[int, Header(ge=0)] = 0,
    after: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """The events of a run as they happen; with Last-Event-ID, those behind it first."""
    office, name, seen = office_of(request), visit.book.find(run), max(last_event_id, after)
    over = office.glance.progress(name).state in ENDED
    if over and seen and seen >= visit.book.journal.anchor(name).lines:
        # A browser asks again and again until it is told that there is no more.
        return Response(status_code=204)
    office.streams.refuse_full()
    lines = as_long_as_welcome(office.identity, visit.person, _told(office, name, seen))
    return StreamingResponse(lines, media_type=EVENTS)


async def _told(office: Office, run: str, after: int) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    async for line in office.streams.follow(run, after):
        if line is None:
            yield ": still here\n\n"
            continue
        yield f"id: {line.seq}\nevent: entry\ndata: {line.text}\n\n"
        if line.kind == "run.ended":
            yield f"event: end\ndata: {json.dumps({'run': run})}\n\n"
            return


async def stopped(visit: Visit, run: str, why: str) -> Progress:
    """Stop a run for good; what is done with an app is stopped by whoever may do such things."""
    given = None
    with suppress(TwinsmithError):
        given = visit.book.given(run)
    if isinstance(given, Action) and given.kind != "deploy" and not visit.may("operate"):
        raise Forbidden(
            f"run {run} is a {given.kind} of {given.app}: to stop it takes the permission operate"
        )
    return await cancel(visit.book, run, why)


def _begun(visit: Visitor, run: str) -> Begun:
    book = visit.book
    workers = len(book.workers(serving=True))
    return Begun(run=run, state=book.progress(run).state, workers=workers)
