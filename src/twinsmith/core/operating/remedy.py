"""What is done about an incident next: the whole self-healing agent as one table and one function.

    seen ──well again──────────────────────────────▶ closed
      │ a notice, nothing that anybody could mend ──▶ closed, a person is told
      │ data would be lost ─────────────────────────▶ escalated
      ├─▶ restart, with growing pauses ─▶ restarted ──steady──▶ closed
      │                                      │ the same again
      ├──────────────────────────────────────┴─▶ roll back ─▶ rolled back ──▶ escalated: a fix
      └─ nothing to go back to ─────────────────────────────────────────────▶ escalated

A person's override, a maintenance window, and an action that is under way come first: then nothing
is done. Rules and rolling back need no model; where they end a person is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.alarm import Alarm, AlarmKind
from twinsmith.core.operating.app import App, Release, rollback_target
from twinsmith.core.operating.incident import Incident

Deed = Literal["wait", "restart", "roll back", "escalate", "close"]
NOTICES: frozenset[AlarmKind] = frozenset(
    {"new errors", "certificate", "end of life", "advisory", "log flood", "probe slow"}
)
"""What a person is told of, and what no restart and no earlier release would mend."""
DATA: frozenset[AlarmKind] = frozenset({"disk growth"})
"""What could only be mended by touching data."""
HOSTS_OWN: frozenset[AlarmKind] = frozenset({"crash"})
"""What an instance's own host mends within a second; only where it does not, it is an incident."""
RESTART_FIRST: frozenset[AlarmKind] = frozenset({"down", "hang"})
"""What a restart mends, whatever the release; everything else is the release's fault first."""
MOST_RESTARTS = 2
PAUSES = (0.0, 10.0)
"""Seconds before each restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything that a decision about an incident depends on, at one moment."""

    now: float
    app: App
    releases: tuple[Release, ...]
    alarms: tuple[Alarm, ...]
    """What is wrong with the serving release now."""
    held: str = ""
    """Why nothing may be done by itself: an override, a window, an action; empty: nothing holds."""
    refused: str = ""
    """Why the action that was under way for the incident was not done; empty: it was, or none."""
    steady_seconds: float = 30.0
    """Whoever is well for so long is well again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One deed, and why."""

    deed: Deed
    why: str = ""
    to: int = 0
    """The release that is gone back to."""


WAIT = Remedy(deed="wait")


def remedy(incident: Incident, situation: Situation) -> Remedy:
    """The next deed for an incident; doing nothing is one, too."""
    if not incident.is_open or situation.held:
        return WAIT
    if situation.app.wanted != "running":
        return Remedy(deed="close", why=f"{incident.app} was stopped by a person")
    match incident.stage:
        case "seen":
            return _first(incident, situation)
        case "restarted" if situation.refused:
            return _back_or_up(incident, situation)
        case "restarted":
            return _after_restart(incident, situation)
        case "rolling back" if situation.refused:
            return Remedy(deed="escalate", why=f"it was not rolled back: {situation.refused}")
        case "rolling back":
            return _after_rollback(incident, situation)
    return WAIT


def _first(incident: Incident, now: Situation) -> Remedy:
    if now.app.serving != incident.release:
        return Remedy(deed="close", why=f"release {incident.release} does not serve any more")
    kinds = {each.kind for each in incident.alarms}
    if kinds & DATA:
        return Remedy(deed="escalate", why="only a person may decide about data")
    if kinds <= NOTICES:
        return Remedy(deed="close", why="a person was told; nothing is to be done by itself")
    if kinds <= HOSTS_OWN | NOTICES:
        return _steady(incident, now, "its host restarted it")
    if kinds & RESTART_FIRST and not kinds & {"crash loop"}:
        return Remedy(deed="restart", why=f"{incident.kind}: it is started anew")
    return _back_or_up(incident, now)


def _after_restart(incident: Incident, now: Situation) -> Remedy:
    again = _of_release(now.alarms, incident.release)
    if not again:
        return _steady(incident, now, f"it is well again after restart {incident.restarts}")
    if incident.restarts < MOST_RESTARTS and {each.kind for each in again} <= RESTART_FIRST:
        if now.now - incident.changed < PAUSES[incident.restarts]:
            return WAIT
        return Remedy(deed="restart", why=f"{again[0].kind} again: restart {incident.restarts + 1}")
    return _back_or_up(incident, now)


def _after_rollback(incident: Incident, now: Situation) -> Remedy:
    if now.app.serving == incident.release:
        # The action has not been done yet, or a kill came between.
        return _back_or_up(incident, now)
    worse = [each for each in now.alarms if each.release == now.app.serving]
    serious = [each for each in worse if each.kind not in NOTICES | HOSTS_OWN]
    if serious:
        return Remedy(
            deed="escalate",
            why=f"release {now.app.serving} has trouble as well: {serious[0].evidence}",
        )
    if now.now - incident.changed < now.steady_seconds:
        return WAIT
    return Remedy(
        deed="escalate",
        why=f"release {now.app.serving} serves and is well; release {incident.release} has to be "
        "mended by a person",
    )


def _back_or_up(incident: Incident, now: Situation) -> Remedy:
    """Roll back where there is a release to go back to; else a person has to decide."""
    try:
        target = rollback_target(now.app, now.releases, 0)
    except ConfigError:
        why = f"{incident.kind}, and there is no earlier release to go back to"
        return Remedy(deed="escalate", why=why)
    return Remedy(deed="roll back", to=target.number, why=f"{incident.kind}: {_evidence(incident)}")


def _steady(incident: Incident, now: Situation, why: str) -> Remedy:
    """Close an incident once nothing was wrong for a while."""
    if _of_release(now.alarms, incident.release):
        return WAIT
    if now.now - incident.changed < now.steady_seconds:
        return WAIT
    return Remedy(deed="close", why=why)


def _of_release(alarms: Sequence[Alarm], release: int) -> list[Alarm]:
    return [each for each in alarms if each.release == release and each.kind not in NOTICES]


def _evidence(incident: Incident) -> str:
    return incident.alarms[-1].evidence if incident.alarms else ""
