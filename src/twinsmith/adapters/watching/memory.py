"""Readings in memory and dates known beforehand, for tests."""

from collections.abc import Sequence

from twinsmith.core.errors import HostError
from twinsmith.core.operating.expiry import Dated, Place
from twinsmith.core.operating.instance import HostName
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


class FixedAlmanac:
    """Dates that are known beforehand, by the place of a certificate and by the host."""

    def __init__(
        self,
        certificates: dict[str, Dated] | None = None,
        bases: dict[HostName, Dated] | None = None,
    ) -> None:
        self._certificates = certificates or {}
        self._bases = bases or {}

    async def certificate(self, place: Place) -> Dated:
        """The certificate that is known for a place."""
        if place.where not in self._certificates:
            raise HostError(f"the certificate of {place.where} cannot be read: nobody knows it")
        return self._certificates[place.where]

    def base(self, host: HostName) -> Dated | None:
        """The base that is known for a host."""
        return self._bases.get(host)
