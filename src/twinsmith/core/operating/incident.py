"""An incident: trouble with an app from the first alarm to its end, with all that was tried."""

from dataclasses import dataclass, replace
from typing import Literal

from twinsmith.core.operating.alarm import Alarm, AlarmKind, Severity
from twinsmith.core.operating.trouble import NOTHING_READ, Evidence

Stage = Literal[
    "seen",
    "restarted",
    "rolling back",
    "fixing",
    "releasing",
    "proving",
    "escalated",
    "closed",
]
MOST_ALARMS = 20
MOST_STEPS = 50
_RANKS: dict[Severity, int] = {"info": 0, "warning": 1, "critical": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of an incident's timeline."""

    at: float
    """Seconds since 1970."""
    did: str
    """What was done, or seen, in words."""
    stage: Stage | Literal[""] = ""
    """The stage that it led to; empty: the incident stayed in its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try to mend the release that an incident is about."""

    run: str
    """The build that looks for a fix."""
    cause: str = ""
    """What the slow thinkers said is the cause."""
    release: int = 0
    """The release that it became; 0: none."""
    why: str = ""
    """Why it was no fix, or by what it is known to be one; empty while it is under way."""
    helped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Trouble with one release of an app; it is kept after every change, and goes on from there."""

    id: str
    app: str
    release: int
    """The release that has the trouble."""
    kind: AlarmKind
    """What was seen first, or what is worst by now."""
    opened: float
    changed: float
    """When its stage changed last."""
    stage: Stage = "seen"
    alarms: tuple[Alarm, ...] = ()
    restarts: int = 0
    """How often it was restarted for this; its host's own restarts are not counted."""
    run: str = ""
    """The run of the action that is under way for it."""
    steps: tuple[Step, ...] = ()
    """Everything that was done, oldest first."""
    evidence: Evidence = NOTHING_READ
    """What was there to be read when it began."""
    attempts: tuple[Attempt, ...] = ()
    """The tries to mend it, oldest first; each is undone before the next."""
    mended: int = 0
    """The release whose source is mended: the one that had the trouble first; 0: `release`."""

    @property
    def is_open(self) -> bool:
        """Whether anything may still be done about it by itself."""
        return self.stage not in ("escalated", "closed")

    @property
    def troubled(self) -> int:
        """The release that had the trouble first; `release` is the one that is looked at now."""
        return self.mended or self.release

    @property
    def last(self) -> str:
        """What was done last, in words."""
        return self.steps[-1].did if self.steps else ""


def opened(name: str, alarm: Alarm) -> Incident:
    """The incident that an alarm begins."""
    return Incident(
        id=name,
        app=alarm.app,
        release=alarm.release,
        kind=alarm.kind,
        opened=alarm.at,
        changed=alarm.at,
        alarms=(alarm,),
        steps=(Step(at=alarm.at, did=f"{alarm.kind}: {alarm.evidence}", stage="seen"),),
    )


def moved(incident: Incident, stage: Stage, did: str, at: float, *, run: str = "") -> Incident:
    """The incident in another stage, with what was done for it."""
    steps = (*incident.steps, Step(at=at, did=did, stage=stage))
    # The beginning tells most of what happened, and so does the end.
    kept = steps if len(steps) <= MOST_STEPS else (*steps[: MOST_STEPS // 2], *steps[-25:])
    return replace(incident, stage=stage, changed=at, steps=kept, run=run)


def path(incident: Incident) -> tuple[Stage, ...]:
    """The stages that an incident went through, in their order; the last is the present one."""
    told = tuple(step.stage for step in incident.steps if step.stage)
    if told and told[-1] == incident.stage:
        return told
    # Whoever kept it told no stages.
    return ("seen",) if incident.stage == "seen" else ("seen", incident.stage)


def attempted(incident: Incident, **changed: str | int | bool) -> Incident:
    """The incident with what became known of its last attempt."""
    last = replace(incident.attempts[-1], **changed)  # type: ignore[arg-type]
    return replace(incident, attempts=(*incident.attempts[:-1], last))


def knows(incident: Incident, alarm: Alarm) -> bool:
    """Whether an incident is about such an alarm already."""
    return any((each.kind, each.release) == (alarm.kind, alarm.release) for each in incident.alarms)


def joined(incident: Incident, alarm: Alarm) -> Incident:
    """The incident with one more alarm; one of a kind that it knows already changes nothing."""
    if knows(incident, alarm):
        return incident
    steps = (*incident.steps, Step(at=alarm.at, did=f"{alarm.kind}: {alarm.evidence}"))
    alarms = (*incident.alarms, alarm)[-MOST_ALARMS:]
    worst = max((_RANKS[each.severity] for each in incident.alarms), default=0)
    worse = alarm.release == incident.release and _RANKS[alarm.severity] >= worst
    kind = alarm.kind if worse else incident.kind
    return replace(incident, alarms=alarms, steps=steps, kind=kind)
