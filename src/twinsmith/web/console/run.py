"""The page of one run: what is asked, both ensembles side by side, what they came to, and why."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import APIRouter

from twinsmith.core.board import Board
from twinsmith.core.board_items import Contender
from twinsmith.core.errors import TwinsmithError
from twinsmith.core.people.question import QuestionRecord
from twinsmith.core.progress import ENDED, Progress
from twinsmith.core.run_record import Given
from twinsmith.core.task import Job
from twinsmith.runs.questions import asked_questions
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

run = APIRouter(route_class=Guarded, include_in_schema=False)
SIGNS: Mapping[str, tuple[str, str]] = {
    "passed": ("■", "passed"),
    "failed": ("□", "failed"),
    "": ("·", "none"),
}
OTHER = ("▲", "other")
"""A program that broke: it raised, ran out of time or memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeen:
    """A run with everything that its page shows."""

    progress: Progress
    board: Board
    given: Given | None
    questions: tuple[QuestionRecord, ...]
    usd: float
    unpriced: int
    journal: int
    """How many lines its journal has."""


async def one(view: View) -> Page:
    """One run as it goes."""
    seen = await asyncio.to_thread(_seen, view)
    progress, board = seen.progress, seen.board
    shown = chosen(board, view.asked("candidate"))
    against = chosen(board, view.asked("against")) if view.asked("against") else None
    parts = {
        "summary": part("run_summary", view=view, seen=seen, ended=progress.state in ENDED),
        "asks": part("run_questions", view=view, seen=seen),
        "requirements": part("run_requirements", board=board),
        "ensembles": part("run_ensembles", progress=progress, board=board),
        "crossings": part("run_crossings", board=board),
        "heat": part("run_heat", view=view, board=board, shown=shown, sign=sign),
        "candidate": part(
            "run_candidate",
            view=view,
            board=board,
            shown=shown,
            against=against,
            diff=board.diff(against.number, shown.number) if shown and against else "",
        ),
        "stages": part("run_stages", progress=progress),
    }
    return Page(
        title=f"Run {progress.run.rpartition('-')[2]}",
        section="Runs",
        parts=parts,
        data={"progress": progress, "board": board, "questions": seen.questions},
        live=progress.state not in ENDED,
        crumbs=(("Runs", "/runs"),),
    )


page_route(run, "/runs/{run}", "read", one)


def chosen(board: Board, wanted: str) -> Contender | None:
    """The candidate that somebody wants to see; else the one that leads, else the last."""
    if wanted.isdecimal() and len(wanted) < 6:
        found = board.candidate(int(wanted))
        if found is not None:
            return found
    leader = board.candidate(board.leader) if board.leader is not None else None
    return leader or (board.candidates[-1] if board.candidates else None)


def sign(outcome: str) -> tuple[str, str]:
    """An outcome as a shape and a kind."""
    return SIGNS.get(outcome, OTHER)


def _seen(view: View) -> RunSeen:
    book, office = view.visit.book, view.office
    name = book.find(view.names["run"])
    try:
        given: Given | None = book.given(name)
    except TwinsmithError:
        given = None
    spent = office.costs.of(name)
    questions = tuple(each for each in asked_questions(book) if each.question.run == name)
    return RunSeen(
        progress=office.glance.progress(name),
        board=office.glance.board(name),
        given=given if isinstance(given, Job) else None,
        questions=questions,
        usd=spent.usd,
        unpriced=spent.unpriced,
        journal=book.journal.anchor(name).lines,
    )
