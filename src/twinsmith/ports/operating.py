"""What is needed to bring a program where it runs, and to keep it there."""

from collections.abc import Collection, Mapping
from typing import Protocol

from twinsmith.core.execution import Execution
from twinsmith.core.operating.instance import Image, Instance, InstanceStatus
from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.reading import Said, Traffic, Usage
from twinsmith.core.operating.route import Route
from twinsmith.core.operating.source import Source
from twinsmith.core.probe import Probes


class Inventory(Protocol):
    """Lists what a program is made of."""

    def sbom(self, source: Source, pins: Collection[Pin]) -> str:
        """The bill of materials of a program and its packages, as CycloneDX JSON."""
        ...


class Images(Protocol):
    """Makes programs ready to run on a host."""

    async def made(self, source: Source, package: Mapping[str, str]) -> Image:
        """The image of a program, built from the files of its package unless it is there already.

        Raises ConfigError where the program cannot be built, HostError where the host is broken.
        """
        ...

    async def remove(self, reference: str) -> None:
        """Remove an image; one that is not there is removed already."""
        ...


class Host(Protocol):
    """Runs instances of programs; each answers HTTP at a Unix socket and reaches nothing else.

    All of these raise HostError where the host itself is broken.
    """

    async def start(self, instance: Instance, secrets: Mapping[str, str]) -> str:
        """Start an instance unless it runs already; the path of the socket it will answer at.

        Secrets are environment variables of the program. One that has ended is started anew.
        """
        ...

    async def stop(self, name: str, *, seconds: float) -> None:
        """Ask an instance to finish, end it after `seconds`, and remove it; its data stays."""
        ...

    async def status(self, name: str) -> InstanceStatus:
        """How an instance stands; `absent` where the host does not know it."""
        ...

    async def logs(self, name: str, *, lines: int) -> str:
        """The last lines that an instance wrote; empty where it wrote none or is not known."""
        ...


class Volumes(Protocol):
    """Keeps the data of apps on a host, whatever becomes of their instances."""

    async def copy(self, source: str, target: str) -> None:
        """Make one volume a copy of another, whatever was in it; an absent one is empty."""
        ...

    async def remove(self, name: str) -> None:
        """Remove a volume with everything in it; one that is not there is removed already."""
        ...

    async def files(self, name: str) -> Mapping[str, bytes]:
        """The plain files of a volume by their names, none larger than 64 MB."""
        ...


class Proxy(Protocol):
    """Takes the requests to all apps; HostError where it cannot be used."""

    async def route(self, route: Route) -> None:
        """Send the requests of an app that way from now on, in one step; starts where it is down.

        Nothing in flight is cut off. ConfigError where something else has the port.
        """
        ...

    async def drop(self, app: str) -> None:
        """Take no more requests for an app; one that has no route has none already."""
        ...

    async def current(self) -> tuple[Route, ...]:
        """The routes by which requests go now, by the names of their apps; none where it is down.

        This is what the running proxy says, not what it was told.
        """
        ...


class Examiner(Protocol):
    """Runs checks against an instance that is up."""

    async def examine(self, address: str, probes: Probes) -> Execution:
        """Run every check on the service at a socket, in a sandbox that reaches nothing else."""
        ...


class Gauge(Protocol):
    """Reads what instances of one host use; cheap enough to be asked every second.

    HostError where the host itself is broken.
    """

    async def read(self, name: str) -> Usage:
        """How an instance stands and what it uses; state `absent` where the host has none."""
        ...

    async def said(self, name: str) -> Said:
        """What an instance wrote since it was asked the last time, by this gauge."""
        ...


class Meter(Protocol):
    """Reads how the requests of people to apps went, from what the proxy keeps of them."""

    async def read(self, app: str) -> Traffic:
        """The requests to an app since it was asked the last time, by this meter."""
        ...

    async def failed(self, app: str) -> tuple[str, ...]:
        """The latest requests that were answered with 500 or above, or not at all, oldest first.

        Each as `GET /cart/total`, as often as it failed.
        """
        ...
