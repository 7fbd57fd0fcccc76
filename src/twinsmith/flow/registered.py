"""A model whose versions are noted as replies tell them, and that is not asked once retired."""

import asyncio
from dataclasses import replace

from twinsmith.core.model import Prompt, Reply
from twinsmith.core.trying.versions import Version, retired_names
from twinsmith.ports import Clock, Model, Registry

FRESH_SECONDS = 5.0
"""What people retire holds everywhere after so long."""
NOTED_SECONDS = 600.0
"""The moment a version was last seen is off by so much at most."""


class RegisteredModel:
    """The models as the registry lets them be asked."""

    def __init__(self, model: Model, registry: Registry, clock: Clock) -> None:
        self._model = model
        self._registry = registry
        self._clock = clock
        self._never: tuple[str, ...] = ()
        self._until = float("-inf")
        self._noted: dict[tuple[str, str], float] = {}

    async def ask(self, prompt: Prompt) -> Reply:
        """One answer, of nothing that is retired; its version is kept."""
        if self._clock.seconds() >= self._until:
            known = await asyncio.to_thread(self._registry.listed, "model")
            self._never = retired_names(known)
            self._until = self._clock.seconds() + FRESH_SECONDS
        reply = await self._model.ask(replace(prompt, never=self._never))
        await self._note(reply)
        return reply

    async def _note(self, reply: Reply) -> None:
        key, now = (reply.model, reply.version), self._clock.seconds()
        if now - self._noted.get(key, float("-inf")) < NOTED_SECONDS:
            return
        self._noted[key] = now
        version = Version(kind="model", name=reply.model, version=reply.version)
        await asyncio.to_thread(self._registry.note, [version], self._clock.now())
