"""Detectors of an app that runs and does not answer: failing and slow probes, a hang."""

from collections.abc import Sequence

from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.watch import Watch
from twinsmith.core.operating.window import Window, middle


def probe_failing(window: Window, watch: Watch) -> Alarm | None:
    """Several probes in a row that were answered with an error of the app, or not at all."""
    failing = _failing(window)
    if len(failing) < watch.probes_failing or _boots(window, watch):
        return None
    statuses = [window.readings[index].status for index in failing]
    silent = statuses.count(0)
    other = sorted({str(status) for status in statuses if status})
    said = [f"{silent} without an answer"] if silent else []
    said += [f"{len(failing) - silent} with {', '.join(other)}"] if other else []
    evidence = f"{len(failing)} probes in a row failed: {' and '.join(said)}"
    return window.alarm("probe failing", failing[-1], evidence, 1 - 0.3 ** len(failing))


def probe_slow(window: Window, watch: Watch) -> Alarm | None:
    """Probes that are answered, and take much longer than they did and than they may."""
    now = _taken(window, len(window.readings), watch.probes_slow)
    slow = middle(seconds for _, seconds in now)
    if len(now) < watch.probes_slow or now[-1][0] < window.life or slow < watch.probe_slow:
        return None
    before = _taken(window, now[-1][0], len(window.readings))
    usual = middle(seconds for _, seconds in before)
    if slow < watch.probe_slower * usual:
        return None
    first = next(index for index, seconds in reversed(now) if seconds >= watch.probe_slow)
    compared = f", {usual:.3f} s is usual" if before else ""
    evidence = f"a probe takes {slow:.2f} s{compared}"
    return window.alarm("probe slow", first, evidence, 0.9 if before else 0.7, "warning")


def hang(window: Window, watch: Watch) -> Alarm | None:
    """A process that runs, answers no probe, and either sleeps or spins."""
    silent = _failing(window, only_silent=True)
    if len(silent) < watch.probes_failing or window.ago(silent[-1]) < watch.hang_after:
        return None
    first, last = window.readings[silent[-1]].usage, window.last.usage
    if first.cpu_seconds is None or last.cpu_seconds is None:
        return None
    seconds = window.ago(silent[-1])
    share = (last.cpu_seconds - first.cpu_seconds) / seconds
    if watch.hang_idle < share < watch.hang_busy:
        return None
    does = "sleeps" if share <= watch.hang_idle else "spins"
    evidence = (
        f"no answer to {len(silent)} probes in {seconds:.0f} s while it {does}: "
        f"{share:.0%} of a processor"
    )
    return window.alarm("hang", silent[-1], evidence, 0.95)


def _failing(window: Window, *, only_silent: bool = False) -> Sequence[int]:
    """The readings, newest first, whose probes failed since the running process last answered."""
    found = []
    for index in range(len(window.readings) - 1, window.life - 1, -1):
        status = window.readings[index].status
        if status is None:
            continue
        if _works(status) or (only_silent and status):
            break
        found.append(index)
    return found


def _taken(window: Window, end: int, most: int) -> Sequence[tuple[int, float]]:
    """How long the last probes before a reading took that were answered well, newest first."""
    found: list[tuple[int, float]] = []
    for index in range(end - 1, -1, -1):
        reading = window.readings[index]
        if len(found) == most:
            break
        if reading.probe_seconds is not None and _works(reading.status):
            found.append((index, reading.probe_seconds))
    return found


def _boots(window: Window, watch: Watch) -> bool:
    return window.born and window.ago(window.life) < watch.boot


def _works(status: int | None) -> bool:
    return status is not None and 0 < status < 500
