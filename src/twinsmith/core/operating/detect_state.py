"""Detectors of an app that ended: a crash, a loop of crashes, an app that stays away."""

from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.instance import InstanceState
from twinsmith.core.operating.reading import Reading
from twinsmith.core.operating.watch import Watch
from twinsmith.core.operating.window import Window


def crash(window: Window, watch: Watch) -> Alarm | None:
    """The last time that the app ended by itself, if that was lately."""
    readings = window.readings
    for index in range(len(readings) - 1, window.within(watch.crash_remembered) - 1, -1):
        before = readings[index - 1] if index else None
        if index < window.release or not _ended(before, readings[index]):
            continue
        usage = readings[index].usage
        why = usage.reason or "no reason known"
        times = f"{usage.restarts} restart{'' if usage.restarts == 1 else 's'} so far"
        return window.alarm("crash", index, f"it is {usage.state}: {why}; {times}", 0.99)
    return None


def crash_loop(window: Window, watch: Watch) -> Alarm | None:
    """Several restarts of the serving release in a short time."""
    first = max(window.release, window.within(watch.loop_seconds))
    usages = [reading.usage for reading in window.readings[first:]]
    counts = [usage.restarts for usage in usages]
    grown = [index for index in range(1, len(counts)) if counts[index] > counts[index - 1]]
    times = sum(counts[index] - counts[index - 1] for index in grown)
    if times < watch.loop_restarts:
        return None
    seconds = window.ago(first + grown[0])
    why = next((usage.reason for usage in reversed(usages) if usage.reason), "no reason known")
    evidence = f"{times} restarts within {seconds:.0f} s, the last one: {why}"
    return window.alarm("crash loop", first + grown[0], evidence, 0.99)


def down(window: Window, watch: Watch) -> Alarm | None:
    """An app that ended or was never there, and does not come back."""
    state = window.last.usage.state
    if state == "running":
        return None
    first = len(window.readings) - 1
    while first > window.release and window.readings[first - 1].usage.state == state:
        first -= 1
    seconds = window.ago(first)
    if seconds < _patience(state, watch):
        return None
    why = window.last.usage.reason or "no reason known"
    return window.alarm("down", first, f"it is {state} for {seconds:.0f} s: {why}", 0.99)


def _patience(state: InstanceState, watch: Watch) -> float:
    """How long an instance may stay in a state before it is called down."""
    match state:
        case "restarting":
            return watch.restarting_after
        case "absent":
            return watch.gone_after
    return watch.down_after


def _ended(before: Reading | None, now: Reading) -> bool:
    """Whether a reading shows an end that the one before did not show."""
    if before is None:
        return now.usage.state in ("restarting", "exited")
    if before.release != now.release:
        return now.usage.restarts > 0 or now.usage.state in ("restarting", "exited")
    if now.usage.restarts > before.usage.restarts:
        return True
    return before.usage.state == "running" and now.usage.state != "running"
