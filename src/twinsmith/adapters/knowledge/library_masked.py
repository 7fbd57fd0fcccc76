"""A library that no secret of a run reaches: it is masked before it is kept."""

from dataclasses import replace

from twinsmith.core.knowing.knowledge import Built, Channel, Hit
from twinsmith.core.masking import Masking
from twinsmith.ports import Retriever


class MaskedLibrary:
    """Another retriever, behind a mask."""

    def __init__(self, library: Retriever, masking: Masking) -> None:
        self._library = library
        self._masking = masking

    async def search(
        self, query: str, k: int, language: str = "", channel: Channel | None = None
    ) -> tuple[Hit, ...]:
        """What the other one finds."""
        return await self._library.search(query, k, language, channel)

    async def keep(self, made: Built) -> str:
        """Keep a program without secrets, neither in it nor in what was asked for."""
        task, source = self._masking.text(made.task), self._masking.code(made.source)
        return await self._library.keep(replace(made, task=task, source=source))
