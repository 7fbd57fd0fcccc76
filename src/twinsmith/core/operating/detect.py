"""All detectors of what is wrong with an app, as one pure function over its last readings."""

from collections.abc import Callable, Mapping, Sequence

from twinsmith.core.operating.alarm import Alarm, AlarmKind
from twinsmith.core.operating.detect_growth import (
    descriptor_leak,
    disk_growth,
    log_flood,
    memory_leak,
)
from twinsmith.core.operating.detect_probe import hang, probe_failing, probe_slow
from twinsmith.core.operating.detect_shift import errors, latency
from twinsmith.core.operating.detect_state import crash, crash_loop, down
from twinsmith.core.operating.reading import Reading
from twinsmith.core.operating.watch import Watch
from twinsmith.core.operating.window import Window, window_of

LONGEST = 120


def new_errors(window: Window, watch: Watch) -> Alarm | None:
    """Messages of errors that the app never wrote before."""
    first = max(window.release, window.within(watch.fresh_remembered))
    told = [
        (index, message)
        for index, reading in enumerate(window.readings[first:], first)
        for message in reading.said.fresh
    ]
    if not told:
        return None
    more = f" and {len(told) - 1} more" if len(told) > 1 else ""
    said = " ".join(told[0][1].split())[:LONGEST]
    return window.alarm(
        "new errors", told[0][0], f"never seen before: {said}{more}", 0.5, "warning"
    )


Detector = Callable[[Window, Watch], Alarm | None]
DETECTORS: tuple[Detector, ...] = (
    down,
    crash_loop,
    crash,
    hang,
    probe_failing,
    probe_slow,
    errors,
    latency,
    memory_leak,
    descriptor_leak,
    disk_growth,
    log_flood,
    new_errors,
)
SAYS_ALL: Mapping[AlarmKind, frozenset[AlarmKind]] = {
    "down": frozenset({"crash"}),
    "crash loop": frozenset({"crash"}),
    "hang": frozenset({"probe failing"}),
}
"""Alarms that tell all that others would: those are left out beside them."""


def alarms(readings: Sequence[Reading], watch: Watch) -> tuple[Alarm, ...]:
    """What is wrong with one app by its last readings, oldest first; nothing where none is.

    Releases may follow one another in them, gaps may be irregular, the clock may jump.
    """
    if not readings:
        return ()
    window = window_of(readings, watch)
    found = [alarm for detector in DETECTORS if (alarm := detector(window, watch)) is not None]
    told = {kind for alarm in found for kind in SAYS_ALL.get(alarm.kind, ())}
    return tuple(alarm for alarm in found if alarm.kind not in told)
