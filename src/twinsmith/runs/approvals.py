"""Requests for a person's word, and what is said to them, from any process."""

from collections.abc import Sequence
from pathlib import Path

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ConfigError, Conflict, Forbidden, Unknown
from twinsmith.core.events import SYSTEM
from twinsmith.core.operating.action import TUNABLE, Action
from twinsmith.core.operating.modified import AskedFor, asked_for
from twinsmith.core.people.approval import ApprovalRequest, Decision, Said, may_decide
from twinsmith.runs.book import Book
from twinsmith.runs.package import result_in
from twinsmith.runs.promotion import decided, is_experiment


def requests(book: Book, *, decided: bool = False) -> tuple[ApprovalRequest, ...]:
    """Requests that are open, oldest first; with `decided`, all there ever were."""
    from twinsmith.wiring.delivering import approvals_of

    now = SystemClock().now()
    known = approvals_of(book.settings).listed()
    return tuple(
        each for each in known if decided or (each.decision is None and not each.overdue(now))
    )


def request_named(book: Book, name: str) -> ApprovalRequest:
    """The request of that name, or the only one whose name ends so; Unknown where there is none."""
    from twinsmith.wiring.delivering import approvals_of

    return _found(approvals_of(book.settings).listed(), name)


def release_of(book: Book, request: ApprovalRequest) -> AskedFor:
    """What a request is about as it stands now, after all that people changed of it before."""
    from twinsmith.wiring.delivering import approvals_of

    action = book.given(request.run)
    if not isinstance(action, Action):
        raise ConfigError(f"run {request.run} is no action, so nothing of it can be changed")
    earlier = [
        each.decision
        for each in approvals_of(book.settings).listed()
        if each.run == request.run and each.asked < request.asked and each.decision is not None
    ]
    return asked_for(action, earlier)


async def decide(
    book: Book,
    name: str,
    said: Said,
    *,
    note: str = "",
    source: Path | None = None,
    files: dict[str, str] | None = None,
    terms: Sequence[str] = (),
) -> ApprovalRequest:
    """Say something to a request; ConfigError where it is not open, or the person may not."""
    from twinsmith.wiring.delivering import approvals_of

    approvals, now = approvals_of(book.settings), SystemClock().now()
    request = _found(approvals.listed(), name)
    policy = book.settings.values.approvals
    who = book.actor.signature
    why_not = may_decide(request, who, allowed=policy.by, own=policy.own)
    if why_not:
        raise Forbidden(f"request {request.id}: {why_not}")
    if request.overdue(now):
        raise Conflict(
            f"request {request.id} was open until {request.until[:16]}; {request.unanswered} holds"
        )
    if is_experiment(request) and said == "modify":
        raise ConfigError(f"request {request.id} is about the winner of an experiment: yes or no")
    if source is not None:
        files = result_in(book, str(source))[0]
    decision = Decision(
        said=said,
        by=who,
        at=now,
        note=book.settings.masking.text(" ".join(note.split())),
        files=files,
        terms=terms_in(terms),
    )
    if request.decision is not None or not approvals.decide(request.id, decision):
        kept = approvals.get(request.id)
        told = f"{kept.decision.said} by {kept.decision.by}" if kept and kept.decision else "late"
        raise Conflict(f"request {request.id} is decided already: {told}")
    data = {"id": request.id, "said": said, "note": decision.note, "app": request.app}
    await book.tell(SYSTEM, "approval.decided", {**data}, key=f"approval.decided:{request.id}")
    request = approvals.get(request.id) or request
    if is_experiment(request):
        await decided(book, request)
    return request


def terms_in(given: Sequence[str]) -> dict[str, float] | None:
    """Terms as a person types them: `canary_share=0`."""
    found: dict[str, float] = {}
    for each in given:
        name, _, value = each.partition("=")
        if name not in TUNABLE:
            known = ", ".join(sorted(TUNABLE))
            raise ConfigError(f"{name!r} is no term of a release; one of {known}")
        try:
            found[name] = float(value)
        except ValueError:
            raise ConfigError(f"--set {each!r}: {value!r} is no number") from None
    return found or None


def _found(records: Sequence[ApprovalRequest], name: str) -> ApprovalRequest:
    exact = [each for each in records if each.id == name]
    matches = exact or [each for each in records if name and each.id.endswith(name)]
    if len(matches) > 1:
        names = ", ".join(each.id for each in matches[-5:])
        raise ConfigError(f"request {name!r} could be {names}; give more of it")
    if not matches:
        raise Unknown(f"request {name!r} is not known; twinsmith approvals lists them")
    return matches[0]
