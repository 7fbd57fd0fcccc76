"""A host in memory, for tests: images are names, volumes dictionaries, instances small servers."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.instance import SOCKET, Image, Instance, InstanceStatus
from twinsmith.core.operating.log_lines import Listener
from twinsmith.core.operating.reading import Said, Usage
from twinsmith.core.operating.source import Source

DATABASE = "service.db"
Answer = Callable[[Instance, str, str], tuple[int, bytes]]


def healthy(_instance: Instance, _method: str, path: str) -> tuple[int, bytes]:
    """The answer of a service that is well and can nothing else."""
    return (200, b'{"status":"ok"}') if path == "/health" else (404, b"{}")


class MemoryImages:
    """Images by reference, each with the source that it was made of."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}

    async def made(self, source: Source, package: Mapping[str, str]) -> Image:
        """The image of a program."""
        told = json.dumps(sorted(package.items()))
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
        reference = f"memory-app:{digest[:16]}"
        existed = reference in self.sources
        self.sources[reference] = source
        return Image(reference=reference, digest=digest, existed=existed)

    async def remove(self, reference: str) -> None:
        """Remove an image."""
        self.sources.pop(reference, None)


class MemoryVolumes:
    """Volumes by name; each is its files."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, bytes]] = {}

    async def copy(self, source: str, target: str) -> None:
        """Make one volume a copy of another."""
        self.held[target] = dict(self.held.get(source, {}))

    async def remove(self, name: str) -> None:
        """Remove a volume."""
        self.held.pop(name, None)

    async def files(self, name: str) -> Mapping[str, bytes]:
        """The files of a volume."""
        return dict(self.held.get(name, {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An instance as the fake knows it: what was asked for, and how it stands."""

    instance: Instance
    secrets: Mapping[str, str]
    status: InstanceStatus
    log: tuple[str, ...] = ()
    server: asyncio.Server | None = None


class MemoryHost:
    """Instances that answer as `answer` says, at real sockets where there is a folder for them."""

    def __init__(
        self,
        images: MemoryImages,
        volumes: MemoryVolumes,
        *,
        sockets: Path | None = None,
        answer: Answer = healthy,
    ) -> None:
        self._images = images
        self._volumes = volumes
        self._sockets = sockets
        self._answer = answer
        self.standing: dict[str, Standing] = {}

    async def start(self, instance: Instance, secrets: Mapping[str, str]) -> str:
        """Start an instance unless it runs already; the path of its socket."""
        known = self.standing.get(instance.name)
        if known is not None:
            same = (known.instance, known.secrets) == (instance, dict(secrets))
            if same and known.status.state == "running":
                return known.status.address
            await self._close(instance.name)
        if instance.image not in self._images.sources:
            raise ConfigError(f"image {instance.image} is not here; deploy the program anew")
        self._volumes.held.setdefault(instance.data, {}).setdefault(DATABASE, b"")
        address = str((self._sockets or Path("/nowhere")) / instance.name / SOCKET)
        status = InstanceStatus(name=instance.name, state="running", since=_now(), address=address)
        server = await self._serve(instance, address) if self._sockets else None
        self.standing[instance.name] = Standing(
            instance=instance, secrets=dict(secrets), status=status, server=server
        )
        return address

    async def stop(self, name: str, *, seconds: float) -> None:  # noqa: ARG002
        """Stop an instance and forget it."""
        if name in self.standing:
            await self._close(name)
            del self.standing[name]

    async def status(self, name: str) -> InstanceStatus:
        """How an instance stands."""
        known = self.standing.get(name)
        return known.status if known else InstanceStatus(name=name, state="absent")

    async def logs(self, name: str, *, lines: int) -> str:
        """The last lines of an instance."""
        known = self.standing.get(name)
        kept = known.log[-lines:] if known and lines > 0 else ()
        return "".join(f"{line}\n" for line in kept)

    async def end(self, name: str, reason: str) -> None:
        """Let an instance end by itself; one that is to be restarted is."""
        known = self.standing[name]
        again = known.instance.restarts
        if not again:
            await self._close(name)
        status = replace(
            known.status,
            state="running" if again else "exited",
            since=_now(),
            restarts=known.status.restarts + again,
            reason=reason,
            address=known.status.address if again else "",
        )
        self.standing[name] = replace(self.standing[name], status=status)

    def say(self, name: str, line: str) -> None:
        """Let an instance write a line."""
        known = self.standing[name]
        self.standing[name] = replace(known, log=(*known.log, line))

    async def _serve(self, instance: Instance, address: str) -> asyncio.Server:
        Path(address).parent.mkdir(parents=True, exist_ok=True)
        Path(address).unlink(missing_ok=True)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ValueError):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, target, _ = head.split("\r\n", 1)[0].split(" ")
                status, body = self._answer(instance, method, target.partition("?")[0])
                size = f"Content-Length: {len(body)}\r\nConnection: close"
                writer.write(f"HTTP/1.1 {status} \r\n{size}\r\n\r\n".encode() + body)
                await writer.drain()
            writer.close()

        return await asyncio.start_unix_server(serve, address)

    async def _close(self, name: str) -> None:
        server = self.standing[name].server
        if server is not None:
            server.close()
            await server.wait_closed()
            Path(self.standing[name].status.address).unlink(missing_ok=True)
            self.standing[name] = replace(self.standing[name], server=None)


class MemoryGauge:
    """Reads the instances of a MemoryHost; what they use is what a test puts into `uses`."""

    def __init__(self, host: MemoryHost) -> None:
        self._host = host
        self._listeners: dict[str, tuple[Listener, int]] = {}
        self.uses: dict[str, Usage] = {}

    async def read(self, name: str) -> Usage:
        """How an instance stands and what it uses."""
        status = await self._host.status(name)
        used = self.uses.get(name, Usage(state="absent"))
        if status.state == "absent":
            return Usage(state="absent")
        return replace(used, state=status.state, restarts=status.restarts, reason=status.reason)

    async def said(self, name: str) -> Said:
        """What an instance wrote since it was asked the last time, by this gauge."""
        known = self._host.standing.get(name)
        lines = known.log if known else ()
        listener, read = self._listeners.get(name, (Listener(), 0))
        self._listeners[name] = (listener, len(lines))
        return listener.hear(lines[read if read <= len(lines) else 0 :])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
