"""A run that workers drive, followed to its end from here."""

from pathlib import Path

from twinsmith.core.outcome import RunOutcome
from twinsmith.core.progress import Progress, unfinished
from twinsmith.core.progress import stands_still as stands
from twinsmith.runs.book import Book
from twinsmith.runs.ended import Outcome, outcome_in
from twinsmith.runs.fetch import fetch


def stands_still(book: Book, progress: Progress) -> bool:
    """Whether a run does not go on by itself: it has ended, is parked, or there is no worker."""
    return stands(progress, lambda: bool(book.workers(serving=True)))


async def outcome_of(book: Book, run: str) -> Outcome:
    """The outcome of a run that stands still, its result on this machine; an error says why not."""
    why_not = unfinished(book.progress(run))
    if why_not is not None:
        raise why_not
    outcome = outcome_in(book.given(run), await book.queue.result(run))
    if not isinstance(outcome, RunOutcome):
        return outcome
    if book.settings.values.database.url and not Path(outcome.out).exists():
        await fetch(book, run, Path(outcome.out))
    return outcome
