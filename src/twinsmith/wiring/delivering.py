"""From settings to what deliveries need: hosts, the proxy, records, gates, the policy."""

import hashlib
import os
import socket
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.instance import HostName
from twinsmith.flow.traced import UNTOLD
from twinsmith.settings import Settings
from twinsmith.wiring.running import node_of
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from twinsmith.adapters.proxy.standing import StandingProxy
    from twinsmith.core.operating.action import Terms
    from twinsmith.flow.deliver.dock import Dock, Hosting
    from twinsmith.ports import (
        ActionQueue,
        Approvals,
        Apps,
        Durable,
        Journal,
        Overrides,
        Releases,
        SecretBox,
        Telemetry,
    )

PORTS = 1000


def apps_of(settings: Settings) -> "Apps":
    """The apps of the database that all share."""
    from twinsmith.adapters.deliveries.tables import AppTable

    return AppTable(shared_url(settings))


def releases_of(settings: Settings) -> "Releases":
    """The releases of all apps."""
    from twinsmith.adapters.deliveries.tables import ReleaseTable

    return ReleaseTable(shared_url(settings))


def queue_of_actions(settings: Settings) -> "ActionQueue":
    """The execution queue."""
    from twinsmith.adapters.deliveries.tables import ActionTable

    return ActionTable(shared_url(settings))


def approvals_of(settings: Settings) -> "Approvals":
    """The requests for a person's word."""
    from twinsmith.adapters.desk.approvals import ApprovalTable

    return ApprovalTable(shared_url(settings))


def overrides_of(settings: Settings) -> "Overrides":
    """What people decided over the head of every automatic action."""
    from twinsmith.adapters.deliveries.tables import OverrideTable

    return OverrideTable(shared_url(settings))


def secrets_of(settings: Settings) -> "SecretBox":
    """The secrets of apps, in files of this data folder."""
    from twinsmith.adapters.deliveries.secret_folder import SecretFolder

    return SecretFolder(settings.home / "apps" / "secrets")


def terms_of(settings: Settings) -> "Terms":
    """The terms of releases that the settings give."""
    from twinsmith.core.operating.action import Terms

    given = settings.values.deploy
    return Terms(**{name: getattr(given, name) for name in Terms.__slots__})


def dock_of(
    settings: Settings, durable: "Durable", journal: "Journal", telemetry: "Telemetry" = UNTOLD
) -> "Dock":
    """Everything outside that deliveries need."""
    from dataclasses import replace

    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.deliveries.visitor import SocketVisitor
    from twinsmith.adapters.sandbox.examined import SandboxExaminer
    from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS
    from twinsmith.flow.deliver.dock import Asking, Dock
    from twinsmith.wiring.packaging import inventory, pinned, scanner_of
    from twinsmith.wiring.sandbox import limits_of, sandbox_of

    limits = replace(limits_of(settings), cpu_seconds=CPU_SECONDS, probe_seconds=PROBE_SECONDS)
    given = settings.values.approvals
    sandbox = sandbox_of(settings)
    return Dock(
        hosting=cache(partial(hosting_of, settings)),
        proxy=proxy_of(settings),
        examiner=SandboxExaminer(sandbox, limits),
        visitor=SocketVisitor(),
        scanner=scanner_of(settings, sandbox),
        apps=apps_of(settings),
        releases=releases_of(settings),
        queue=queue_of_actions(settings),
        approvals=approvals_of(settings),
        overrides=overrides_of(settings),
        secrets=secrets_of(settings),
        inventory=inventory(),
        pins=pinned(),
        free_port=partial(free_port, settings.values.hosting.first_port),
        asking=Asking(needed=given.needed, seconds=given.wait_seconds, unanswered=given.unanswered),
        node=node_of(settings),
        durable=durable,
        journal=journal,
        clock=SystemClock(),
        telemetry=telemetry,
    )


