"""Steps with a time limit: the value that one gave, or why a budget left it without one.

Both are values, so that an engine remembers both: a run that goes on later takes the same way.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from twinsmith.core.errors import BudgetExceeded
from twinsmith.ports import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed(Generic[T]):
    """The value of a step, None where its budget ran out, and the seconds the run is charged."""

    value: T | None
    seconds: float
    why: str = ""
    """Why there is no value; empty where its time ran out."""


async def timed(action: Callable[[], Awaitable[T]], *, most: float, clock: Clock) -> Timed[T]:
    """Do an action, and give it up after `most` seconds; only BudgetExceeded is caught."""
    began = clock.seconds()
    limit = asyncio.timeout(most)
    try:
        async with limit:
            value = await action()
    except TimeoutError:
        if not limit.expired():
            raise
        return Timed(value=None, seconds=most)
    except BudgetExceeded as error:
        return Timed(value=None, seconds=clock.seconds() - began, why=str(error))
    return Timed(value=value, seconds=clock.seconds() - began)
