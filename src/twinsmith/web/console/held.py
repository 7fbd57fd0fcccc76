"""What a person's override would reach just now, and what it leads to, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from twinsmith.core.operating.action import Queued
from twinsmith.core.operating.app import App
from twinsmith.core.people.override import ALL, Command, Override, holding
from twinsmith.core.progress import several

STAYS = "What serves goes on serving."
LIFTED = "You can lift it at any time; what is held goes on then where it stood."
GONE = "The hold can be lifted; cancelled actions cannot be brought back."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How much a command with a scope touches just now."""

    scope: str
    apps: tuple[App, ...]
    actions: tuple[Queued, ...]
    override: Override | None
    """The override that holds it; None where nothing does."""
    own: bool = False
    """Whether it is held by an override of its own, and not only by one of everything."""


def reached(
    scope: str, apps: Sequence[App], queue: Sequence[Queued], overrides: Sequence[Override]
) -> Reach:
    """What a command with a scope, an app or `all`, touches just now."""
    everything = scope == ALL
    return Reach(
        scope=scope,
        apps=tuple(each for each in apps if everything or each.name == scope),
        actions=tuple(each for each in queue if everything or each.app == scope),
        override=holding(overrides, scope),
        own=any(each.scope == scope and not each.lifted for each in overrides),
    )


def consequence(command: Command, reach: Reach) -> str:
    """What a command leads to, before it is given."""
    what = several(len(reach.apps), "app") if reach.scope == ALL else reach.scope
    actions = several(len(reach.actions), "action")
    match command:
        case "pause":
            return (
                f"Holds {what} and {actions} under way or queued: nothing heals, fixes, releases "
                f"or restarts by itself. {STAYS} {LIFTED}"
            )
        case "cancel":
            return f"Cancels {actions} of {what} for good, and holds it. {STAYS} {GONE}"
        case "rollback":
            return (
                f"Lets {_before(reach)} of {what} serve at once, cancels {actions} of it, and "
                f"holds it. {GONE}"
            )
        case "resume" | "release":
            return (
                f"Lifts what holds {what}: what is automatic goes on, and with it {actions}. "
                "You can hold it again."
            )


def _before(reach: Reach) -> str:
    """The release that a rollback of an app goes to, as far as its record alone tells."""
    app = reach.apps[0]
    if app.good and app.good != app.serving:
        return f"release {app.good}, the last one known to be good,"
    return f"the release before {app.serving}"