def hosting_of(settings: Settings, host: HostName) -> "Hosting":
    """One kind of host, with its images and its volumes."""
    from twinsmith.flow.deliver.dock import Hosting

    folder = settings.home / "apps"
    if host == "local":
        from twinsmith.adapters.hosting.local_host import LocalHost
        from twinsmith.adapters.hosting.local_images import LocalImages
        from twinsmith.adapters.hosting.local_volumes import LocalVolumes
        from twinsmith.adapters.sandbox.layers import Layers

        images = LocalImages(folder / "images", Layers(settings.sandbox_folder / "layers"))
        volumes = LocalVolumes(folder / "volumes")
        sockets = sockets_of(settings) / "i"
        return Hosting(
            images=images,
            host=LocalHost(folder / "instances", sockets, images, volumes),
            volumes=volumes,
        )
    from twinsmith.adapters.hosting.engine_base import EngineBase
    from twinsmith.adapters.hosting.engine_client import EngineClient
    from twinsmith.adapters.hosting.engine_host import EngineHost
    from twinsmith.adapters.hosting.engine_images import EngineImages
    from twinsmith.adapters.hosting.engine_volumes import EngineVolumes
    from twinsmith.adapters.sandbox import seccomp
    from twinsmith.core.operating.containerfile import BASE

    given, home, place = settings.values.hosting, str(settings.home), sockets_of(settings)
    address = given.docker if host == "docker" else given.podman
    client = EngineClient(host, place / "engine", address=address)
    kept = settings.sandbox_folder / "bases"
    return Hosting(
        images=EngineImages(client, EngineBase(client, kept, base=given.base or BASE), kept),
        host=EngineHost(client, place / "c", home=home, profile=seccomp.profile()),
        volumes=EngineVolumes(client, home=home),
    )


def proxy_of(settings: Settings) -> "StandingProxy":
    """The proxy that takes the requests of all apps: Caddy, else the small one."""
    from twinsmith.adapters.proxy.caddy import caddy_proxy
    from twinsmith.adapters.proxy.small import small_proxy

    folder = sockets_of(settings) / "proxy"
    return caddy_proxy(folder) if _carrier(settings, folder) == "caddy" else small_proxy(folder)


def _carrier(settings: Settings, folder: Path) -> str:
    """The proxy that is to be used; chosen automatically, it is the same as long as it runs."""
    from twinsmith.adapters.proxy.caddy import why_not_caddy

    wanted, kept = settings.values.hosting.proxy, folder / "carrier"
    if wanted != "auto":
        return wanted
    if not kept.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        kept.write_text("small" if why_not_caddy() else "caddy")
    return kept.read_text()


def sockets_of(settings: Settings) -> Path:
    """The folder of this data folder's sockets: of a short path, and for nobody else.

    A socket's path may have 107 bytes; the data folder's own may be longer.
    """
    name = f"twinsmith-{hashlib.sha256(str(settings.home).encode()).hexdigest()[:12]}"
    own = Path(f"/run/user/{os.geteuid()}")
    places = (Path("/run"), own, Path("/tmp"))  # noqa: S108
    folder = next(each for each in places if os.access(each, os.W_OK)) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    seen = folder.lstat()
    if folder.is_symlink() or seen.st_uid != os.geteuid() or seen.st_mode & 0o077:
        raise ConfigError(f"{folder} belongs to somebody else, or is open to others; remove it")
    return folder


def free_port(first: int, taken: Collection[int]) -> int:
    """The first port from `first` on that no app has and nobody listens at."""
    for port in range(first, first + PORTS):
        if port not in taken and is_free(port):
            return port
    raise ConfigError(f"no port from {first} to {first + PORTS} is free; set hosting.first_port")


def is_free(port: int) -> bool:
    """Whether nobody listens at a port of the loopback."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def soon(seconds: float) -> str:
    """The moment so many seconds from now, ISO 8601 in UTC."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="microseconds")
