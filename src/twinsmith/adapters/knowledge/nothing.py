"""A retriever that knows nothing, for where there is no library."""

from twinsmith.core.knowledge import Hit


class NothingKnown:
    """Finds nothing, whatever is asked."""

    async def search(self, query: str, k: int, language: str = "") -> tuple[Hit, ...]:  # noqa: ARG002
        """Nothing."""
        return ()
