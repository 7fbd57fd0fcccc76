"""Apps of a server: released, done things with, looked after."""

from typing import Literal

from twinsmith.client.shapes import (
    AppShown,
    Deed,
    DeedBegun,
    HealthShown,
    NewApp,
    ReleaseShown,
    Said,
)
from twinsmith.client.wire import Wire, named
from twinsmith.core.operating.incident import Incident

DeedKind = Literal["rollback", "start", "stop", "restart", "remove"]


class Apps:
    """Apps by their names; a deed waits in the execution queue, and its run tells how it ends."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def listed(self) -> tuple[AppShown, ...]:
        """Every app as it stands now."""
        return self._wire.get("apps", tuple[AppShown, ...])

    def get(self, app: str) -> AppShown:
        """One app as it stands now."""
        return self._wire.get(f"apps/{named(app)}", AppShown)

    def deploy(self, wanted: NewApp) -> DeedBegun:
        """Release what a run has built, behind all gates."""
        return self._wire.post("apps", DeedBegun, wanted)

    def releases(self, app: str) -> tuple[ReleaseShown, ...]:
        """The releases of an app, oldest first, and what became of each."""
        return self._wire.get(f"apps/{named(app)}/releases", tuple[ReleaseShown, ...])

    def source(self, app: str, release: int) -> dict[str, str]:
        """The files of a release by their names."""
        return self._wire.get(f"apps/{named(app)}/releases/{release}/source", dict[str, str])

    def logs(self, app: str, *, lines: int = 200) -> str:
        """The last lines that the serving release wrote, without its secrets."""
        return self._wire.content(f"apps/{named(app)}/logs", {"lines": lines}).decode(
            errors="replace"
        )

    def health(self, app: str) -> HealthShown:
        """How an app did in the last minutes."""
        return self._wire.get(f"apps/{named(app)}/health", HealthShown)

    def do(
        self, kind: DeedKind, app: str, *, to: int = 0, data: bool = False, reason: str = ""
    ) -> DeedBegun:
        """Begin a deed, with its reason: `to` is for a rollback, `data` for a removal."""
        wanted = Deed.of(to=to, data=data, reason=reason)
        return self._wire.post(f"apps/{named(app)}/{kind}", DeedBegun, wanted)

    def rollback(self, app: str, *, to: int = 0) -> DeedBegun:
        """Let an earlier release serve again; 0: the last known good one."""
        return self.do("rollback", app, to=to)

    def start(self, app: str) -> DeedBegun:
        """Start an app again: one release serves afterwards."""
        return self.do("start", app)

    def stop(self, app: str) -> DeedBegun:
        """Stop an app; what is in flight is finished, and its data stays."""
        return self.do("stop", app)

    def restart(self, app: str) -> DeedBegun:
        """Start the serving release of an app anew."""
        return self.do("restart", app)

    def remove(self, app: str, *, data: bool = False) -> DeedBegun:
        """Remove an app; with `data`, its data, too."""
        return self.do("remove", app, data=data)

    def incidents(self, *, every: bool = False, app: str = "") -> tuple[Incident, ...]:
        """Trouble that is not over, oldest first; with `every`, all there ever was."""
        return self._wire.get("incidents", tuple[Incident, ...], {"all": every, "app": app})

    def incident(self, name: str) -> Incident:
        """One incident with all that was seen and done."""
        return self._wire.get(f"incidents/{named(name)}", Incident)

    def close(self, name: str, note: str) -> Incident:
        """Keep that a person has dealt with an incident."""
        return self._wire.post(f"incidents/{named(name)}/close", Incident, Said.of(text=note))
