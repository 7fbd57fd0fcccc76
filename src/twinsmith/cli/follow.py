"""A run that workers drive, shown here to its end; whoever sits here answers its questions."""

from typing import TYPE_CHECKING

from twinsmith.cli import exits

if TYPE_CHECKING:
    from twinsmith.runs.book import Book
    from twinsmith.runs.drive import Driver
    from twinsmith.runs.ended import Outcome
    from twinsmith.settings import Settings

LOOK_SECONDS = 0.5


def somebody_sits_here(settings: "Settings", *, as_json: bool) -> bool:
    """Whether a person can be asked at this terminal."""
    import sys

    seconds = settings.values.build.answer_seconds
    return not as_json and seconds > 0 and sys.stdin.isatty() and sys.stderr.isatty()


def follow_to_the_end(book: "Book", run: str, *, as_json: bool) -> "Outcome":
    """Show a run until it stands still; its outcome, or the command ends and says why not."""
    import asyncio

    from twinsmith.core.errors import EngineError, Waiting
    from twinsmith.runs.follow import outcome_of

    try:
        asyncio.run(_followed(book, run, as_json=as_json))
        return asyncio.run(outcome_of(book, run))
    except KeyboardInterrupt:
        exits.fail(
            f"run {run} goes on; follow it with: twinsmith watch {run}",
            exits.INTERRUPTED,
            as_json=as_json,
        )
    except (EngineError, Waiting) as error:
        exits.fail(f"{error}; then: twinsmith resume {run}", exits.code_of(error), as_json=as_json)


async def _followed(book: "Book", run: str, *, as_json: bool) -> None:
    import asyncio

    from twinsmith.cli.live import follow, show
    from twinsmith.runs.drive import Driver
    from twinsmith.runs.follow import stands_still

    driver = Driver(book)
    asking = None
    if somebody_sits_here(book.settings, as_json=as_json):
        asking = asyncio.ensure_future(_asked(driver, run))
    try:
        if not as_json:
            await show(book, run, lambda: stands_still(book, book.progress(run)), driver)
            return
        async for progress in follow(book, run, lambda: stands_still(book, book.progress(run))):
            del progress  # only the end is told
    finally:
        if asking is not None:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)


async def _asked(driver: "Driver", run: str) -> None:
    """Ask the person at this terminal what the run wants to know, again and again."""
    import asyncio
    from contextlib import suppress

    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.desk.terminal import Terminal
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.progress import elapsed
    from twinsmith.runs.questions import answer, asked_questions

    book = driver.book
    while True:
        for record in asked_questions(book):
            if record.question.run == run:
                terminal = Terminal(aside=driver.aside, masking=book.settings.masking)
                left = elapsed(SystemClock().now(), record.until)
                said = await terminal.ask(record.question, left)
                with suppress(ConfigError):  # somebody else was faster
                    await answer(book, record.question.id, said)
        await asyncio.sleep(LOOK_SECONDS)
