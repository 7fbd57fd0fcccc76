"""The self-healing agent's hands: one deed for an incident, kept before and after.

What is decided is `core/operating/remedy.py`, and drawn there. A deed is an action like any other:
it waits for its turn in the execution queue, a person's override ends it, and it is journalled.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import assert_never

from twinsmith.core.operating.action import Action, ActionKind
from twinsmith.core.operating.alarm import Severity
from twinsmith.core.operating.incident import Incident, Stage, moved
from twinsmith.core.operating.remedy import Remedy, Situation, remedy
from twinsmith.ports import Incidents


@dataclass(frozen=True, slots=True, kw_only=True)
class Ward:
    """Everything that a deed needs."""

    incidents: Incidents
    act: Callable[[Incident, ActionKind, int], Action]
    """The action that an incident calls for, with a run of its own."""
    begin: Callable[[Action], Awaitable[None]]
    """Begins the run of an action; who has begun it already goes on."""
    tell: Callable[[Incident, Severity, str], Awaitable[None]]
    """Tells people and the journal what became of an incident."""


async def heal(incident: Incident, situation: Situation, ward: Ward) -> Incident:
    """Do for an incident what is to be done next; the incident as it stands afterwards."""
    wanted = remedy(incident, situation)
    match wanted.deed:
        case "wait":
            return incident
        case "restart":
            changed = replace(incident, restarts=incident.restarts + 1)
            return await _acted(changed, "restart", wanted, situation, ward)
        case "roll back":
            return await _acted(incident, "rollback", wanted, situation, ward)
        case "escalate":
            ended = moved(incident, "escalated", wanted.why, situation.now)
            ward.incidents.save(ended)
            await ward.tell(ended, "critical", f"a person is needed: {wanted.why}")
            return ended
        case "close":
            ended = moved(incident, "closed", wanted.why, situation.now)
            ward.incidents.save(ended)
            await ward.tell(ended, "info", f"over: {wanted.why}")
            return ended
        case _:
            assert_never(wanted.deed)


async def _acted(
    incident: Incident, kind: ActionKind, wanted: Remedy, situation: Situation, ward: Ward
) -> Incident:
    """Keep what is going to be done, then begin it: a kill between is found by the next look."""
    action = ward.act(incident, kind, wanted.to)
    stage: Stage = "restarted" if kind == "restart" else "rolling back"
    did = f"{action.title}: {wanted.why}"
    changed = moved(incident, stage, did, situation.now, run=action.run)
    ward.incidents.save(changed)
    await ward.begin(action)
    await ward.tell(changed, "warning", did)
    return changed
