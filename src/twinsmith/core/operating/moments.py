"""What was done with an app and what was seen of it, each at its moment: marks of its charts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from twinsmith.core.operating.action import Queued
from twinsmith.core.operating.app import Release
from twinsmith.core.operating.incident import Incident

MomentKind = Literal["release", "alarm", "deed", "good"]
SAME_SECONDS = 10.0
"""An action that begins so soon after a step of the same name is that step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One moment of an app."""

    at: float
    """Seconds since 1970."""
    kind: MomentKind
    text: str
    run: str = ""
    """The run that did it; empty where none did."""
    incident: str = ""


def moments(
    releases: Iterable[Release],
    incidents: Iterable[Incident],
    actions: Iterable[Queued],
    *,
    since: float,
    until: float,
) -> tuple[Moment, ...]:
    """The moments of one app in a span, oldest first."""
    told = [moment for each in incidents for moment in of_incident(each)]
    found = [_of_release(each) for each in releases if each.at] + told
    deeds = [(each.at, each.text) for each in told if each.kind == "deed"]
    for action in actions:
        if action.kind in ("deploy", "hand over") or not action.at:
            continue
        at, title = _seconds(action.at), f"{action.kind} {action.app}"
        if not any(text.startswith(title) and abs(at - did) < SAME_SECONDS for did, text in deeds):
            text = f"{title} by {action.by.removeprefix('user:')} ({action.state})"
            found.append(Moment(at=at, kind="deed", text=text, run=action.run))
    return tuple(sorted((each for each in found if since <= each.at <= until), key=_order))


def of_incident(incident: Incident) -> Iterator[Moment]:
    """The alarms of an incident and what was done about them."""
    for alarm in incident.alarms:
        text = f"{alarm.kind} of release {alarm.release}: {alarm.evidence}"
        yield Moment(at=alarm.at, kind="alarm", text=text, incident=incident.id)
    for step in incident.steps:
        if step.stage not in ("", "seen"):
            kind: MomentKind = "good" if step.stage == "closed" else "deed"
            yield Moment(at=step.at, kind=kind, text=step.did, incident=incident.id)


def _of_release(release: Release) -> Moment:
    told = f"release {release.number} begun by {release.by.removeprefix('user:')}"
    ended = {"trying": ": it is tried", "refused": f": refused: {release.reason}"}
    text = told + ended.get(release.state, "")
    return Moment(at=_seconds(release.at), kind="release", text=text, run=release.run)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _order(moment: Moment) -> float:
    return moment.at
