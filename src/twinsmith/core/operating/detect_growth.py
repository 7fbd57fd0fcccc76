"""Detectors of what runs out: memory, descriptors, the data volume, and a flooded log."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from twinsmith.core.operating.alarm import Alarm, AlarmKind
from twinsmith.core.operating.trend import Believed, Trend, rising, trend
from twinsmith.core.operating.watch import HOUR, MB, Watch
from twinsmith.core.operating.window import Window, middle

PARTS = 10
FOLLOWS = 0.5
"""Kendall's tau of the load from which on a growth may be its growth."""
Taken = tuple[Sequence[int], Sequence[int]]
"""The indices of readings, and what one figure was in them."""


def memory_leak(window: Window, watch: Watch) -> Alarm | None:
    """Memory of the running process that grows steadily towards its limit."""
    limit = window.last.usage.memory_limit
    if not limit:
        return None
    believed = _believed(limit, watch)
    if not window.born or window.ago(window.life) >= watch.warm_up:
        believed = replace(believed, reach_soon=watch.growth_reach_soon)
    taken = _taken(window.life, [usage.memory for usage in window.usages[window.life :]])
    return _alarm(window, "memory leak", taken, limit, believed)


def descriptor_leak(window: Window, watch: Watch) -> Alarm | None:
    """Open files and connections of the running process that grow steadily towards their limit."""
    limit = window.last.usage.descriptor_limit
    if not limit:
        return None
    taken = _taken(window.life, [usage.descriptors for usage in window.usages[window.life :]])
    return _alarm(window, "descriptor leak", taken, limit, _believed(limit, watch))


def disk_growth(window: Window, watch: Watch) -> Alarm | None:
    """A data volume that grows steadily and is full before long, by whichever release."""
    taken = _taken(0, [usage.disk for usage in window.usages])
    believed = _believed(watch.disk_limit, watch)
    return _alarm(window, "disk growth", taken, watch.disk_limit, believed)


def log_flood(window: Window, watch: Watch) -> Alarm | None:
    """Far more bytes of log a second than usual, for several seconds."""
    first = max(window.life, window.within(2 * watch.flood_seconds))
    recent = _rates(window, first, len(window.usages))
    rate = middle(recent)  # Most of the stretch has to be loud: one long trace is no flood.
    if rate < watch.flood_rate or window.ago(first) < watch.flood_seconds:
        return None
    usual = middle(_rates(window, window.life, first))
    if len(recent) < 2 or rate < watch.flood_more * usual:
        return None
    evidence = f"{rate / MB:.1f} MB of log a second, {usual / MB:.3f} MB is usual"
    return window.alarm("log flood", first, evidence, 0.9, "warning")


def _taken(first: int, values: Sequence[int | None]) -> Taken:
    """The values that there are, and the indices of their readings, from `first` on."""
    there = [value for value in values if value is not None]
    if len(there) == len(values):
        return range(first, first + len(values)), there
    return [index for index, value in enumerate(values, first) if value is not None], there


def _rates(window: Window, first: int, end: int) -> list[float]:
    """Bytes of log a second, between each two of some readings."""
    written = zip(
        *_taken(first, [usage.log_bytes for usage in window.usages[first:end]]), strict=True
    )
    return [
        (after - before) / (window.seconds[index] - window.seconds[earlier])
        for (earlier, before), (index, after) in pairwise(written)
    ]


def _believed(limit: int, watch: Watch) -> Believed:
    return Believed(
        readings=watch.growth_readings,
        rise=max(1.0, watch.growth_share * limit),
        steady=watch.growth_steady,
        reach=watch.growth_reach,
        soon=watch.growth_soon,
        reach_soon=watch.growth_reach,
        seen=watch.growth_seen,
        horizon=watch.growth_horizon,
        severe=watch.growth_severe,
    )


def _alarm(
    window: Window,
    kind: AlarmKind,
    taken: Taken,
    limit: int,
    believed: Believed,
) -> Alarm | None:
    """The alarm for a series that grows towards its limit."""
    indices, values = taken
    whole = len(indices) and len(indices) == indices[-1] - indices[0] + 1
    seconds = (
        window.seconds[indices[0] : indices[-1] + 1]
        if whole
        else [window.seconds[index] for index in indices]
    )
    found = trend(seconds, values, limit, believed)
    if found is None:
        return None
    if found.left > believed.soon and _loaded(window, indices[found.first]) >= FOLLOWS:
        return None
    alarm = window.alarm(
        kind,
        indices[found.first],
        _evidence(kind, found, values, limit),
        round(0.5 + 0.49 * found.tau, 2),
        "critical" if found.left <= believed.severe else "warning",
    )
    return replace(alarm, seconds_left=found.left)


def _loaded(window: Window, first: int) -> float:
    """How steadily the requests a second rose from a reading on: what follows them is no leak."""
    edges = [first + (len(window.readings) - first) * part // PARTS for part in range(PARTS + 1)]
    rates = [
        sum(each.traffic.requests for each in window.readings[begin:end]) / (end - begin or 1)
        for begin, end in pairwise(edges)
    ]
    return rising(range(PARTS), rates)


def _evidence(kind: AlarmKind, found: Trend, values: Sequence[int], limit: int) -> str:
    """A growth in figures, in the unit and the span in which they are easy to read."""
    unit, name = (1, "") if kind == "descriptor leak" else (MB, " MB")
    rate, per = found.rate / unit, "second"
    if rate < 0.1:
        rate, per = rate * 60, "minute"
    return (
        f"from {values[found.first] / unit:.0f} to {values[-1] / unit:.0f}{name}, "
        f"{rate:.2g}{name} a {per}; the limit of {limit / unit:.0f}{name} "
        f"is reached in {_span(found.left)}"
    )


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.1f} h"
