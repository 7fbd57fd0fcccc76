"""What a person decides about, in words: why they are asked, how much changes, how risky it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from twinsmith.core.operating.action import Action, Terms
from twinsmith.core.people.approval import Decision, Occasion

WHY: Mapping[Occasion, str] = {
    "first_deploy": "the first release of this app",
    "every_deploy": "every release is asked about",
    "new_dependency": "it needs a package that it did not need before",
    "data_touched": "data may be changed or lost",
    "schema_change": "both versions cannot run on the same data",
    "risk": "the scan found a risk",
    "rollback": "an earlier release is to serve again",
    "removal": "an app is to be removed",
    "heal": "nobody asked for it: it is to heal an incident",
    "escalation": "nothing automatic helped",
    "promotion": "an experiment was won: new runs are to be worked on so",
}
"""Why a person is asked, as one reads it."""
RISKS: Mapping[str, tuple[str, str]] = {
    "low": ("✓", "good"),
    "medium": ("▲", "waits"),
    "high": ("✕", "bad"),
    "critical": ("✕", "bad"),
}
OUTCOMES = {"approve": "approved", "reject": "rejected", "modify": "modified"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much a diff changes."""

    files: int = 0
    added: int = 0
    removed: int = 0


def size_of(diff: str) -> Size:
    """How many files a unified diff changes, and how many lines come and go."""
    lines = diff.splitlines()
    heads = sum(
        line.startswith("--- ") and after.startswith("+++ ") for line, after in pairwise(lines)
    )
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return Size(files=heads, added=added - heads, removed=removed - heads)


def sign_of(risk: str) -> tuple[str, str]:
    """The shape and the colour of a risk."""
    return RISKS.get(risk, ("○", "plain"))


def outcome(said: str) -> str:
    """What was said as what became of it: `approve` is approved."""
    return OUTCOMES.get(said, said)


def changes_in(decision: Decision) -> tuple[str, ...]:
    """What a person changed of an action, a line each."""
    source = () if decision.files is None else ("the source was edited",)
    return (*source, *(f"{name} = {value:g}" for name, value in (decision.terms or {}).items()))


def approving(action: Action | None, terms: Terms) -> tuple[str, str]:
    """What an approval leads to, and whether it can be undone."""
    match action.kind if action is not None else "":
        case "deploy":
            share = f"{terms.canary_share} % of requests go to it for {terms.canary_seconds:g} s"
            canary = f"{share}, then all" if terms.canary_share else "all requests go to it at once"
            return f"Releases it behind the gates that are left: {canary}.", "You can roll it back."
        case "remove" if action is not None and action.data:
            return (
                f"Removes {action.app}, its releases, its data and its secrets.",
                "This cannot be undone.",
            )
        case "remove" if action is not None:
            return (
                f"Removes {action.app} and its releases; its data stays.",
                "You can deploy it again.",
            )
        case "rollback":
            return "Lets the earlier release serve again, at once.", "You can deploy the later one."
        case _:
            return "Lets it be done, in its turn.", "You can cancel it as long as it is queued."
