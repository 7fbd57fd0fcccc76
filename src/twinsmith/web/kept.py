"""What takes long to find out is asked for now and then, however many people look at it."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar, cast

T = TypeVar("T")
MOST_KEPT = 100


@dataclass(slots=True)
class _Value:
    value: object = None
    at: float = float("-inf")
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Kept:
    """Answers to questions, for some seconds each; another server finds them out by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[Hashable, _Value] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[T]], seconds: float) -> T:
        """The answer to a question, no older than some seconds; who fails is asked anew."""
        known = self._known.pop(key, None) or _Value()
        self._known[key] = known
        if len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        async with known.lock:
            if self._clock() - known.at > seconds:
                known.value = await make()
                known.at = self._clock()
            return cast("T", known.value)

    def forget(self) -> None:
        """Ask for everything anew: somebody has changed it."""
        self._known.clear()
