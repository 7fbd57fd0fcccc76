"""The small proxy's process: `python -m twinsmith.adapters.proxy.small_server FOLDER`.

It takes orders at a socket in its folder, one line of JSON each, and answers with one.
"""

import asyncio
import errno
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from twinsmith.adapters.proxy.access import AccessLog, access_log
from twinsmith.adapters.proxy.detached import DRAIN_SECONDS
from twinsmith.adapters.proxy.kept import KeptRoutes
from twinsmith.adapters.proxy.ports import LOOPBACK
from twinsmith.adapters.proxy.relay import Door, relay
from twinsmith.adapters.proxy.routes_json import Json, from_json, to_json
from twinsmith.adapters.proxy.slots import slots
from twinsmith.core.operating.route import Route

CONTROL = "small.sock"
PID = "small.pid"
TAKEN = "taken"
CLIENTS = 400
"""Connections at once; each needs two files, of some thousand that a process may open."""


@dataclass(slots=True, kw_only=True)
class Port:
    """An app's open port."""

    route: Route
    door: Door
    server: asyncio.Server


class SmallServer:
    """The open ports of all apps."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports: dict[str, Port] = {}
        self._left: list[Door] = []
        """Closed ports whose last requests are still in flight."""
        self._clients = 0

    async def carry(self, route: Route) -> None:
        """Send the requests of an app that way, from the next one on.

        OSError, and all as before, where its port is taken.
        """
        before = self._ports.get(route.app)
        if before and before.route.port == route.port:
            before.door.slots = slots(route.upstreams)
            before.route = route
            return
        file = access_log(self._folder, route.app)
        door = Door(slots(route.upstreams), before.door.log if before else AccessLog(file))
        server = await self._listening(door, route.port)
        self._ports[route.app] = Port(route=route, door=door, server=server)
        if before:
            self._close(before)

    def leave(self, app: str) -> None:
        """Close the port of an app; what is in flight goes on."""
        if port := self._ports.pop(app, None):
            self._close(port)

    async def order(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Do what one line asks for, and say what runs then, or what is in the way."""
        answer: Json
        try:
            asked = json.loads(await reader.readline())
            for route in from_json(asked.get("carry", [])):
                await self.carry(route)
            for app in asked.get("leave", []):
                self.leave(app)
            answer = {"routes": to_json(port.route for port in self._ports.values())}
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            answer = {"problem": TAKEN if taken else str(error.strerror)}
        except (ValueError, AttributeError) as error:
            answer = {"problem": f"no order: {error}"}
        with suppress(OSError):
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()

    async def finish(self) -> None:
        """Close all ports, and wait for what is in flight."""
        for app in list(self._ports):
            self.leave(app)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while any(door.busy for door in self._left):  # noqa: ASYNC110 - it counts, and ends
                    await asyncio.sleep(0.02)

    async def _listening(self, door: Door, port: int) -> asyncio.Server:
        async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self._clients >= CLIENTS:
                writer.transport.abort()
                return
            self._clients += 1
            try:
                await relay(door, reader, writer)
            finally:
                self._clients -= 1

        return await asyncio.start_server(served, LOOPBACK, port, backlog=1024)

    def _close(self, port: Port) -> None:
        port.server.close()
        port.door.close()
        self._left = [door for door in (*self._left, port.door) if door.busy]


async def serve(folder: Path) -> None:
    """Open the ports of all kept routes, and take orders until a signal comes."""
    small = SmallServer(folder)
    for route in KeptRoutes(folder).routes().values():
        # A port that is taken by now keeps no other app from being served.
        with suppress(OSError):
            await small.carry(route)
    ended = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, ended.set)
    (folder / PID).write_text(str(os.getpid()))
    control = folder / CONTROL
    aside = control.with_suffix(".part")
    aside.unlink(missing_ok=True)
    # Found under its name only once it answers.
    async with await asyncio.start_unix_server(small.order, aside):
        aside.rename(control)
        await ended.wait()
        await small.finish()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
