"""Steps with a time limit: the value that one gave, or that its seconds ran out.

Both are values, so that an engine remembers both: a run that goes on later takes the same way.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from twinsmith.ports import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed(Generic[T]):
    """The value of a step, None where its time ran out, and the seconds that the run is charged."""

    value: T | None
    seconds: float


async def timed(action: Callable[[], Awaitable[T]], *, most: float, clock: Clock) -> Timed[T]:
    """Do an action, and give it up after `most` seconds; what it raises is not caught."""
    began = clock.seconds()
    limit = asyncio.timeout(most)
    try:
        async with limit:
            value = await action()
    except TimeoutError:
        if not limit.expired():
            raise
        return Timed(value=None, seconds=most)
    return Timed(value=value, seconds=clock.seconds() - began)
