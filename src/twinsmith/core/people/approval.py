"""Approvals: which actions need a person's word, what the person is shown, what was said."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Json

Occasion = Literal[
    "first_deploy",
    "every_deploy",
    "new_dependency",
    "data_touched",
    "schema_change",
    "risk",
    "rollback",
    "removal",
    "heal",
    "escalation",
    "promotion",
]
OCCASIONS: tuple[Occasion, ...] = get_args(Occasion)
Said = Literal["approve", "reject", "modify"]
SAID: tuple[Said, ...] = get_args(Said)
Unanswered = Literal["reject", "approve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """Everything that a person needs to decide about an action."""

    what: str
    """The action in a sentence."""
    occasions: tuple[Occasion, ...]
    """Why a person is asked."""
    diff: str = ""
    findings: tuple[str, ...] = ()
    risk: str = ""
    cost: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person decided, who it was, and when; `files` replace the source when modified."""

    said: Said
    by: str
    at: str
    note: str = ""
    files: dict[str, str] | None = None
    terms: dict[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A request for a person's word, as it is kept; times are ISO 8601 in UTC."""

    id: str
    """The run and the number of the request in it: `20261118-101500-a3f9.a1`."""
    run: str
    app: str
    by: str
    """Who wants the action."""
    dossier: Dossier
    asked: str
    until: str
    unanswered: Unanswered = "reject"
    decision: Decision | None = None

    def overdue(self, now: str) -> bool:
        """Whether its time is over without a decision."""
        return self.decision is None and now >= self.until


def needed(present: Collection[Occasion], policy: Collection[str]) -> tuple[Occasion, ...]:
    """Of what an action is, that for which the policy wants a person's word."""
    return tuple(each for each in OCCASIONS if each in present and each in policy)


def may_decide(request: ApprovalRequest, who: str, *, allowed: Collection[str], own: bool) -> str:
    """Why somebody may not decide about a request; empty where they may."""
    name = who.removeprefix("user:")
    if allowed and name not in allowed:
        return f"{name} may not decide this; approvals.by names {', '.join(sorted(allowed))}"
    if not own and who == request.by:
        return f"{name} asked for it, and approvals.own forbids deciding about one's own requests"
    return ""


def message_of(decision: Decision) -> Json:
    """A decision as the message that its run gets."""
    return {
        "said": decision.said,
        "by": decision.by,
        "at": decision.at,
        "note": decision.note,
        "files": dict(decision.files) if decision.files is not None else None,
        "terms": dict(decision.terms) if decision.terms is not None else None,
    }


def decision_in(message: Json) -> Decision | None:
    """The decision that a message brings; None where it brings none."""
    if not isinstance(message, dict) or message.get("said") not in SAID:
        return None
    files, terms = message.get("files"), message.get("terms")
    return Decision(
        said=said_of(str(message["said"])),
        by=str(message.get("by", "")),
        at=str(message.get("at", "")),
        note=str(message.get("note", "")),
        files={str(k): str(v) for k, v in files.items()} if isinstance(files, dict) else None,
        terms=_numbers(terms),
    )


def said_of(text: str) -> Said:
    """What a person says to a request; ConfigError where it is none of the three."""
    for known in SAID:
        if text == known:
            return known
    raise ConfigError(f"{text!r} is no decision; one of {', '.join(SAID)}")


def _numbers(terms: Json) -> dict[str, float] | None:
    if not isinstance(terms, dict):
        return None
    return {str(name): float(v) for name, v in terms.items() if isinstance(v, int | float)}
