"""Deliveries remembered for as long as the process lives: the fakes."""

from collections.abc import Mapping
from dataclasses import replace

from twinsmith.core.operating.action import OVER, ActionState, Queued
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.canary import Exchange
from twinsmith.core.people.approval import ApprovalRequest, Decision
from twinsmith.core.people.override import Override


class MemoryApps:
    """Apps in a dictionary; releases that are to be forgotten with them lie beside."""

    def __init__(self, releases: "MemoryReleases") -> None:
        self._apps: dict[str, App] = {}
        self._releases = releases

    def get(self, name: str) -> App | None:
        """The app of that name."""
        return self._apps.get(name)

    def listed(self) -> tuple[App, ...]:
        """Every app, by name."""
        return tuple(self._apps[name] for name in sorted(self._apps))

    def save(self, app: App) -> None:
        """Keep an app; one of the same name is replaced."""
        self._apps[app.name] = app

    def remove(self, name: str) -> None:
        """Forget an app and its releases."""
        self._apps.pop(name, None)
        self._releases.forget(name)


class MemoryReleases:
    """Releases in a dictionary."""

    def __init__(self) -> None:
        self._releases: dict[tuple[str, int], Release] = {}

    def save(self, *releases: Release) -> None:
        """Keep releases; those of the same numbers are replaced."""
        self._releases |= {(each.app, each.number): each for each in releases}

    def listed(self, app: str) -> tuple[Release, ...]:
        """The releases of an app, oldest first."""
        return tuple(self._releases[key] for key in sorted(self._releases) if key[0] == app)

    def forget(self, app: str) -> None:
        """Forget the releases of an app."""
        self._releases = {key: each for key, each in self._releases.items() if key[0] != app}


class MemoryActions:
    """The execution queue in a dictionary."""

    def __init__(self) -> None:
        self._actions: dict[str, Queued] = {}

    def put(self, action: Queued) -> Queued:
        """Keep an action that was asked for; one that is known stays as it is."""
        return self._actions.setdefault(action.run, action)

    def admit(self, run: str) -> Queued:
        """Let an action into the queue, behind all that are in it; once in, it keeps its place."""
        known = self._actions[run]
        if not known.place:
            last = max(each.place for each in self._actions.values())
            self._actions[run] = replace(known, place=last + 1, state="queued")
        return self._actions[run]

    def change(self, run: str, state: ActionState) -> None:
        """Change the state of an action; one that is over stays so."""
        known = self._actions.get(run)
        if known is not None and known.state not in OVER:
            self._actions[run] = replace(known, state=state)

    def listed(self, *, over: bool = False) -> tuple[Queued, ...]:
        """Actions that are not over, in their order; with `over`, all there ever were."""
        wanted = [each for each in self._actions.values() if over or each.state not in OVER]
        return tuple(sorted(wanted, key=lambda each: (not each.place, each.place, each.at)))


class MemoryApprovals:
    """Requests for a person's word in a dictionary."""

    def __init__(self) -> None:
        self._requests: dict[str, ApprovalRequest] = {}

    def put(self, request: ApprovalRequest) -> ApprovalRequest:
        """Keep a request; one that is known stays as it is, and is given back."""
        return self._requests.setdefault(request.id, request)

    def get(self, name: str) -> ApprovalRequest | None:
        """The request of that name."""
        return self._requests.get(name)

    def decide(self, name: str, decision: Decision) -> bool:
        """Keep a decision; False where it was decided already."""
        known = self._requests.get(name)
        if known is None or known.decision is not None:
            return False
        self._requests[name] = replace(known, decision=decision)
        return True

    def listed(self) -> tuple[ApprovalRequest, ...]:
        """Every request, oldest first."""
        return tuple(sorted(self._requests.values(), key=lambda each: (each.asked, each.id)))


class MemoryOverrides:
    """Overrides in a list."""

    def __init__(self) -> None:
        self._overrides: list[Override] = []

    def put(self, override: Override) -> None:
        """Keep an override; it holds at once."""
        self._overrides.append(override)

    def lift(self, scope: str, when: str) -> int:
        """Lift all overrides of a scope; how many there were."""
        held = [each for each in self._overrides if each.scope == scope and not each.lifted]
        self._overrides = [
            replace(each, lifted=when) if each in held else each for each in self._overrides
        ]
        return len(held)

    def listed(self) -> tuple[Override, ...]:
        """Every override, oldest first."""
        return tuple(self._overrides)


class MemorySecrets:
    """Secrets in a dictionary; the key of an app is its name turned round."""

    def __init__(self) -> None:
        self._secrets: dict[str, dict[str, str]] = {}

    def of(self, app: str) -> Mapping[str, str]:
        """The secrets of an app."""
        return {"SECRET_KEY": f"key-of-{app[::-1]}", **self._secrets.get(app, {})}

    def put(self, app: str, secrets: Mapping[str, str]) -> None:
        """Keep secrets of an app beside those that it has."""
        self._secrets.setdefault(app, {}).update(secrets)

    def remove(self, app: str) -> None:
        """Forget all secrets of an app."""
        self._secrets.pop(app, None)


class CannedVisitor:
    """Answers in the place of instances: statuses by the beginning of the address and path."""

    def __init__(self, statuses: Mapping[str, int] | None = None) -> None:
        self.statuses = dict(statuses or {})
        """Statuses by a part of `address path`; the longest that is found counts, else 200."""
        self.good_first: dict[str, int] = {}
        """How often 200 is answered before that, by the same parts."""

    async def get(self, address: str, path: str, *, seconds: float) -> Exchange:
        """The status that was given for this address and path."""
        del seconds
        asked = f"{address} {path}"
        found = sorted((part for part in self.statuses if part in asked), key=len)
        status = self.statuses[found[-1]] if found else 200
        if found and self.good_first.get(found[-1], 0) > 0:
            self.good_first[found[-1]] -= 1
            status = 200
        return Exchange(path=path, status=status, seconds=0.001)
