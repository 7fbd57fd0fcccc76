"""A run that workers drive, shown here to its end; whoever sits here answers its questions."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol

from twinsmith.cli import exits
from twinsmith.cli.remote import command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from twinsmith.core.events import Entry
    from twinsmith.core.people.question import QuestionRecord
    from twinsmith.core.progress import Progress
    from twinsmith.runs.book import Book
    from twinsmith.runs.ended import Outcome
    from twinsmith.settings import Settings

LOOK_SECONDS = 0.5
POLL_SECONDS = 0.1


class Followed(Protocol):
    """A run that workers drive, on this machine or behind a server."""

    run: str
    pause: float
    """Seconds between two looks at it."""
    goes_on: bool
    """Whether it goes on by itself, as it was seen last."""

    async def look(self) -> "tuple[Progress, bool]":
        """How far it has come, and whether it stands still."""

    def events(self) -> "Iterator[Entry]":
        """Its events as they come, until it stands still."""

    async def questions(self) -> "Sequence[QuestionRecord]":
        """Everything that is asked just now, by whatever run."""

    async def answer(self, question: str, text: str) -> None:
        """Answer a question; ConfigError where somebody else was faster."""

    async def outcome(self) -> "Outcome":
        """Its outcome, with its result on this machine; an error says why there is none."""


class Here:
    """A run of this machine's book."""

    pause = POLL_SECONDS

    def __init__(self, book: "Book", run: str) -> None:
        self.run = run
        self.goes_on = False
        self._book = book

    async def look(self) -> "tuple[Progress, bool]":
        """How far it has come, and whether it stands still."""
        from twinsmith.runs.follow import stands_still

        # In this order: what came before it stood still is seen.
        last = stands_still(self._book, self._book.progress(self.run))
        return self._book.progress(self.run), last

    def events(self) -> "Iterator[Entry]":
        """Its events as they come, until it stands still."""
        import time

        from twinsmith.runs.follow import stands_still

        offset, last = 0, False
        while not last:
            last = stands_still(self._book, self._book.progress(self.run))
            entries, offset = self._book.journal.entries_since(self.run, offset)
            yield from entries
            if not last:
                time.sleep(self.pause)

    async def questions(self) -> "Sequence[QuestionRecord]":
        """Everything that is asked just now, by whatever run."""
        from twinsmith.runs.questions import asked_questions

        return asked_questions(self._book)

    async def answer(self, question: str, text: str) -> None:
        """Answer a question; ConfigError where somebody else was faster."""
        from twinsmith.runs.questions import answer

        await answer(self._book, question, text)

    async def outcome(self) -> "Outcome":
        """Its outcome, with its result on this machine; an error says why there is none."""
        from twinsmith.runs.follow import outcome_of

        return await outcome_of(self._book, self.run)


class _Asking:
    """Room on the screen for whoever is asked here; what arrives is not known from afar."""

    def __init__(self) -> None:
        self.aside: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def arriving(self) -> Mapping[str, int]:
        return {}


def somebody_sits_here(settings: "Settings", *, as_json: bool) -> bool:
    """Whether a person can be asked at this terminal."""
    import sys

    seconds = settings.values.build.answer_seconds
    return not as_json and seconds > 0 and sys.stdin.isatty() and sys.stderr.isatty()


def follow_to_the_end(followed: Followed, settings: "Settings", *, as_json: bool) -> "Outcome":
    """Show a run until it stands still; its outcome, or the command ends and says why not."""
    import asyncio

    from twinsmith.core.errors import EngineError, Waiting

    run = followed.run
    try:
        asyncio.run(_shown(followed, settings, as_json=as_json))
        return asyncio.run(followed.outcome())
    except KeyboardInterrupt:
        exits.fail(
            f"run {run} goes on; follow it with: {command()} watch {run}",
            exits.INTERRUPTED,
            as_json=as_json,
        )
    except (EngineError, Waiting) as error:
        then = "watch" if followed.goes_on else "resume"
        exits.fail(
            f"{error}; then: {command()} {then} {run}", exits.code_of(error), as_json=as_json
        )


async def _shown(followed: Followed, settings: "Settings", *, as_json: bool) -> None:
    import asyncio

    from twinsmith.cli.live import follow, show

    beside, asking = _Asking(), None
    if somebody_sits_here(settings, as_json=as_json):
        asking = asyncio.ensure_future(_asked(followed, beside, settings))
    try:
        if not as_json:
            await show(followed.run, followed.look, beside, pause=followed.pause)
            return
        async for progress in follow(followed.look, followed.pause):
            del progress  # only the end is told
    finally:
        if asking is not None:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)


async def _asked(followed: Followed, beside: _Asking, settings: "Settings") -> None:
    """Ask the person at this terminal what the run wants to know, again and again."""
    import asyncio
    from contextlib import suppress

    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.desk.terminal import Terminal
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.progress import elapsed

    while True:
        for record in await followed.questions():
            if record.question.run == followed.run:
                terminal = Terminal(aside=beside.aside, masking=settings.masking)
                left = elapsed(SystemClock().now(), record.until)
                said = await terminal.ask(record.question, left)
                with suppress(ConfigError):  # somebody else was faster
                    await followed.answer(record.question.id, said)
        await asyncio.sleep(LOOK_SECONDS)
