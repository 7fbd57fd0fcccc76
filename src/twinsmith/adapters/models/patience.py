"""Patience with endpoints: when to try again, when to leave one alone, how fast to ask."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from twinsmith.ports import Clock

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
FAILURES_TO_OPEN = 5
OPEN_SECONDS = 30.0


def wait_before(attempt: int, retry_after: float | None, chance: random.Random) -> float | None:
    """Seconds to wait before a retry: exponential with jitter, never less than the server asked.

    None when the server asks for more patience than we have: another model is faster.
    """
    if retry_after is not None and retry_after > LONGEST_WAIT:
        return None
    backoff = min(FIRST_WAIT * 2**attempt, LONGEST_WAIT)
    return max(retry_after or 0.0, chance.uniform(backoff / 2, backoff))


@dataclass(slots=True)
class Breaker:
    """Leaves an endpoint alone after several failures in a row, then lets one question try it."""

    failures: int = 0
    open_until: float = 0.0

    def closed(self, now: float) -> bool:
        """Whether a question may be asked now."""
        if now < self.open_until:
            return False
        if self.failures >= FAILURES_TO_OPEN:
            # Half open: this question tries, the others wait for what it finds.
            self.open_until = now + OPEN_SECONDS
        return True

    def succeeded(self) -> None:
        """Forget the failures: the endpoint has answered."""
        self.failures, self.open_until = 0, 0.0

    def failed(self, now: float) -> None:
        """Count one more failure of the endpoint."""
        self.failures += 1
        if self.failures >= FAILURES_TO_OPEN:
            self.open_until = now + OPEN_SECONDS


class Pace:
    """Lets at most so many questions through at a time, and so many a minute (0: any number)."""

    def __init__(self, *, at_once: int, per_minute: int, clock: Clock) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._clock = clock
        self._next = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it."""
        async with self._slots:
            if self._gap:
                now = self._clock.seconds()
                mine = max(self._next, now)
                self._next = mine + self._gap
                await self._clock.sleep(mine - now)
            yield
