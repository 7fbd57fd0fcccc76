"""Streams end when whoever listens is signed out, shut out, or may less than before."""

import asyncio
import time
from collections.abc import AsyncIterator

from twinsmith.core.people.account import Person
from twinsmith.ports import Identity

LOOK_SECONDS = 10.0
OVER = "event: over\ndata: signed out\n\n"
"""What the last line of such a stream says: nobody needs to come again."""


async def as_long_as_welcome(
    identity: Identity, person: Person, lines: AsyncIterator[str]
) -> AsyncIterator[str]:
    """The lines of a stream for as long as somebody may still do what they could at its start."""
    looked = time.monotonic()
    async for line in lines:
        if time.monotonic() - looked > LOOK_SECONDS:
            if not await asyncio.to_thread(identity.still, person):
                yield OVER
                return
            looked = time.monotonic()
        yield line
