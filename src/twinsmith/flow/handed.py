"""What is told of a run as a whole: that it was given, that it began, how it ended."""

import time
from dataclasses import replace
from datetime import datetime

from twinsmith.core import measures
from twinsmith.core.operating.action import Action
from twinsmith.core.operating.incident import Incident
from twinsmith.core.run_record import Given
from twinsmith.core.telemetry import (
    Attribute,
    Span,
    Trace,
    new_trace,
    parent_in,
    place_of_run,
    trace_in,
)
from twinsmith.flow.traced import incident_place
from twinsmith.ports import Telemetry

WELL = ("solved", "done")


def submitted(job: Given, *, at: str) -> Span:
    """What a person's command told: that it handed a run over. It takes no time of its own."""
    handed = (job.link if isinstance(job, Action) else "") or job.trace
    moment = _seconds(at)
    return Span(
        what="submit",
        name=f"twinsmith {_kind(job)}",
        place=trace_in(handed) or new_trace(),
        began=moment,
        ended=moment,
        kind="producer",
        run=job.run,
        attributes={"twinsmith.run": job.run},
    )


def place_of(job: Given) -> Trace:
    """The place of a run in its trace."""
    return place_of_run(job.run, job.trace)


def run_begun(job: Given, given: str, *, worker: str, waited: bool, telemetry: Telemetry) -> None:
    """Tell that somebody took a run; the first one also how long it had waited."""
    now = time.time()
    began = _seconds(given) if given else now
    telemetry.tell(
        replace(_run(job, began), attributes={**_facts(job), "twinsmith.worker": worker})
    )
    if waited:
        telemetry.observe(measures.QUEUE_WAIT, max(0.0, now - began))


def run_ended(job: Given, state: str, *, began: str, telemetry: Telemetry) -> None:
    """Tell how a run ended."""
    now = time.time()
    span = _run(job, _seconds(began))
    told: dict[str, Attribute] = {**_facts(job), "twinsmith.state": state}
    problem = "" if state in WELL else state
    telemetry.tell(replace(span, ended=now, attributes=told, problem=problem))
    telemetry.observe(measures.RUN_SECONDS, now - span.began, kind=_kind(job), state=state)


def incident_told(incident: Incident, released: str, telemetry: Telemetry) -> None:
    """Tell that an incident began, or that it is over; `released` is the place of its release."""
    over = incident.stage == "closed"
    # A notice is over with its first word, and has only that.
    first = len(incident.steps) <= 2
    telemetry.tell(
        Span(
            what="incident",
            name=f"incident {incident.kind}",
            place=incident_place(incident.id, released),
            parent=parent_in(released),
            began=incident.opened,
            ended=incident.changed if over else 0.0,
            attributes={
                "twinsmith.incident": incident.id,
                "twinsmith.app": incident.app,
                "twinsmith.release": incident.troubled,
                "twinsmith.stage": incident.stage,
                "twinsmith.attempts": len(incident.attempts),
            },
        )
    )
    if over:
        telemetry.observe(measures.INCIDENTS_OVER, kind=incident.kind)
    if (incident.stage == "seen" and first) or (over and first):
        telemetry.observe(measures.INCIDENTS, kind=incident.kind)


def _run(job: Given, began: float) -> Span:
    return Span(
        what="run",
        name=_kind(job) if not isinstance(job, Action) else job.title,
        place=place_of(job),
        parent=parent_in(job.trace),
        began=began,
        kind="consumer",
        run=job.run,
        link=job.link if isinstance(job, Action) else "",
    )


def _kind(job: Given) -> str:
    if isinstance(job, Action):
        return job.kind
    return "fix" if job.mend else "build"


def _facts(job: Given) -> dict[str, Attribute]:
    """What is told of a run; what a person wrote is not."""
    facts: dict[str, Attribute] = {"twinsmith.run": job.run, "twinsmith.kind": _kind(job)}
    if isinstance(job, Action):
        return facts | {"twinsmith.app": job.app, "twinsmith.trigger": job.trigger}
    app: dict[str, Attribute] = {"twinsmith.app": job.mend.app} if job.mend else {}
    asked: dict[str, Attribute] = {
        "twinsmith.task.kind": job.task.kind,
        "twinsmith.task.language": job.task.language,
    }
    return facts | asked | app


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
