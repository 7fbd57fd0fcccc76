"""What deliveries need to be remembered by: apps, releases, the queue, people's words, secrets."""

from collections.abc import Mapping
from typing import Protocol

from twinsmith.core.operating.action import ActionState, Queued
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.canary import Exchange
from twinsmith.core.operating.inspected import Inspected
from twinsmith.core.operating.source import Source
from twinsmith.core.people.approval import ApprovalRequest, Decision
from twinsmith.core.people.override import Override


class Apps(Protocol):
    """Keeps apps; only the action whose turn it is changes one."""

    def get(self, name: str) -> App | None:
        """The app of that name."""
        ...

    def listed(self) -> tuple[App, ...]:
        """Every app, by name."""
        ...

    def save(self, app: App) -> None:
        """Keep an app; one of the same name is replaced."""
        ...

    def remove(self, name: str) -> None:
        """Forget an app and its releases."""
        ...


class Releases(Protocol):
    """Keeps the releases of apps."""

    def save(self, *releases: Release) -> None:
        """Keep releases, all or none; those of the same numbers are replaced."""
        ...

    def listed(self, app: str) -> tuple[Release, ...]:
        """The releases of an app, oldest first."""
        ...


class ActionQueue(Protocol):
    """Keeps the order in which actions are done, one at a time for an app."""

    def put(self, action: Queued) -> Queued:
        """Keep an action that was asked for; one that is known stays as it is."""
        ...

    def admit(self, run: str) -> Queued:
        """Let an action into the queue, behind all that are in it; once in, it keeps its place."""
        ...

    def change(self, run: str, state: ActionState) -> None:
        """Change the state of an action; one that is over stays so."""
        ...

    def listed(self, *, over: bool = False) -> tuple[Queued, ...]:
        """Actions that are not over, in their order; with `over`, all there ever were."""
        ...


class Approvals(Protocol):
    """Keeps requests for a person's word; the first decision is the one that counts."""

    def put(self, request: ApprovalRequest) -> ApprovalRequest:
        """Keep a request; one that is known stays as it is, and is given back."""
        ...

    def get(self, name: str) -> ApprovalRequest | None:
        """The request of that name."""
        ...

    def decide(self, name: str, decision: Decision) -> bool:
        """Keep a decision as a message to the run; False where it was decided or is too late."""
        ...

    def listed(self) -> tuple[ApprovalRequest, ...]:
        """Every request, oldest first."""
        ...


class Overrides(Protocol):
    """Keeps what people decided over the head of every automatic action."""

    def put(self, override: Override) -> None:
        """Keep an override; it holds at once."""
        ...

    def lift(self, scope: str, when: str) -> int:
        """Lift all overrides of a scope; how many there were."""
        ...

    def listed(self) -> tuple[Override, ...]:
        """Every override, oldest first."""
        ...


class SecretBox(Protocol):
    """Keeps the secrets of apps, apart from everything else that is kept."""

    def of(self, app: str) -> Mapping[str, str]:
        """The secrets of an app by the names of their variables; a SECRET_KEY is always there."""
        ...

    def put(self, app: str, secrets: Mapping[str, str]) -> None:
        """Keep secrets of an app beside those that it has."""
        ...

    def remove(self, app: str) -> None:
        """Forget all secrets of an app."""
        ...


class Visitor(Protocol):
    """Asks an instance as anybody would."""

    async def get(self, address: str, path: str, *, seconds: float) -> Exchange:
        """One GET of a path at a socket; status 0 where there was no whole answer in time."""
        ...


class Scanner(Protocol):
    """Reads a program and its packages before they are released."""

    async def scan(self, source: Source) -> Inspected:
        """The findings in code, packages, secrets and licences; what cannot be asked is one, too.

        Raises SandboxError only when the sandbox itself is broken.
        """
        ...
