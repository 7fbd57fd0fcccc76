"""What is needed to remember how apps did, and what was done about it."""

from collections.abc import Sequence
from typing import Protocol

from twinsmith.core.operating.expiry import Dated, Place
from twinsmith.core.operating.incident import Incident
from twinsmith.core.operating.instance import HostName
from twinsmith.core.operating.reading import Reading


class Readings(Protocol):
    """Keeps what was seen of apps: all of it for a while, one for each minute and hour after."""

    def add(self, readings: Sequence[Reading]) -> None:
        """Keep readings, all at once."""
        ...

    def listed(self, app: str, since: float, until: float) -> tuple[Reading, ...]:
        """The readings of an app in a span, oldest first, as fine as they are still kept."""
        ...

    def thin(self, now: float) -> None:
        """Downsample what is old enough, and forget what is too old."""
        ...


class Incidents(Protocol):
    """Keeps incidents; only the monitor of an app's machine changes its open ones."""

    def save(self, incident: Incident) -> None:
        """Keep an incident; one of the same name is replaced."""
        ...

    def get(self, name: str) -> Incident | None:
        """The incident of that name."""
        ...

    def listed(self, *, over: bool = False) -> tuple[Incident, ...]:
        """Incidents that are not closed, oldest first; with `over`, all there ever were."""
        ...


class Almanac(Protocol):
    """Knows until when things hold that apps depend on."""

    async def certificate(self, place: Place) -> Dated:
        """The certificate at a place; HostError where it cannot be read."""
        ...

    def base(self, host: HostName) -> Dated | None:
        """What instances of a host run on; None where nobody knows how long that is mended."""
        ...
