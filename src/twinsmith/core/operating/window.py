"""The readings of one app in a row, on a clock that never runs backwards."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from twinsmith.core.operating.alarm import Alarm, AlarmKind, Severity
from twinsmith.core.operating.reading import Reading, Usage
from twinsmith.core.operating.watch import Watch

RECENT = 60
"""So many of the last gaps between readings tell how often an app is read now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Readings of one app, oldest first, at least one."""

    readings: Sequence[Reading]
    usages: Sequence[Usage]
    """Their usages."""
    seconds: Sequence[float]
    """When each was taken, in seconds since whenever; a clock that jumped is mended."""
    release: int
    """The index of the first reading of the release that serves now."""
    life: int
    """The index of the first reading of the process that runs now; past the end: none runs."""
    born: bool
    """Whether a reading before `life` shows that the process was started then."""

    @property
    def last(self) -> Reading:
        """The newest reading."""
        return self.readings[-1]

    def within(self, seconds: float) -> int:
        """The index of the first reading of the last `seconds`."""
        return bisect_left(self.seconds, self.seconds[-1] - seconds)

    def ago(self, index: int) -> float:
        """Seconds from a reading to the newest one."""
        return self.seconds[-1] - self.seconds[index]

    def alarm(
        self,
        kind: AlarmKind,
        since: int,
        evidence: str,
        confidence: float,
        severity: Severity = "critical",
    ) -> Alarm:
        """An alarm that was found now, and that the reading at `since` shows first."""
        return Alarm(
            app=self.last.app,
            release=self.last.release,
            kind=kind,
            at=self.last.at,
            delay=self.ago(since),
            evidence=evidence,
            confidence=confidence,
            severity=severity,
        )


def window_of(readings: Sequence[Reading], watch: Watch) -> Window:
    """At least one reading, with a mended clock and the borders of releases and processes."""
    times = [reading.at for reading in readings]
    gaps = [after - before for before, after in pairwise(times)]
    usual = middle(gap for gap in gaps[-RECENT:] if gap > 0) or 1.0
    most = max(watch.longest_gap, 5 * usual)
    if gaps and not 0 < min(gaps) <= max(gaps) <= most:
        times = list(accumulate((gap if 0 < gap <= most else usual for gap in gaps), initial=0.0))
    usages = [reading.usage for reading in readings]
    release = _run([reading.release for reading in readings])
    life, born = _life(usages, gaps, release, most)
    return Window(
        readings=readings, usages=usages, seconds=times, release=release, life=life, born=born
    )


def middle(values: Iterable[float]) -> float:
    """The median, the lower one of two; 0 where there is none."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2] if ordered else 0.0


def _run(values: Sequence[int]) -> int:
    """The index from which on all values are the last one."""
    if values.count(values[-1]) == len(values):
        return 0
    return next(at for at in range(len(values), 0, -1) if values[at - 1] != values[-1])


def _life(
    usages: Sequence[Usage], gaps: Sequence[float], release: int, most: float
) -> tuple[int, bool]:
    """Where the process that runs now begins, and whether its start was seen.

    What happened in a gap of more than `most` is not known: nothing before it is compared.
    """
    if usages[-1].state != "running":
        return len(usages), False
    restarts = [usage.restarts if usage.state == "running" else -1 for usage in usages]
    used = pairwise([usage.cpu_seconds for usage in usages])
    anew = [
        at
        for at, (old, new) in enumerate(used, 1)
        if old is not None and new is not None and new < old
    ]
    started = max(release, _run(restarts), *anew[-1:])
    paused = [at for at, gap in enumerate(gaps, 1) if gap > most]
    if paused and paused[-1] > started:
        return paused[-1], False
    return started, started > 0
