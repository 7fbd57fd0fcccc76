"""An app in, alarms out that no reading shows: what ends soon, and what became known."""

from collections.abc import Callable, Collection

from twinsmith.core.errors import HostError
from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.app import App
from twinsmith.core.operating.expiry import Moment, Place, advisory, certificate, end_of_life
from twinsmith.core.operating.incident import Incident
from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.scan import spelled
from twinsmith.core.operating.watch import DAY, Watch
from twinsmith.ports import Advisories, Almanac

AGAIN_SECONDS = 7 * DAY
"""What a person was told is told again after so long, if it is still so."""


async def noticed(
    app: App,
    pins: Collection[Pin],
    places: Collection[Place],
    almanac: Almanac,
    advisories: Advisories,
    watch: Watch,
    said: Callable[[str], None],
    now: float,
) -> tuple[Alarm, ...]:
    """What of an app ends soon or has known weaknesses; `said` gets what cannot be found out."""
    moment = Moment(app=app.name, release=app.serving, at=now)
    found: list[Alarm | None] = []
    for place in places:
        try:
            dated = await almanac.certificate(place)
        except HostError as error:
            said(str(error))
            continue
        found.append(certificate(moment, dated.name, dated.until, watch))
    base = almanac.base(app.host)
    if base is not None:
        found.append(end_of_life(moment, base.name, base.until, watch))
    if pins:
        advised = await advisories.known(pins)
        for pin in pins:
            known = advised.known.get(spelled(pin), ())
            fixed = sorted({version for each in known for version in each.fixed_in})
            names = tuple(each.name for each in known)
            found.append(advisory(moment, spelled(pin), names, ", ".join(fixed)))
        if advised.unasked:
            count, reason = len(advised.unasked), next(iter(advised.unasked.values()))
            said(f"{app.name}: weaknesses of {count} of its packages are not known: {reason}")
    return tuple(each for each in found if each is not None)


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
