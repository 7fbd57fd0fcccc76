"""The embedded host: each instance a supervised process in bubblewrap, with limits and a log."""

import asyncio
import hashlib
import json
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from twinsmith.adapters.hosting import supervisor
from twinsmith.adapters.hosting.engine_args import environment
from twinsmith.adapters.hosting.local_args import Bind
from twinsmith.adapters.hosting.local_images import LocalImages, environment_of
from twinsmith.adapters.hosting.local_volumes import LocalVolumes
from twinsmith.adapters.hosting.supervisor import LOG, OLD_LOG, PLAN, STATUS, Plan, Told
from twinsmith.adapters.lease import is_held, lease_file
from twinsmith.core.errors import HostError
from twinsmith.core.operating.containerfile import APP, DATA
from twinsmith.core.operating.instance import SOCKET, Instance, InstanceState, InstanceStatus

RUN = "/run/app"
START_SECONDS = 10.0
LOOK_SECONDS = 0.02


class LocalHost:
    """Instances of this machine; `sockets` is a folder with a short path."""

    def __init__(
        self, folder: Path, sockets: Path, images: LocalImages, volumes: LocalVolumes
    ) -> None:
        self._folder = folder
        self._sockets = sockets
        self._images = images
        self._volumes = volumes

    async def start(self, instance: Instance, secrets: Mapping[str, str]) -> str:
        """Start an instance unless it runs already; the path of its socket."""
        return await asyncio.to_thread(self._start, instance, dict(secrets))

    async def stop(self, name: str, *, seconds: float) -> None:
        """Ask an instance to finish, end it after `seconds`, and remove it; its data stays."""
        await asyncio.to_thread(self._stop, name, seconds)

    async def status(self, name: str) -> InstanceStatus:
        """How an instance stands."""
        return await asyncio.to_thread(self._status, name)

    async def logs(self, name: str, *, lines: int) -> str:
        """The last lines that an instance wrote."""
        return await asyncio.to_thread(self._logs, name, lines)

    def _start(self, instance: Instance, secrets: dict[str, str]) -> str:
        environment(secrets)
        folder, socket = self._folder / instance.name, self._sockets / instance.name / SOCKET
        plan = self._plan(instance, socket.parent, secrets)
        if is_held(folder):
            if (folder / PLAN).read_text() == plan.written():
                return str(socket)
            self._stop(instance.name, 0.0)
        (folder / STATUS).unlink(missing_ok=True)
        self._give_socket(socket, plan.user)
        supervisor.start(folder, plan, secrets)
        deadline = time.monotonic() + START_SECONDS
        while not (folder / STATUS).exists():
            if time.monotonic() > deadline:
                said = (folder / "supervisor.log").read_text(errors="replace").strip()
                raise HostError(
                    f"instance {instance.name} does not start: {said[-200:] or 'no word from it'}; "
                    "run 'twinsmith doctor'"
                )
            time.sleep(LOOK_SECONDS)
        return str(socket)

    def _plan(self, instance: Instance, sockets: Path, secrets: Mapping[str, str]) -> Plan:
        image = self._images.read(instance.image)
        data = self._volumes.place(instance.data)
        user = data.stat().st_uid if os.geteuid() == 0 else 0
        return Plan(
            words=image.words,
            folder=APP,
            binds=(
                *image.binds,
                Bind(source=str(data), target=DATA, writable=True),
                Bind(source=str(sockets), target=RUN, writable=True),
            ),
            environment=environment_of(image, f"{RUN}/{SOCKET}"),
            user=user,
            memory_mb=instance.memory_mb,
            processes=instance.processes,
            restarts=instance.restarts,
            lock=str(self._volumes.lock(instance.data)),
            secrets=hashlib.sha256(json.dumps(sorted(secrets.items())).encode()).hexdigest(),
        )

    def _give_socket(self, socket: Path, user: int) -> None:
        """Make the folder of an instance's socket, which its user may write to."""
        self._sockets.mkdir(parents=True, exist_ok=True, mode=0o700)
        _remove(socket.parent)
        socket.parent.mkdir(mode=0o755)
        if user:
            os.chown(socket.parent, user, user)

    def _stop(self, name: str, seconds: float) -> None:
        folder = self._folder / name
        for number, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, START_SECONDS)):
            if not is_held(folder):
                break
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(lease_file(folder).read_text()), number)
            deadline = time.monotonic() + patience
            while is_held(folder) and time.monotonic() < deadline:
                time.sleep(LOOK_SECONDS)
        for path in (self._sockets / name, folder):
            _remove(path)

    def _status(self, name: str) -> InstanceStatus:
        folder = self._folder / name
        try:
            told = Told.read((folder / STATUS).read_bytes())
        except (OSError, ValueError, TypeError):
            return InstanceStatus(name=name, state="absent")
        state, reason = standing(told, folder)
        socket = self._sockets / name / SOCKET
        return InstanceStatus(
            name=name,
            state=state,
            since=told.since,
            restarts=told.restarts,
            reason=reason,
            address=str(socket) if state == "running" else "",
        )

    def _logs(self, name: str, lines: int) -> str:
        text = b""
        for file in (OLD_LOG, LOG):
            with suppress(OSError):
                text += (self._folder / name / file).read_bytes()
        kept = text.decode(errors="replace").splitlines()[-lines:] if lines > 0 else []
        return "".join(f"{line}\n" for line in kept)


def standing(told: Told, folder: Path) -> tuple[InstanceState, str]:
    """The state of an instance and why it ended, also where its supervisor cannot tell any more."""
    if told.state != "exited" and not is_held(folder):
        return "exited", "its supervisor was ended"
    return told.state, told.reason


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
