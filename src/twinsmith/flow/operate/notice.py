"""An app in, alarms out that no reading shows: what ends soon, and what became known."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from twinsmith.core.errors import HostError
from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.app import App
from twinsmith.core.operating.expiry import (
    Dated,
    Moment,
    Place,
    advisory,
    certificate,
    end_of_life,
)
from twinsmith.core.operating.incident import Incident
from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.scan import Advised, spelled
from twinsmith.core.operating.watch import DAY, Watch
from twinsmith.ports import Advisories, Almanac

AGAIN_SECONDS = 7 * DAY
"""What a person was told is told again after so long, if it is still so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Where it is looked up what ends soon, and what became known."""

    almanac: Almanac
    advisories: Advisories
    watch: Watch
    said: Callable[[str], None]
    """Gets a line for what cannot be found out."""


async def noticed(
    app: App, pins: Collection[Pin], places: Collection[Place], lookup: Lookup, now: float
) -> tuple[Alarm, ...]:
    """What of an app ends soon or has known weaknesses."""
    moment = Moment(app=app.name, release=app.serving, at=now)
    found = [
        *await _certificates(moment, places, lookup),
        _base(moment, lookup.almanac.base(app.host), lookup.watch),
        *await _weaknesses(moment, pins, lookup),
    ]
    return tuple(each for each in found if each is not None)


async def _certificates(
    moment: Moment, places: Collection[Place], lookup: Lookup
) -> list[Alarm | None]:
    found = []
    for place in places:
        try:
            dated = await lookup.almanac.certificate(place)
        except HostError as error:
            lookup.said(str(error))
        else:
            found.append(certificate(moment, dated.name, dated.until, lookup.watch))
    return found


def _base(moment: Moment, base: Dated | None, watch: Watch) -> Alarm | None:
    return end_of_life(moment, base.name, base.until, watch) if base is not None else None


async def _weaknesses(moment: Moment, pins: Collection[Pin], lookup: Lookup) -> list[Alarm | None]:
    advised = await lookup.advisories.known(pins) if pins else Advised()
    if advised.unasked:
        count, reason = len(advised.unasked), next(iter(advised.unasked.values()))
        lookup.said(f"{moment.app}: weaknesses of {count} of its packages are not known: {reason}")
    found = []
    for pin in pins:
        known = advised.known.get(spelled(pin), ())
        fixed = sorted({version for each in known for version in each.fixed_in})
        names = tuple(each.name for each in known)
        found.append(advisory(moment, spelled(pin), names, ", ".join(fixed)))
    return found


def news(found: Collection[Alarm], incidents: Collection[Incident]) -> tuple[Alarm, ...]:
    """The alarms of which a person was not told lately, one for each kind and subject."""
    told = [
        alarm
        for each in incidents
        for alarm in each.alarms
        if alarm.kind in ("certificate", "end of life", "advisory")
    ]
    return tuple(alarm for alarm in found if not any(_is_told(alarm, each) for each in told))


def _is_told(alarm: Alarm, earlier: Alarm) -> bool:
    same = (alarm.app, alarm.kind, alarm.severity) == (earlier.app, earlier.kind, earlier.severity)
    lately = 0 <= alarm.at - earlier.at < AGAIN_SECONDS
    return same and lately and _subject(alarm) == _subject(earlier)


def _subject(alarm: Alarm) -> str:
    """What an alarm is about, without the days that are left."""
    text = alarm.evidence
    for words in (" is over ", " is mended "):
        text = text.partition(words)[0]
    return text
