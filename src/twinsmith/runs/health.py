"""How apps do, from what their monitor has kept; and incidents as a person deals with them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from twinsmith.core.errors import Conflict, Unknown
from twinsmith.core.events import SYSTEM
from twinsmith.core.operating.app import App
from twinsmith.core.operating.incident import Incident, moved
from twinsmith.core.operating.reading import Reading
from twinsmith.runs.apps import found
from twinsmith.runs.book import Book

SHOWN_SECONDS = 600.0
STALE_SECONDS = 15.0
MB = 1 << 20
Figures = tuple[str, list[float | None], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppHealth:
    """An app, its readings of the last minutes, and its incidents that are not closed."""

    app: App
    readings: tuple[Reading, ...]
    incidents: tuple[Incident, ...]
    ago: float | None
    """Seconds since it was looked at; None: never."""

    @property
    def words(self) -> str:
        """How it does, in a word or two."""
        if self.app.wanted == "stopped":
            return "stopped"
        if self.ago is None or self.ago > STALE_SECONDS:
            return "not watched"
        usage = self.readings[-1].usage
        if usage.state != "running":
            return usage.state
        if any(each.is_open for each in self.incidents):
            return "in trouble"
        return "needs a person" if self.incidents else "well"

    def series(self) -> tuple[Figures, ...]:
        """Figures over time: their name, one for each reading, and their unit."""
        return figures(self.readings)


def figures(readings: Sequence[Reading]) -> tuple[Figures, ...]:
    """What readings tell over time: a name, a value for each of them, and a unit."""
    usage = [each.usage for each in readings]
    traffic = [each.traffic for each in readings]
    return (
        ("memory", [_scaled(each.memory, MB) for each in usage], "MB"),
        ("processor", _rates(readings), "%"),
        ("files", [_scaled(each.descriptors, 1) for each in usage], "open"),
        ("probe", [_times(each.probe_seconds) for each in readings], "ms"),
        ("requests", [float(each.requests) for each in traffic], ""),
        ("failed", [float(each.failed) for each in traffic], ""),
        ("slowest", [_times(each.slowest) for each in traffic], "ms"),
        ("disk", [_scaled(each.disk, MB) for each in usage], "MB"),
    )


def healths(book: Book, name: str = "") -> tuple[AppHealth, ...]:
    """Every app as it does now, or one of them; ConfigError where it is not known."""
    from twinsmith.wiring.delivering import apps_of
    from twinsmith.wiring.watching import incidents_of, readings_of

    apps = (found(book, name),) if name else apps_of(book.settings).listed()
    now, kept = time.time(), readings_of(book.settings)
    known = incidents_of(book.settings).listed()
    shown = []
    for app in apps:
        readings = kept.listed(app.name, now - SHOWN_SECONDS, now + 1)
        mine = tuple(each for each in known if each.app == app.name)
        ago = round(now - readings[-1].at, 1) if readings else None
        shown.append(AppHealth(app=app, readings=readings, incidents=mine, ago=ago))
    return tuple(shown)


def listed_incidents(book: Book, *, over: bool = False) -> tuple[Incident, ...]:
    """Incidents that are not closed; with `over`, all there ever were."""
    from twinsmith.wiring.watching import incidents_of

    return incidents_of(book.settings).listed(over=over)


def found_incident(book: Book, name: str) -> Incident:
    """The incident of that name, or whose name ends so; ConfigError where there is none."""
    known = listed_incidents(book, over=True)
    matches = [each for each in known if each.id == name or (name and each.id.endswith(name))]
    if len(matches) != 1:
        told = "could be several; give more of it" if matches else "is not known"
        raise Unknown(f"incident {name!r} {told}; twinsmith incidents --all lists them")
    return matches[0]


async def close_incident(book: Book, name: str, note: str) -> Incident:
    """Keep that a person has dealt with an incident; ConfigError where it is closed already."""
    from twinsmith.wiring.watching import incidents_of

    incident = found_incident(book, name)
    if incident.stage == "closed":
        raise Conflict(f"incident {incident.id} is closed already: {incident.last}")
    said = book.settings.masking.text(" ".join(note.split()))
    closed = moved(incident, "closed", f"{book.actor.name}: {said}", time.time())
    incidents_of(book.settings).save(closed)
    data = {"incident": incident.id, "app": incident.app, "note": said}
    await book.tell(SYSTEM, "incident.closed", {**data}, key=f"incident.closed:{incident.id}")
    return closed


def _scaled(value: float | None, size: int) -> float | None:
    return None if value is None else value / size


def _times(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def _rates(readings: Sequence[Reading]) -> list[float | None]:
    """The share of one processor between each reading and the one before, in hundredths."""
    rates: list[float | None] = [None] if readings else []
    for before, after in pairwise(readings):
        used, was = after.usage.cpu_seconds, before.usage.cpu_seconds
        passed = after.at - before.at
        if used is None or was is None or used < was or passed <= 0:
            rates.append(None)
        else:
            rates.append((used - was) / passed * 100)
    return rates
