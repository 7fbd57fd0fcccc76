"""The pages of runs: the list, one run as it goes, a new one; and what is done with them."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from twinsmith.core.errors import ConfigError
from twinsmith.core.progress import Progress
from twinsmith.runs.accepting import resumed
from twinsmith.runs.questions import answer
from twinsmith.web.api.reading import page_of
from twinsmith.web.api.runs import stopped
from twinsmith.web.console.deeds import told
from twinsmith.web.guard import Guarded, Visit, Visitor, needs
from twinsmith.web.pages import Page, View, page_route, part

runs = APIRouter(route_class=Guarded, include_in_schema=False)
MOST = 50
STATES = ("running", "queued", "waiting", "parked", "solved", "not solved", "done", "cancelled")


async def listed(view: View) -> Page:
    """All runs, newest first, by state and words."""
    state, words = view.asked("state"), view.asked("q").casefold()
    names = sorted(view.visit.book.journal.runs(), reverse=True)
    if not state and not words:
        names, following = page_of(names, view.asked("cursor"), MOST, str)
        found = await asyncio.to_thread(view.office.glance.progresses, names)
    else:
        known = await asyncio.to_thread(view.office.glance.progresses, names)
        fitting = [
            each for each in known if state in ("", each.state) and words in each.task.casefold()
        ]
        found, following = page_of(fitting, view.asked("cursor"), MOST, _name)
    return Page(
        title="Runs",
        section="Runs",
        parts={
            "filters": part("runs_filters", view=view, states=STATES, state=state),
            "runs": part("runs", view=view, runs=found, following=following),
        },
        data={"items": found, "next": following},
    )


page_route(runs, "/runs", "read", listed)


@runs.post("/runs/{run}/cancel", openapi_extra=needs("build"))
async def stop(
    request: Request,
    visit: Visitor,
    run: str,
    reason: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Stop a run for good; why is kept with it."""
    name = visit.book.find(run)

    async def work() -> str:
        if not reason.strip():
            raise ConfigError(f"to stop run {name} needs a reason; say why in the form")
        return f"run {name} is {(await stopped(visit, name, reason)).state}"

    return await told(request, visit, work())


@runs.post("/runs/{run}/resume", openapi_extra=needs("build"))
async def resume(request: Request, visit: Visitor, run: str) -> Response:
    """Let workers go on with a run."""
    name = visit.book.find(run)

    async def work() -> str:
        await resumed(visit.book, name)
        return f"run {name} is queued: a worker goes on with it"

    return await told(request, visit, work())


@runs.post("/questions/{question}/answer", openapi_extra=needs("build"))
async def answered(
    request: Request,
    visit: Visitor,
    question: str,
    text: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Answer a question of a run."""
    return await told(request, visit, _answered(visit, question, text))


@runs.post("/budgets/{question}/answer", openapi_extra=needs("decide"))
async def permitted(
    request: Request,
    visit: Visitor,
    question: str,
    text: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Let a run go on past a budget, or stop it there."""
    return await told(request, visit, _answered(visit, question, text))


async def _answered(visit: Visit, question: str, text: str) -> str:
    record = await answer(visit.book, question, text, visit.may)
    return f"answered: {record.answer.text if record.answer else ''}"


def _name(progress: Progress) -> str:
    return progress.run
