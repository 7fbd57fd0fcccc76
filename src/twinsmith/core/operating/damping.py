"""What of the alarms a person is told: one that comes and goes is one, maintenance is silent."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from twinsmith.core.operating.alarm import Alarm, AlarmKind
from twinsmith.core.operating.watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One alarm from the first time that it was found to the last, however often it paused."""

    first: Alarm
    latest: Alarm
    """The newest finding: its evidence and its severity hold now."""
    comings: int = 1
    """How often it was found after it had not been found."""
    present: bool = True
    """Whether it was found the last time somebody looked."""

    @property
    def flaps(self) -> bool:
        """Whether it came and went."""
        return self.comings > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """A span in which somebody works on an app, so that its alarms are expected."""

    since: float
    """Seconds since 1970."""
    until: float
    app: str = ""
    """Whose alarms are silent; empty: those of all apps."""
    kinds: frozenset[AlarmKind] = frozenset()
    """Which of them are silent; empty: all."""

    def covers(self, app: str, at: float) -> bool:
        """Whether somebody works on an app at a moment."""
        return self.since <= at < self.until and self.app in ("", app)

    def silences(self, alarm: Alarm) -> bool:
        """Whether an alarm is expected."""
        known = not self.kinds or alarm.kind in self.kinds
        return known and self.covers(alarm.app, alarm.at)


def audible(found: Sequence[Alarm], maintenance: Collection[Maintenance]) -> tuple[Alarm, ...]:
    """The alarms that no maintenance silences."""
    return tuple(alarm for alarm in found if not any(each.silences(alarm) for each in maintenance))


def episodes(
    known: Sequence[Episode], found: Sequence[Alarm], now: float, watch: Watch
) -> tuple[Episode, ...]:
    """The episodes of alarms after somebody looked once more: gone on, paused, begun; over: gone.

    One is over when it was not found for `watch.quiet` seconds; found again at once it goes on,
    whatever the clock says.
    """
    by_name = {_name(alarm): alarm for alarm in found}
    kept = []
    for episode in known:
        alarm = by_name.pop(_name(episode.first), None)
        if alarm is not None:
            came = 0 if episode.present else 1
            kept.append(
                replace(episode, latest=alarm, present=True, comings=episode.comings + came)
            )
        elif now - episode.latest.at < watch.quiet:
            kept.append(replace(episode, present=False))
    return (*kept, *(Episode(first=alarm, latest=alarm) for alarm in by_name.values()))


def begun(known: Sequence[Episode], after: Sequence[Episode]) -> tuple[Alarm, ...]:
    """The alarms that are news: their episodes were not known before."""
    names = {_name(episode.first) for episode in known}
    return tuple(episode.first for episode in after if _name(episode.first) not in names)


def _name(alarm: Alarm) -> tuple[str, int, AlarmKind]:
    """What makes two findings one alarm; another release has alarms of its own."""
    return alarm.app, alarm.release, alarm.kind
