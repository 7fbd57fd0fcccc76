"""The proxy as Caddy: a process for every app, so that no change to one touches another."""

import asyncio
import json
import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from twinsmith.adapters.proxy.caddy_config import Files, command, config, known, route_of
from twinsmith.adapters.proxy.caddy_control import running_config
from twinsmith.adapters.proxy.detached import (
    PATH,
    Started,
    ask_to_end,
    pid_in,
    start,
    until_ended,
)
from twinsmith.adapters.proxy.links import forget, linked, slot_path, switch
from twinsmith.adapters.proxy.ports import refuse_taken, until_free
from twinsmith.adapters.proxy.routes_json import Json
from twinsmith.adapters.proxy.slots import slots
from twinsmith.adapters.proxy.standing import StandingProxy
from twinsmith.adapters.proxy.walls import walled
from twinsmith.core.errors import ConfigError, HostError
from twinsmith.core.operating.route import Route

INSTALL = "run: apt-get install -y caddy bubblewrap"
START_SECONDS = 20.0
_LONGEST_SOCKET = 107
"""What fits into the address of a Unix socket, in bytes."""


def caddy_proxy(folder: Path, sockets: Path | None = None) -> StandingProxy:
    """The proxy of a data folder, by Caddy; its files and sockets are in `folder`, a short path.

    The sockets of all apps are below `sockets`, the folder around it unless another is given.
    """
    place = Path(os.path.realpath(folder))
    around = place.parent if sockets is None else Path(os.path.realpath(sockets))
    return StandingProxy(place, CaddyCarrier(place, around))


def why_not_caddy() -> str:
    """Nothing where Caddy can be used here, within its walls; else why not, and what next."""
    for program in ("caddy", "bwrap"):
        if not _program(program):
            return f"{program} is not installed; {INSTALL}"
    with tempfile.TemporaryDirectory() as name:
        line = walled(_program("bwrap"), [_program("caddy"), "version"], Path(name), Path(name))
        environment = {"PATH": PATH, "HOME": name}
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"Caddy cannot be walled in here: {done.stderr.strip()[:200]}; see twinsmith doctor"
    return ""


class CaddyCarrier:
    """One Caddy for every app: in `folder`/APP."""

    lacks: tuple[str, ...] = ()

    def __init__(self, folder: Path, sockets: Path) -> None:
        self._folder = folder
        self._sockets = sockets

    async def running(self) -> tuple[Route, ...]:
        """The routes by the configurations of all that run, and the links they follow."""
        routes = []
        for place in self._places():
            _, found = await _living(place)
            if route := _route(found, place):
                routes.append(route)
        return tuple(routes)

    async def carry(self, route: Route) -> None:
        """Lead the slots of an app to its upstreams; start its Caddy where it does not run."""
        self._refuse_unseen(route)
        place = self._folder / route.app
        files, found = await _living(place)
        before = _route(found, place)
        if files is None or found != config(files, route.port):
            if before is None or before.port != route.port:
                refuse_taken(route.app, route.port)
            # Beside the one before, not in it: one that loads a change cuts off what is in flight.
            files = await self._start(place, route, alone=files is None)
        switch(place, slots(route.upstreams))
        for other in known(place):
            if other != files:
                await _end(other)
        if before and before.port != route.port:
            await until_free(before.port)

    async def leave(self, app: str) -> None:
        """Have the Caddy of an app close its port, and end by itself when it has finished."""
        place = self._folder / app
        for files in known(place):
            route = _route(await running_config(files.control), place)
            await _end(files)
            if route:
                await until_free(route.port)
        forget(place)

    async def stop(self) -> None:
        """End every Caddy of this folder, once what is in flight has finished."""
        pids = [await _end(files) for place in self._places() for files in known(place)]
        for pid in pids:
            await until_ended(pid)

    def pids(self) -> dict[str, int]:
        """The process of every app that has one."""
        found = {place.name: known(place) for place in self._places()}
        pids = {app: [_pid(files) for files in each] for app, each in found.items()}
        return {app: max(each) for app, each in pids.items() if any(each)}

    async def _start(self, place: Path, route: Route, *, alone: bool) -> Files:
        programs = {name: _program(name) for name in ("caddy", "bwrap")}
        for name, program in programs.items():
            if not program:
                raise HostError(f"{name} is not installed; {INSTALL}")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if alone:
            switch(place, slots(route.upstreams))
        files = Files(place=place, token=secrets.token_hex(8))
        _refuse_long(files)
        wanted = config(files, route.port)
        files.config.write_text(json.dumps(wanted, indent=1))
        # Whatever it would keep elsewhere it keeps here.
        own = {name: str(place) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        line = command(programs["caddy"], files)
        walls = walled(programs["bwrap"], line, place, self._sockets)
        started = start(walls, place, files.said, own)
        await _until_up(started, files, route)
        return files

    def _refuse_unseen(self, route: Route) -> None:
        for upstream in route.upstreams:
            if not Path(upstream.address).is_relative_to(self._sockets):
                raise ConfigError(
                    f"the socket {upstream.address} of app {route.app} is not below "
                    f"{self._sockets}, and Caddy sees no others; put it there"
                )

    def _places(self) -> list[Path]:
        return sorted(path for path in self._folder.glob("*") if path.is_dir())


def _program(name: str) -> str:
    """The path of a program; empty where it is not installed."""
    return shutil.which(name, path=PATH) or ""


async def _living(place: Path) -> tuple[Files | None, Json | None]:
    """The files and the configuration of the Caddy of an app that runs; none where none does."""
    for files in known(place):
        found = await running_config(files.control)
        if found is not None:
            return files, found
    return None, None


async def _until_up(started: Started, files: Files, route: Route) -> None:
    """Wait until a Caddy listens; what it said where it never does."""
    for _ in range(int(START_SECONDS / 0.02)):
        # It answers once all of its configuration is in force.
        if await running_config(files.control):
            return
        if started.ended:
            break
        await asyncio.sleep(0.02)
    said = started.last_words()
    started.end()
    _remove(files)
    if "address already in use" in said:
        raise ConfigError(
            f"port {route.port} of app {route.app} is taken; end what has it, or give another port"
        )
    raise HostError(f"Caddy does not start for app {route.app}: {said}; see {started.said}")


def _route(found: Json | None, place: Path) -> Route | None:
    """The route that a configuration and the links of an app make."""
    apps = (found or {}).get("apps")
    http = apps.get("http") if isinstance(apps, dict) else None
    servers = http.get("servers") if isinstance(http, dict) else None
    return route_of(servers, place.name, linked(place))


def _pid(files: Files) -> int:
    return pid_in(files.pid, str(files.pid))


async def _end(files: Files) -> int:
    """Ask a Caddy to finish; without its control socket nobody takes it for one that runs."""
    for _ in range(int(START_SECONDS / 0.02)):
        # It answers a moment before it writes down its number.
        if _pid(files) or not await running_config(files.control):
            break
        await asyncio.sleep(0.02)
    pid = ask_to_end(files.pid, str(files.pid))
    _remove(files)
    return pid


def _remove(files: Files) -> None:
    for path in (files.control, files.pid, files.config):
        path.unlink(missing_ok=True)


def _refuse_long(files: Files) -> None:
    longest = max(len(os.fsencode(path)) for path in (files.control, slot_path(files.place, 0)))
    if longest > _LONGEST_SOCKET:
        raise ConfigError(
            f"the proxy's folder {files.place.parent} is {longest - _LONGEST_SOCKET} characters "
            "too long for its sockets; set a shorter data folder"
        )
