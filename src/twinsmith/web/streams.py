"""Journals followed for any number of listeners: each is read once, whoever listens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from twinsmith.core.errors import EngineError
from twinsmith.core.events import Entry, to_line
from twinsmith.runs.book import Book
from twinsmith.web.problems import Refused

LOOK_SECONDS = 0.3
QUIET_SECONDS = 15.0
MOST_STREAMS = 1000


@dataclass(frozen=True, slots=True)
class Line:
    """An entry of a journal as it is sent."""

    seq: int
    kind: str
    text: str


@dataclass(slots=True)
class _Chain:
    """One journal, all that was read of it, and who waits for more."""

    lines: list[Line] = field(default_factory=list)
    offset: int = 0
    listeners: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    read: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None


class Streams:
    """The journals that somebody follows just now."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._chains: dict[str, _Chain] = {}
        self._open = 0

    @property
    def count(self) -> int:
        """How many listen now."""
        return self._open

    def refuse_full(self) -> None:
        """Refuse one more where too many listen; said before an answer begins."""
        if self._open >= MOST_STREAMS:
            raise Refused(429, f"{MOST_STREAMS} streams are open; ask again later", wait=10)

    async def follow(self, chain: str, after: int) -> AsyncIterator[Line | None]:
        """The lines of a journal behind a number, as they come; None now and then where none do."""
        async with self._listening(chain) as known:
            await known.read.wait()
            place = next((n for n, line in enumerate(known.lines) if line.seq > after), None)
            at = len(known.lines) if place is None else place
            while True:
                for line in known.lines[at:]:
                    at += 1
                    yield line
                waiting = known.news
                if at < len(known.lines):
                    continue
                try:
                    async with asyncio.timeout(QUIET_SECONDS):
                        await waiting.wait()
                except TimeoutError:
                    yield None

    @asynccontextmanager
    async def _listening(self, chain: str) -> AsyncIterator[_Chain]:
        known = self._chains.setdefault(chain, _Chain())
        self._open += 1
        known.listeners += 1
        if known.task is None:
            known.task = asyncio.ensure_future(self._read(chain, known))
        try:
            yield known
        finally:
            self._open -= 1
            known.listeners -= 1
            if not known.listeners:
                del self._chains[chain]
                known.task.cancel()
                with suppress(asyncio.CancelledError):
                    await known.task

    async def _read(self, chain: str, known: _Chain) -> None:
        while True:
            with suppress(EngineError):
                found, known.offset = await asyncio.to_thread(
                    self._book.journal.entries_since, chain, known.offset
                )
                if found:
                    known.lines += map(_line, found)
                    known.news.set()
                    known.news = asyncio.Event()
                known.read.set()
            await asyncio.sleep(LOOK_SECONDS)


def _line(entry: Entry) -> Line:
    return Line(entry.seq, entry.event.kind, to_line(entry))
