"""A run stopped for good, whoever drives it."""

from contextlib import suppress

from twinsmith.core.errors import ConfigError, Conflict, EngineError, HostError
from twinsmith.core.operating.action import Action
from twinsmith.core.progress import ENDED, Progress
from twinsmith.runs.book import Book
from twinsmith.runs.standing import settle_cancelled

REQUESTED = "run.cancel_requested"
PATIENCE_SECONDS = 10.0
"""Whoever drives a run looks once a second whether it is to stop."""


async def cancel(book: Book, run: str, why: str = "") -> Progress:
    """Stop a run for good and say where it stands then; the reason is kept with it.

    A worker that does not let go in time is shut out: it finds that the run is not its any more.
    """
    state = book.progress(run).state
    if state in ENDED:
        raise Conflict(f"run {run} has ended already ({state}); there is nothing to cancel")
    said = book.settings.masking.text(" ".join(why.split()))
    # Told first: whoever drives it ends it at once, with these words.
    await book.tell(run, REQUESTED, {"reason": said})
    await book.queue.cancel(run)
    await book.until_left(run, PATIENCE_SECONDS)
    if book.progress(run).state not in ENDED:
        book.driving.seize(run, "ended")
        await end_cancelled(book, run)
    return book.progress(run)


async def end_cancelled(book: Book, run: str) -> None:
    """Note that a person ended a run, and remove what it left where it was killed."""
    from twinsmith.adapters.outbox.folder import discard

    reason = _asked_for(book, run)
    with suppress(EngineError):
        given = book.given(run)
        try:
            if isinstance(given, Action):
                await settle_cancelled(book, given)
            else:
                discard(run, given.out)
        except (ConfigError, HostError) as error:
            # The run is over all the same, whatever the app stands like.
            reason = f"{reason}; {error}"
    await book.end(run, "cancelled", {"reason": reason})


def _asked_for(book: Book, run: str) -> str:
    """Who stopped a run, and why, as far as they said."""
    told = [each.event for each in book.journal.entries(run) if each.event.kind == REQUESTED]
    if not told:
        return "cancelled by a person"
    why = str(told[-1].data.get("reason", ""))
    by = told[-1].who.removeprefix("user:")
    return f"cancelled by {by}: {why}" if why else f"cancelled by {by}"
