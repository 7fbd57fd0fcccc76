"""A retriever that knows nothing, for where there is no library."""

from twinsmith.core.knowing.knowledge import Built, Channel, Hit


class NothingKnown:
    """Finds nothing, whatever is asked, and keeps nothing."""

    async def search(
        self,
        query: str,  # noqa: ARG002
        k: int,  # noqa: ARG002
        language: str = "",  # noqa: ARG002
        channel: Channel | None = None,  # noqa: ARG002
    ) -> tuple[Hit, ...]:
        """Nothing."""
        return ()

    async def keep(self, made: Built) -> str:  # noqa: ARG002
        """Nothing is kept."""
        return "not kept: there is no library"
