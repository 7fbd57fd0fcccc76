"""What every page tells: what waits for people, what is held, how much is going on."""

from dataclasses import dataclass

from twinsmith.core.people.override import ALL, Override, holding
from twinsmith.runs.approvals import requests
from twinsmith.runs.book import Book
from twinsmith.runs.health import listed_incidents
from twinsmith.runs.override import overrides
from twinsmith.runs.questions import asked_questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Counts for the rail, and whether everything is paused."""

    approvals: int
    questions: int
    incidents: int
    running: int
    queued: int
    workers: int
    paused: Override | None


def frame_of(book: Book) -> Frame:
    """How everything stands, in a few numbers."""
    driving = book.driving.listed()
    held = [each for each in overrides(book) if each.scope == ALL]
    return Frame(
        approvals=len(requests(book)),
        questions=len(asked_questions(book)),
        incidents=len(listed_incidents(book)),
        running=sum(each.state == "driven" for each in driving),
        queued=sum(each.state == "queued" for each in driving),
        workers=len(book.workers(serving=True)),
        paused=holding(held, ALL),
    )
