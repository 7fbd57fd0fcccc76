"""A model whose role has a challenger: a share of the calls goes to that one first."""

import asyncio

from twinsmith.core.model import Prompt, Reply
from twinsmith.core.trying.challenger import Challenge, challenged
from twinsmith.ports import Challengers, Clock, Model

FRESH_SECONDS = 5.0
"""A challenge that begins, or is over, is so everywhere after so long."""


class ChallengedModel:
    """The models, with challengers that get their shares of calls; the champion stands behind."""

    def __init__(self, model: Model, challengers: Challengers, clock: Clock) -> None:
        self._model = model
        self._challengers = challengers
        self._clock = clock
        self._running: tuple[Challenge, ...] = ()
        self._until = float("-inf")

    async def ask(self, prompt: Prompt) -> Reply:
        """One answer: of a challenger where the call is its own and it can answer."""
        if self._clock.seconds() >= self._until:
            self._running = await asyncio.to_thread(self._challengers.running)
            self._until = self._clock.seconds() + FRESH_SECONDS
        return await self._model.ask(challenged(prompt, self._running))
