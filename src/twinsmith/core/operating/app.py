"""Apps and their releases: which version serves, which one is known to be good."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.instance import HostName, Image

ReleaseState = Literal["trying", "serving", "replaced", "refused", "rolled back", "cancelled"]
Wanted = Literal["running", "stopped"]
MOST_DIFF = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """An app: a name and an address behind which one release at a time serves."""

    name: str
    host: HostName
    port: int
    """Its port on the loopback, at which the proxy takes requests."""
    serving: int = 0
    """The number of the release that serves; 0: none does yet."""
    good: int = 0
    """The last release that was still well after its soak: what a rollback goes back to."""
    wanted: Wanted = "running"
    node: str = ""
    """The data folder whose machine runs it."""

    @property
    def data(self) -> str:
        """The name of its data volume, which all its releases share."""
        return self.name

    @property
    def url(self) -> str:
        """The address at which people reach it."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One version of an app, with everything that is needed to start it again."""

    app: str
    number: int
    run: str
    """The run that released it."""
    deliverable: Deliverable
    parent: int = 0
    """The release that served when this one was begun."""
    state: ReleaseState = "trying"
    reason: str = ""
    by: str = ""
    at: str = ""
    image: Image | None = None
    config: str = ""
    """The SHA-256 of the settings that it was started with."""


def next_number(releases: Collection[Release]) -> int:
    """The number of an app's next release."""
    return max((each.number for each in releases), default=0) + 1


def served(
    app: App, releases: Sequence[Release], number: int, *, left: ReleaseState
) -> tuple[App, tuple[Release, ...]]:
    """The app and its releases once `number` serves; the one that served before is `left`.

    A good one that was rolled back is good no more: what serves now is, if it once was replaced.
    """
    changed, good = [], app.good
    if left == "rolled back" and app.good == app.serving != number:
        once = any(each.number == number and each.state == "replaced" for each in releases)
        good = number if once else 0
    for each in releases:
        if each.number == number:
            changed.append(replace(each, state="serving", reason=""))
        elif each.state == "serving":
            changed.append(replace(each, state=left))
        else:
            changed.append(each)
    return replace(app, serving=number, wanted="running", good=good), tuple(changed)


def rollback_target(app: App, releases: Sequence[Release], to: int) -> Release:
    """The release that a rollback goes to: `to`, else the last known good one before this one.

    ConfigError where there is none.
    """
    known = {each.number: each for each in releases if each.image is not None}
    if to:
        if to not in known:
            numbers = ", ".join(map(str, sorted(known))) or "none"
            raise ConfigError(
                f"app {app.name} has no release {to} that could serve; there are: {numbers}"
            )
        return known[to]
    if app.good and app.good != app.serving and app.good in known:
        return known[app.good]
    serving = known.get(app.serving)
    once = [n for n, each in known.items() if each.state in ("replaced", "rolled back")]
    earlier = [n for n in once if n < app.serving]
    if serving is None or not earlier:
        raise ConfigError(
            f"app {app.name} has nothing to go back to: only release {app.serving} ever served; "
            f"see: twinsmith releases {app.name}"
        )
    parent = serving.parent
    return known[parent if parent in earlier else max(earlier)]


def diff(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """What changed between the files of two versions, as a unified diff."""
    lines: list[str] = []
    for name in sorted({*old, *new}):
        before, after = old.get(name, ""), new.get(name, "")
        if before != after:
            lines += difflib.unified_diff(
                before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
            )
    return "\n".join(lines)[:MOST_DIFF]
