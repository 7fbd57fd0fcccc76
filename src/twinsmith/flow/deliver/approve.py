"""A person's word about an action: asked for where the policy wants it, waited for durably."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from twinsmith.core.errors import Waiting
from twinsmith.core.operating.action import Action
from twinsmith.core.operating.app import App, Release, diff
from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.inspected import Inspected, at_least
from twinsmith.core.people.approval import (
    ApprovalRequest,
    Decision,
    Dossier,
    Occasion,
    decision_in,
    needed,
)
from twinsmith.flow.deliver.dock import Dock, Steps

RISK = "risk_"


def occasions(
    action: Action,
    app: App | None,
    old: Release | None,
    deliverable: Deliverable | None,
    inspected: Inspected,
    policy: tuple[str, ...],
) -> tuple[Occasion, ...]:
    """Of all that an action is, that for which the policy wants a person's word.

    `risk_high` in the policy means: a risk that is high or above.
    """
    if action.kind == "hand over":
        # Nobody's policy: a person has to say what becomes of it.
        return ("escalation",)
    present: set[Occasion] = set()
    if action.kind == "deploy":
        present |= {"every_deploy", *_of_deploy(action, app, old, deliverable)}
        levels = [each.removeprefix(RISK) for each in policy if each.startswith(RISK)]
        if any(at_least(inspected.risk, level) for level in levels):
            present.add("risk")
            policy = (*policy, "risk")
    if action.kind == "rollback":
        present.add("rollback")
    if action.kind == "remove":
        present.add("removal")
        if action.data:
            present.add("data_touched")
    if action.trigger == "heal" and action.kind == "deploy":
        present.add("heal")
    return needed(present, policy)


def _of_deploy(
    action: Action, app: App | None, old: Release | None, deliverable: Deliverable | None
) -> Iterator[Occasion]:
    if app is None or not app.serving:
        yield "first_deploy"
    if old is not None and deliverable is not None:
        before, after = old.deliverable.source.packages, deliverable.source.packages
        if set(after) - set(before):
            yield "new_dependency"
    if action.replace:
        yield "schema_change"
        yield "data_touched"


async def approved(
    steps: Steps, dock: Dock, action: Action, dossier: Dossier, number: int
) -> Decision:
    """What a person says to an action, or what holds where nobody answers in time.

    Raises Waiting where nobody has said anything yet: the run leaves its process.
    """
    name = f"{action.run}.a{number}"

    async def ask() -> str:
        now = dock.clock.now()
        until = datetime.fromisoformat(now) + timedelta(seconds=dock.asking.seconds)
        request = dock.approvals.put(
            ApprovalRequest(
                id=name,
                run=action.run,
                app=action.app,
                by=action.by,
                dossier=dossier,
                asked=now,
                until=until.isoformat(timespec="microseconds"),
                unanswered="approve" if dock.asking.unanswered == "approve" else "reject",
            )
        )
        return request.until

    until = await dock.durable.step(f"ask {name}", ask, str)
    await steps.tell(
        "approval.asked",
        key=name,
        data={"id": name, "what": dossier.what, "why": list(dossier.occasions), "until": until},
    )
    try:
        given = decision_in(await dock.durable.receive(name, until))
    except Waiting as waiting:
        told = f"{waiting} for a person's word: twinsmith approve {name}, or reject"
        raise Waiting(told, topic=waiting.topic, until=waiting.until) from waiting
    said = given or Decision(
        said="approve" if dock.asking.unanswered == "approve" else "reject",
        by="twinsmith",
        at=until,
        note="nobody answered in time",
    )
    await steps.tell(
        "approval.decided",
        key=name,
        data={"id": name, "said": said.said, "by": said.by, "note": said.note},
    )
    return said


def _cost(deliverable: Deliverable | None) -> str:
    here = "the action itself asks no model"
    built = deliverable.built if deliverable is not None else ""
    return f"{here}; the program took {built}" if built else here


def dossier_of(
    action: Action,
    why: tuple[Occasion, ...],
    old: Release | None,
    deliverable: Deliverable | None,
    inspected: Inspected,
) -> Dossier:
    """Everything that a person needs to decide about an action."""
    new = deliverable.source if deliverable is not None else None
    before = old.deliverable.source.files if old is not None else {}
    checks = deliverable.probes.checks if deliverable is not None else ()
    return Dossier(
        what=f"{action.title} on {action.host}",
        occasions=why,
        diff=diff(before, new.files) if new is not None else "",
        findings=inspected.findings,
        risk=inspected.risk,
        cost=_cost(deliverable),
        evidence=(
            *action.about,
            *([f"built by run {new.run}: {new.task}"] if new is not None and new.run else []),
            *(f"accepted by: {each.name}" for each in checks),
        ),
    )
