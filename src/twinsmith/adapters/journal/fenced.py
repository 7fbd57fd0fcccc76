"""A journal that a late worker cannot write to."""

from collections.abc import Callable

from twinsmith.core.events import Event
from twinsmith.ports import Journal


class FencedJournal:
    """Keeps events as long as `check` lets it: it raises RunLost where the run is another's."""

    def __init__(self, journal: Journal, check: Callable[[], None]) -> None:
        self._journal = journal
        self._check = check

    async def append(self, event: Event) -> None:
        """Keep an event of a run that is held here."""
        self._check()
        await self._journal.append(event)
