"""Instances as containers of Docker or Podman: no network, no privileges, a socket in a folder."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from math import ceil
from pathlib import Path

from twinsmith.adapters.hosting.engine_args import (
    LONGEST_SOCKET,
    Engine,
    container_body,
    container_name,
    filtered,
    is_same,
    last_end,
    mark_of,
    moment,
    restarts_of,
    status_of,
)
from twinsmith.adapters.hosting.engine_client import Api, EngineClient, Missing
from twinsmith.core.errors import ConfigError, HostError
from twinsmith.core.operating.instance import SOCKET, Instance, InstanceStatus

MOST_LINES = 10_000
MOST_SAID = 1 << 20
ALONE_SECONDS = 3.0


class EngineHost:
    """Instances on an engine, those of one data folder: `home`.

    `sockets` has a short path and is for this host alone; `profile` is the filter of system calls
    as JSON, which this host makes a little stricter.
    """

    def __init__(self, client: EngineClient, sockets: Path, *, home: str, profile: str) -> None:
        self._client = client
        self._sockets = sockets
        self._mark = mark_of(home)
        self._profile = filtered(profile)

    async def start(self, instance: Instance, secrets: Mapping[str, str]) -> str:
        """Start an instance unless it runs already; the path of its socket."""
        return await self._client.ask(lambda api: self._start_alone(api, instance, secrets))

    async def stop(self, name: str, *, seconds: float) -> None:
        """Ask an instance to finish, end it after `seconds`, and remove it; its data stays."""
        await self._client.ask(lambda api: self._stop_alone(api, name, ceil(seconds)))

    async def status(self, name: str) -> InstanceStatus:
        """How an instance stands."""
        return await self._client.ask(lambda api: self._status(api, name))

    async def logs(self, name: str, *, lines: int) -> str:
        """The last lines that an instance wrote, at most a megabyte."""
        return await self._client.ask(lambda api: self._logs(api, name, lines))

    def _start_alone(self, api: Api, instance: Instance, secrets: Mapping[str, str]) -> str:
        with self._alone(instance.name):
            return self._start(api, instance, secrets)

    def _stop_alone(self, api: Api, name: str, seconds: int) -> None:
        with self._alone(name):
            self._stop(api, name, seconds)

    def _start(self, api: Api, instance: Instance, secrets: Mapping[str, str]) -> str:
        name, socket = container_name(self._mark, instance.name), self._socket(instance.name)
        body = container_body(
            self._client.engine,
            instance,
            secrets,
            mark=self._mark,
            folder=str(socket.parent),
            profile=self._told_profile(),
        )
        try:
            told = api.container(name)
        except Missing:
            told = {}
        if told and is_same(told, body) and _runs(api, name, told):
            return str(socket)
        if told:
            api.remove(name)
        _emptied(socket.parent)
        try:
            api.create(name, body)
        except Missing as error:
            raise ConfigError(
                f"image {instance.image} is not on {self._client.engine} any more; deploy the "
                "program anew"
            ) from error
        try:
            api.start(name)
        except HostError:
            api.remove(name)
            raise
        return str(socket)

    def _stop(self, api: Api, name: str, seconds: int) -> None:
        container = container_name(self._mark, name)
        try:
            _unpaused(api, container, api.container(container))
            api.stop(container, seconds)
        except Missing:
            pass
        finally:
            api.remove(container)
        shutil.rmtree(self._socket(name).parent, ignore_errors=True)

    def _status(self, api: Api, name: str) -> InstanceStatus:
        container = container_name(self._mark, name)
        try:
            told = api.container(container)
        except Missing:
            return InstanceStatus(name=name, state="absent")
        last = last_reason(self._client.engine, api, container, told)
        return status_of(self._client.engine, name, told, str(self._socket(name)), last)

    def _logs(self, api: Api, name: str, lines: int) -> str:
        if lines <= 0:
            return ""
        try:
            said = api.logs(container_name(self._mark, name), min(lines, MOST_LINES))
        except Missing:
            return ""
        return said[-MOST_SAID:].decode(errors="replace")

    def _socket(self, name: str) -> Path:
        path = self._sockets / name / SOCKET
        if len(os.fsencode(path)) > LONGEST_SOCKET:
            raise ConfigError(
                f"the path {path} of a socket has more than {LONGEST_SOCKET} bytes; give the app a "
                "shorter name"
            )
        return path

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Let nobody else of this machine start or stop the instance meanwhile.

        Whoever holds it for long hangs, and must not hold up a person who overrides it.
        """
        self._socket(name)
        _closed(self._sockets)
        with (self._sockets / f".{name}.lock").open("w") as lock:
            deadline = time.monotonic() + ALONE_SECONDS
            while time.monotonic() < deadline:
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(0.02)
            yield

    def _told_profile(self) -> str:
        """The filter as the engine wants it: Docker the text itself, Podman a file."""
        if self._client.engine == "docker":
            return self._profile
        path = self._sockets / "seccomp.json"
        if not path.exists() or path.read_text() != self._profile:
            aside, place = tempfile.mkstemp(dir=self._sockets, prefix=".seccomp.")
            with os.fdopen(aside, "w") as file:
                file.write(self._profile)
            Path(place).rename(path)
        return str(path)


def last_reason(engine: Engine, api: Api, name: str, told: Mapping[str, object]) -> str:
    """Why a container that was started again ended the last time; empty where it never did."""
    if not restarts_of(told):
        return ""
    made = moment(str(told.get("Created", "")))
    since = int(datetime.fromisoformat(made).timestamp()) if made else 0
    return last_end(engine, api.ends(name, since))


def _runs(api: Api, name: str, told: Mapping[str, object]) -> bool:
    """Whether a container runs, or is about to once more."""
    _unpaused(api, name, told)
    state = told.get("State")
    status = state.get("Status") if isinstance(state, Mapping) else ""
    return status in ("running", "paused", "restarting")


def _unpaused(api: Api, name: str, told: Mapping[str, object]) -> None:
    """Let a container go on that stood still for a copy of its data which nobody finished."""
    state = told.get("State")
    if isinstance(state, Mapping) and state.get("Status") == "paused":
        api.unpause(name)


def _emptied(folder: Path) -> None:
    """Make a fresh folder in which the user of a container can make its socket."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    # Nobody else reaches it: the folder above is closed.
    folder.chmod(0o777)


def _closed(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
