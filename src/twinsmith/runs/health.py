"""How apps do, from what their monitor has kept; and incidents as a person deals with them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from statistics import median

from twinsmith.core.errors import Conflict, Unknown
from twinsmith.core.events import SYSTEM
from twinsmith.core.operating.app import App
from twinsmith.core.operating.incident import Incident, moved
from twinsmith.core.operating.reading import Reading
from twinsmith.core.operating.thinning import HOUR, MINUTE, Keeping, thinned
from twinsmith.runs.apps import found
from twinsmith.runs.book import Book

SHOWN_SECONDS = 600.0
STALE_SECONDS = 15.0
PACE_SECONDS = 10.0
AROUND_SECONDS = 120.0
MOST_SHOWN = 120
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How an app did over a span of time; each reading stands for the worst of `step` seconds."""

    since: float
    until: float
    step: int
    gap: float
    """A longer pause between two readings: nobody looked."""
    readings: tuple[Reading, ...]

    def coarser(self, most: int) -> "Course":
        """The same in fewer readings."""
        step = max(1, ceil((self.until - self.since) / most))
        few = sorted(thinned(self.readings, step), key=_moment)
        return replace(self, step=step, gap=max(self.gap, 3.0 * step), readings=tuple(few))

    def series(self) -> tuple[Figures, ...]:
        """Figures over time, requests as so many a second: readings stand for unlike spans."""
        known = {name: (name, values, unit) for name, values, unit in figures(self.readings)}
        requests = [each.traffic.requests for each in self.readings]
        failed = [each.traffic.failed for each in self.readings]
        return (
            ("requests", _paces(self.readings, requests), "/s"),
            ("failed", _paces(self.readings, failed), "/s"),
            ("p95", known["slowest"][1], "ms"),
            *(known[name] for name in ("probe", "memory", "processor", "disk")),
        )


def course(book: Book, app: str, since: float, until: float) -> Course:
    """How an app did between two moments."""
    from twinsmith.wiring.watching import readings_of

    kept, age = readings_of(book.settings).listed(app, since, until), time.time() - since
    return coursed(kept, since, until, age=age)


def latest_course(book: Book, app: str, seconds: float, *, most: int = MOST_SHOWN) -> Course:
    """How an app did in the last seconds; the end of them moves with readings, else by minutes."""
    from twinsmith.wiring.watching import readings_of

    now = time.time()
    kept = readings_of(book.settings).listed(app, now - seconds - 60, now + 1)
    until = max(kept[-1].at if kept else 0.0, now // 60 * 60)
    return coursed(kept, until - seconds, until, age=now - until + seconds, most=most)


def course_around(book: Book, incident: Incident) -> Course:
    """How an app did from shortly before an incident until it was over, or until now."""
    over = incident.stage == "closed"
    until = incident.changed + AROUND_SECONDS if over else time.time() + 1
    found = course(book, incident.app, incident.opened - AROUND_SECONDS, until)
    last = found.readings[-1].at if found.readings else incident.changed
    return replace(found, until=max(last, incident.changed))


def coursed(
    readings: Sequence[Reading], since: float, until: float, *, age: float, most: int = MOST_SHOWN
) -> Course:
    """Many readings as few, none of which hides what was worst; `age` is that of the oldest."""
    step = max(1, ceil((until - since) / most))
    few = sorted(thinned((each for each in readings if each.at >= since), step), key=_moment)
    if step <= MINUTE and len(few) > 1 and few[-1].at - few[-2].at < step / 2:
        # The last one has only begun: it tells of too little yet.
        few = few[:-1]
    usual = median([after.at - before.at for before, after in pairwise(few)] or [0.0])
    keeping = Keeping()
    grain = 0 if age < keeping.all_of_them else MINUTE if age < keeping.each_minute else HOUR
    gap = 3 * max(step, grain, usual)
    return Course(since=since, until=until, step=step, gap=gap, readings=tuple(few))


def pace(readings: Sequence[Reading]) -> float | None:
    """Requests a second in the last whole ten seconds; None where nobody counted them."""
    if not readings:
        return None
    until = readings[-1].at // PACE_SECONDS * PACE_SECONDS
    counted = [each for each in readings if until - PACE_SECONDS < each.at <= until]
    return sum(each.traffic.requests for each in counted) / PACE_SECONDS if counted else None


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


def _moment(reading: Reading) -> float:
    return reading.at


def _paces(readings: Sequence[Reading], counts: Sequence[int]) -> list[float | None]:
    """What was counted in each reading as so many a second since the one before."""
    paces: list[float | None] = [None] if readings else []
    for (before, after), count in zip(pairwise(readings), counts[1:], strict=True):
        passed = after.at - before.at
        paces.append(count / passed if passed > 0 else None)
    return paces


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
