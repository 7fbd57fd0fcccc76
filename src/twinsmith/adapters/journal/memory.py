"""A journal in a list, for tests and dry runs."""

from twinsmith.core.events import GENESIS, Entry, Event, seal
from twinsmith.ports import Clock


class MemoryJournal:
    """Keeps entries as long as the process lives."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._chains: dict[str, list[Entry]] = {}

    async def append(self, event: Event) -> None:
        """Keep an event."""
        chain = self._chains.setdefault(event.run, [])
        if event.key and any(entry.event.key == event.key for entry in chain):
            return
        prev = chain[-1].hash if chain else GENESIS
        chain.append(seal(event, seq=len(chain) + 1, at=self._clock.now(), prev=prev))

    def entries(self, run: str) -> list[Entry]:
        """All events of a run, in order."""
        return list(self._chains.get(run, []))
