"""What is to be done with an app: one action, with all that it needs, in the order it was given."""

from dataclasses import dataclass
from typing import Literal

from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.instance import MEMORY_MB, PROCESSES, HostName

ActionKind = Literal["deploy", "rollback", "stop", "start", "restart", "remove", "hand over"]
ActionState = Literal["asking", "queued", "running", "done", "refused", "cancelled"]
OVER: tuple[ActionState, ...] = ("done", "refused", "cancelled")
Trigger = Literal["person", "heal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a release: limits, how much traffic is risked on it, for how long."""

    memory_mb: int = MEMORY_MB
    processes: int = PROCESSES
    ready_seconds: float = 30.0
    canary_share: int = 10
    """The share of requests, in hundredths, that a new version gets at first; 0: no canary."""
    canary_seconds: float = 5.0
    soak_seconds: float = 30.0
    drain_seconds: float = 20.0
    battery: bool = True
    shared: tuple[str, ...] = ()
    """The paths of what all users of the service share by design."""


TUNABLE = tuple(name for name in Terms.__slots__ if name != "shared")
"""The terms that a person may change with a number while a release waits for an approval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do with an app."""

    run: str
    kind: ActionKind
    app: str
    host: HostName = "local"
    port: int = 0
    """The port that a person asked for; 0: any that is free."""
    deliverable: Deliverable | None = None
    to: int = 0
    """The release that a rollback goes to; 0: the last known good one."""
    replace: bool = False
    """Whether the old version is stopped first, because both cannot run on the same data."""
    data: bool = False
    """Whether a removal takes the app's data as well."""
    by: str = ""
    trigger: Trigger = "person"
    about: tuple[str, ...] = ()
    """What a person who is asked about it should know, a line each: the story of an incident."""
    terms: Terms = Terms()
    trace: str = ""
    """The place in a trace that it goes on at, as a `traceparent`; empty: one begins with it."""
    link: str = ""
    """Where in another trace it was asked for; empty: in the same."""

    @property
    def title(self) -> str:
        """The action in a few words."""
        to = f" to {self.to}" if self.to else ""
        return f"{self.kind} {self.app}{to}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """An action in the execution queue; `place` grows with every one that is let in."""

    run: str
    app: str
    kind: ActionKind
    state: ActionState
    place: int = 0
    by: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOutcome:
    """How an action ended."""

    run: str
    app: str
    kind: ActionKind
    done: bool
    reason: str
    release: int = 0
    """The release that serves now; 0: none."""
    url: str = ""


def before(mine: Queued, queue: tuple[Queued, ...]) -> tuple[Queued, ...]:
    """The actions of the same app that come first."""
    return tuple(
        each
        for each in queue
        if each.app == mine.app
        and each.run != mine.run
        and each.state in ("queued", "running")
        and 0 < each.place < mine.place
    )
