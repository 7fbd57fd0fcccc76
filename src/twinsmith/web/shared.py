"""What several people look at is made once a second for all of them, and only while they look."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from twinsmith.core.errors import TwinsmithError
from twinsmith.web.problems import Refused

LOOK_SECONDS = 1.0
QUIET_SECONDS = 15.0
MOST_WATCHERS = 1000
Parts = dict[str, str]


@dataclass(slots=True)
class _Look:
    """Something that is looked at: how it stood last, and who waits for the next time."""

    parts: Parts | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    watchers: int = 0
    task: "asyncio.Task[None] | None" = None


class Shared:
    """Everything that somebody looks at just now."""

    def __init__(self) -> None:
        self._looks: dict[Hashable, _Look] = {}

    def refuse_full(self) -> None:
        """Refuse one more where too many look on; said before an answer begins."""
        if sum(each.watchers for each in self._looks.values()) >= MOST_WATCHERS:
            told = f"{MOST_WATCHERS} live pages are open; this one is as it was when it was loaded"
            raise Refused(429, told, wait=10)

    @asynccontextmanager
    async def looking(
        self, key: Hashable, make: Callable[[], Awaitable[Parts]]
    ) -> AsyncIterator[AsyncIterator[Parts]]:
        """How something stands now, and again whenever it changed, or now and then."""
        look = self._looks.setdefault(key, _Look())
        look.watchers += 1
        if look.task is None:
            look.task = asyncio.ensure_future(_made(look, make))
        try:
            yield _seen(look)
        finally:
            look.watchers -= 1
            if not look.watchers:
                self._looks.pop(key, None)
                look.task.cancel()
                with suppress(asyncio.CancelledError):
                    await look.task


async def _seen(look: _Look) -> AsyncIterator[Parts]:
    while True:
        waiting = look.news
        if look.parts is not None:
            yield look.parts
        if waiting.is_set():
            continue
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET_SECONDS):
                await waiting.wait()


async def _made(look: _Look, make: Callable[[], Awaitable[Parts]]) -> None:
    while True:
        began = time.monotonic()
        # What cannot be shown now is shown when it can be.
        with suppress(TwinsmithError):
            parts = await make()
            if parts != look.parts:
                look.parts = parts
                told, look.news = look.news, asyncio.Event()
                told.set()
        # Whatever takes long is looked at less often.
        await asyncio.sleep(max(LOOK_SECONDS, 4 * (time.monotonic() - began)))
