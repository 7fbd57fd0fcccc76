"""What is done about an incident next: the whole self-healing agent as one table and one function.

    seen ──well again──────────────────────────────▶ closed
      │ a notice, nothing that anybody could mend ──▶ closed, a person is told
      │ data would be lost ─────────────────────────▶ escalated
      ├─▶ restart, with growing pauses ─▶ restarted ──steady──▶ closed
      │                                      │ the same again
      ├──────────────────────────────────────┴─▶ roll back ─▶ rolling back
      │ nothing to go back to                                   │ serves, and stays well
      └─────────────────────────────────────────────────────────┴─▶ fix ─▶ fixing
                                                                            │
      closed ◀──steady── proving ◀──serves── releasing ◀──a version passes──┤
                            │ trouble again      │ refused by a gate        │ none passes
                            └─▶ roll back        └────────────┬─────────────┘
                                                              ▼
                          the third time, cannot be reproduced, refused by a person ─▶ escalated
                          else the next attempt ─▶ fix

A person's override, a maintenance window, and an action that is under way come first: then nothing
is done. Rules and rolling back need no model; a fix does, and whatever a model wrote goes through
the same gates as everything else. Where attempts end a person decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.alarm import Alarm, AlarmKind
from twinsmith.core.operating.app import App, Release, rollback_target
from twinsmith.core.operating.incident import Incident

Deed = Literal["wait", "restart", "roll back", "fix", "release", "prove", "escalate", "close"]
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
MOST_ATTEMPTS = 3
REJECTED = "rejected by "
"""How the reason begins where a person refused a fix: it is that person's now."""
HOPELESS = ("it cannot be reproduced", "it cannot be built", REJECTED)
"""How reasons begin after which another attempt would be the same again."""


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
    """Why what was under way for the incident was not done; empty: it was, or it is not over."""
    over: bool = False
    """Whether what was under way for the incident has ended."""
    lost: bool = False
    """Whether nobody knows of what was to be under way: a kill came before it was begun."""
    fixes: bool = True
    """Whether releases are mended by themselves; else a person is asked after a rollback."""
    mending: bool = False
    """Whether another incident of the app is being mended: one at a time."""
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
        case "restarted" if situation.lost:
            return Remedy(deed="restart", why=f"{incident.kind}: it is started anew")
        case "restarted" if situation.refused:
            return _back_or_up(incident, situation)
        case "restarted":
            return _after_restart(incident, situation)
        case "rolling back" if situation.refused:
            return Remedy(deed="escalate", why=f"it was not rolled back: {situation.refused}")
        case "rolling back":
            return _after_rollback(incident, situation)
        case "fixing" | "releasing" | "proving":
            return _mending(incident, situation)
    return WAIT


def _mending(incident: Incident, situation: Situation) -> Remedy:
    """The next deed for an incident whose release is being mended."""
    match incident.stage:
        case "fixing" if situation.app.serving > incident.release:
            return Remedy(deed="close", why=f"a person released {situation.app.serving} meanwhile")
        case "fixing" if situation.lost:
            return Remedy(deed="fix", why=f"attempt {len(incident.attempts)}")
        case "releasing" if situation.lost:
            return Remedy(deed="release", why="a version passes everything, and what failed")
        case "fixing" | "releasing" if not situation.over:
            return WAIT
        case "fixing" | "releasing" if situation.refused:
            return _again_or_up(incident, situation, situation.refused)
        case "fixing":
            return Remedy(deed="release", why="a version passes everything, and what failed")
        case "releasing":
            return Remedy(deed="prove", why=f"release {situation.app.serving} serves")
        case "proving":
            return _proving(incident, situation)
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
        # The action has not been done yet, or a kill came before it was begun.
        return _back_or_up(incident, now) if now.lost or now.over else WAIT
    worse = [each for each in now.alarms if each.release == now.app.serving]
    serious = [each for each in worse if each.kind not in NOTICES | HOSTS_OWN]
    if serious and now.app.serving != incident.mended:
        return Remedy(
            deed="escalate",
            why=f"release {now.app.serving} has trouble as well: {serious[0].evidence}",
        )
    if now.now - incident.changed < now.steady_seconds:
        return WAIT
    well = f"release {now.app.serving} serves and is well"
    return _again_or_up(incident, now, well)


def _proving(incident: Incident, now: Situation) -> Remedy:
    """What a fix has to show in operation before it is called one."""
    last = incident.attempts[-1]
    if now.app.serving != last.release:
        why = f"release {last.release} does not serve any more"
        return Remedy(deed="close", why=why)
    again = _of_release(now.alarms, last.release)
    if again:
        return _back_or_up(incident, now)
    if now.now - incident.changed < now.steady_seconds:
        return WAIT
    return Remedy(deed="close", why=f"release {last.release} mended it, and is well")


def _again_or_up(incident: Incident, now: Situation, why: str) -> Remedy:
    """Mend the release, unless that was tried often enough, or would be the same again."""
    hopeless = why.startswith(HOPELESS)
    if now.mending and not hopeless:
        return WAIT
    if not now.fixes or hopeless or len(incident.attempts) >= MOST_ATTEMPTS:
        tried = len(incident.attempts)
        mended = f"after {tried} of {MOST_ATTEMPTS} attempts: " if tried else ""
        number = incident.troubled
        return Remedy(deed="escalate", why=f"{mended}{why}; release {number} is left to a person")
    return Remedy(deed="fix", why=f"{why}; attempt {len(incident.attempts) + 1}")


def _back_or_up(incident: Incident, now: Situation) -> Remedy:
    """Roll back where there is a release to go back to; else mend the one that serves."""
    try:
        target = rollback_target(now.app, now.releases, 0)
    except ConfigError:
        why = f"{incident.kind}, and there is no earlier release to go back to"
        return _again_or_up(incident, now, why)
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
    mine = [each.evidence for each in incident.alarms if each.kind == incident.kind]
    return mine[-1] if mine else ""
