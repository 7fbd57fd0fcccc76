"""The self-healing agent's hands: one deed for an incident, kept before and after.

What is decided is `core/operating/remedy.py`, and drawn there. A deed is an action or a build like
any other: it waits for its turn, a person's override ends it, and it is journalled.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import assert_never

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.action import Action, ActionKind
from twinsmith.core.operating.alarm import Severity
from twinsmith.core.operating.incident import Attempt, Incident, Stage, attempted, moved
from twinsmith.core.operating.remedy import REJECTED, Remedy, Situation, remedy
from twinsmith.core.task import Job
from twinsmith.ports import Incidents

STAGES: dict[ActionKind, Stage] = {
    "restart": "restarted",
    "rollback": "rolling back",
    "deploy": "releasing",
    "hand over": "escalated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ward:
    """Everything that a deed needs."""

    incidents: Incidents
    act: Callable[[Incident, ActionKind, int], Action]
    """The action that an incident calls for, with a run of its own."""
    begin: Callable[[Action], Awaitable[None]]
    """Begins the run of an action; who has begun it already goes on."""
    fixing: Callable[[Incident], Job]
    """The build that mends the release of an incident; ConfigError where none can."""
    mend: Callable[[Job], Awaitable[None]]
    """Begins such a build, beside this process."""
    learn: Callable[[Incident], Awaitable[None]]
    """Keeps for later what helped and what did not."""
    tell: Callable[[Incident, Severity, str], Awaitable[None]]
    """Tells people and the journal what became of an incident."""


async def heal(incident: Incident, situation: Situation, ward: Ward) -> Incident:
    """Do for an incident what is to be done next; the incident as it stands afterwards."""
    wanted = remedy(incident, situation)
    incident = _judged(incident, wanted, situation)
    match wanted.deed:
        case "wait":
            return incident
        case "restart":
            changed = replace(incident, restarts=incident.restarts + 1)
            return await _acted(changed, "restart", wanted, situation, ward)
        case "roll back":
            return await _acted(incident, "rollback", wanted, situation, ward)
        case "fix":
            return await _fix(incident, wanted, situation, ward)
        case "release":
            return await _release(incident, wanted, situation, ward)
        case "prove":
            known = attempted(incident, release=situation.app.serving)
            serves = replace(known, release=situation.app.serving)
            return await _moved(serves, "proving", wanted.why, situation, ward)
        case "escalate":
            return await _escalate(incident, wanted.why, situation, ward)
        case "close":
            return await _moved(incident, "closed", wanted.why, situation, ward)
        case _:
            assert_never(wanted.deed)


def _judged(incident: Incident, wanted: Remedy, now: Situation) -> Incident:
    """The incident with what became of its last attempt, where that is known by now."""
    if not incident.attempts or incident.attempts[-1].why or now.lost:
        return incident
    match incident.stage, wanted.deed:
        case "fixing" | "releasing", "fix" | "escalate" | "close":
            return attempted(incident, why=now.refused or wanted.why)
        case "proving", "roll back" | "fix" | "escalate":
            return attempted(incident, why=f"trouble again: {wanted.why}")
        case "proving", "close":
            return attempted(incident, why=wanted.why, helped=True)
    return incident


async def _fix(incident: Incident, wanted: Remedy, situation: Situation, ward: Ward) -> Incident:
    """Keep the next attempt, then begin it; a release that nobody can mend goes to a person."""
    begun = incident.attempts[:-1] if situation.lost else incident.attempts
    incident = replace(incident, mended=incident.troubled, attempts=begun)
    try:
        job = ward.fixing(incident)
    except ConfigError as error:
        return await _escalate(incident, str(error), situation, ward)
    attempts = (*incident.attempts, Attempt(run=job.run))
    changed = moved(incident, "fixing", f"fix: {wanted.why}", situation.now, run=job.run)
    changed = replace(changed, attempts=attempts)
    ward.incidents.save(changed)
    await ward.mend(job)
    await ward.tell(changed, "warning", changed.last)
    return changed


async def _release(
    incident: Incident, wanted: Remedy, situation: Situation, ward: Ward
) -> Incident:
    """Release what a build mended, through the same gates as everything."""
    try:
        return await _acted(incident, "deploy", wanted, situation, ward)
    except ConfigError as error:
        failed = replace(situation, refused=str(error), over=True)
        return await heal(replace(incident, stage="fixing"), failed, ward)


async def _escalate(incident: Incident, why: str, situation: Situation, ward: Ward) -> Incident:
    """Hand an incident over to a person, with a request that twinsmith goes on by when answered."""
    if why.startswith(REJECTED) or REJECTED in why:
        ended = moved(incident, "escalated", why, situation.now)
        ward.incidents.save(ended)
    else:
        asked = Remedy(deed="escalate", why=why)
        ended = await _acted(incident, "hand over", asked, situation, ward)
    await ward.learn(ended)
    await ward.tell(ended, "critical", f"a person is needed: {why}")
    return ended


async def answered(incident: Incident, situation: Situation, ward: Ward) -> Incident:
    """Go on with an incident that was handed over, once a person has said something."""
    if situation.lost:
        return await _escalate(incident, incident.last, situation, ward)
    if not situation.over:
        return incident
    if situation.refused:
        why = f"{situation.refused}; it is left to a person"
        return await _moved(replace(incident, run=""), "escalated", why, situation, ward)
    why = f"a person decided; release {situation.app.serving} serves"
    return await _moved(incident, "closed", why, situation, ward)


async def _moved(
    incident: Incident, stage: Stage, why: str, situation: Situation, ward: Ward
) -> Incident:
    ended = moved(incident, stage, why, situation.now)
    if stage == "closed" and ended.attempts:
        # First: a kill between has it learned twice, which is harmless, and not never.
        await ward.learn(ended)
    ward.incidents.save(ended)
    await ward.tell(ended, "info", f"over: {why}" if stage == "closed" else why)
    return ended


async def _acted(
    incident: Incident, kind: ActionKind, wanted: Remedy, situation: Situation, ward: Ward
) -> Incident:
    """Keep what is going to be done, then begin it: a kill between is found by the next look."""
    action = ward.act(incident, kind, wanted.to)
    did = f"{action.title}: {wanted.why}"
    changed = moved(incident, STAGES[kind], did, situation.now, run=action.run)
    ward.incidents.save(changed)
    await ward.begin(action)
    if kind != "hand over":
        await ward.tell(changed, "warning", did)
    return changed
