"""A run stopped for good, whoever drives it."""

from contextlib import suppress

from twinsmith.adapters.lease import lease
from twinsmith.core.errors import ConfigError, EngineError, RunBusy
from twinsmith.core.progress import ENDED, Progress
from twinsmith.runs.book import Book


async def cancel(book: Book, run: str) -> Progress:
    """Stop a run for good and say where it stands then."""
    state = book.progress(run).state
    if state in ENDED:
        raise ConfigError(f"run {run} has ended already ({state}); there is nothing to cancel")
    await book.engine().cancel(run)
    await book.tell(run, "run.cancel_requested", {})
    try:
        with lease(book.folder(run), run):
            await end_cancelled(book, run)
    except RunBusy:
        await book.until_ended(run)
    return book.progress(run)


async def end_cancelled(book: Book, run: str) -> None:
    """Note that a person ended a run, and remove what it left where it was killed."""
    from twinsmith.adapters.outbox.folder import discard

    with suppress(EngineError):
        discard(run, book.job(run).out)
    await book.end(run, "cancelled", {"reason": "cancelled by a person"})
