"""Readings in memory, for tests."""

from collections.abc import Sequence

from twinsmith.core.operating.reading import Reading
from twinsmith.core.operating.thinning import HOUR, Keeping, thinned, thinnings


class MemoryReadings:
    """Readings by the step at which they are kept, in seconds."""

    def __init__(self, keeping: Keeping | None = None) -> None:
        self._keeping = keeping or Keeping()
        self.kept: dict[int, list[Reading]] = {}

    def add(self, readings: Sequence[Reading]) -> None:
        """Keep readings."""
        self.kept.setdefault(0, []).extend(readings)

    def listed(self, app: str, since: float, until: float) -> tuple[Reading, ...]:
        """The readings of an app in a span, oldest first."""
        found = [each for some in self.kept.values() for each in some if each.app == app]
        return tuple(
            sorted((each for each in found if since <= each.at <= until), key=lambda each: each.at)
        )

    def thin(self, now: float) -> None:
        """Downsample what is old enough, and forget what is too old."""
        for each in thinnings(self._keeping, now):
            some = self.kept.get(each.before, [])
            old = [reading for reading in some if reading.at < each.until]
            self.kept[each.before] = [reading for reading in some if reading.at >= each.until]
            self.kept.setdefault(each.after, []).extend(thinned(old, each.after))
        oldest = now - self._keeping.each_hour
        self.kept[HOUR] = [each for each in self.kept[HOUR] if each.at >= oldest]
