"""A run that workers drive, followed to its end from here."""

from pathlib import Path

from twinsmith.core.errors import EngineError, Waiting
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.progress import ENDED, Progress
from twinsmith.runs.book import Book
from twinsmith.runs.ended import Outcome, outcome_in
from twinsmith.runs.fetch import fetch


def stands_still(book: Book, progress: Progress) -> bool:
    """Whether a run does not go on by itself: it has ended, is parked, or there is no worker."""
    if progress.state in (*ENDED, "parked"):
        return True
    return progress.state != "running" and not book.workers(serving=True)


async def outcome_of(book: Book, run: str) -> Outcome:
    """The outcome of a run that stands still, its result on this machine; an error says why not."""
    progress = book.progress(run)
    match progress.state:
        case "parked" | "waiting":
            raise (Waiting if progress.state == "waiting" else EngineError)(progress.reason)
        case "queued" | "interrupted":
            raise EngineError(f"run {run} is {progress.state} and no worker is left")
    outcome = outcome_in(book.given(run), await book.queue.result(run))
    if not isinstance(outcome, RunOutcome):
        return outcome
    if book.settings.values.database.url and not Path(outcome.out).exists():
        await fetch(book, run, Path(outcome.out))
    return outcome
