"""Reads what containers use: the engine is asked where they are, and then only files are read."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from twinsmith.adapters.hosting.engine_args import (
    LOG_BYTES,
    Engine,
    container_name,
    mark_of,
    moment,
    status_of,
)
from twinsmith.adapters.hosting.engine_client import Api, EngineClient, Missing
from twinsmith.adapters.hosting.engine_host import last_reason
from twinsmith.adapters.hosting.life import Life, life_of
from twinsmith.adapters.hosting.volume_size import VolumeSize
from twinsmith.adapters.tail import Tail
from twinsmith.core.operating.containerfile import DATA
from twinsmith.core.operating.instance import InstanceStatus
from twinsmith.core.operating.log_lines import Listener
from twinsmith.core.operating.reading import Said, Usage

MOST_LINES = 5000
"""Of a log that only the engine can read, so many lines are asked for at a time."""


@dataclass(slots=True, kw_only=True)
class _Watched:
    """One container since it was looked at for the first time."""

    id: str
    made: float
    """When it was made, in seconds since 1970."""
    status: InstanceStatus
    life: Life | None
    limit: int | None
    size: VolumeSize
    log: "_Written"
    listener: Listener = field(default_factory=Listener)
    heard: bool = False
    """Whether what it wrote before was listened to."""
    last: str = ""
    """The moment of the last line that the engine gave; Podman tells whole seconds."""
    of_last: int = 0
    """How many lines of that moment it gave."""


@dataclass(slots=True)
class _Written:
    """The file of a container's log; rolled ones are remembered by their sizes."""

    path: str
    tail: Tail
    _before: int = 0
    _file: int = 0
    _size: int = 0

    def bytes(self) -> int | None:
        """What was ever written to it, as far as it was seen; None where it cannot be."""
        try:
            seen = os.stat(self.path)  # noqa: PTH116 - a third of what a path costs
        except OSError:
            return None
        if seen.st_ino != self._file or seen.st_size < self._size:
            self._before += self._rolled() if self._file else 0
        self._file, self._size = seen.st_ino, seen.st_size
        return self._before + seen.st_size

    def _rolled(self) -> int:
        """What was written at least to the file that was seen last, and to those after it.

        It was rolled because it was full; of more that came and went in between only the one that
        is kept is known, so a flood counts as less than it is, and as a flood all the same.
        """
        least = max(self._size, LOG_BYTES)
        try:
            kept = os.stat(f"{self.path}.1")  # noqa: PTH116 - as above
        except OSError:
            return least
        return kept.st_size if kept.st_ino == self._file else least + kept.st_size


class EngineGauge:
    """Reads the containers of one data folder, `home`, on an engine.

    Where the engine is elsewhere, or not `near` for another reason, no more is known of a container
    than the engine says: how it stands and what it wrote. What it uses the engine measures for a
    second, too long for whoever asks every second.
    """

    def __init__(self, client: EngineClient, *, home: str, near: bool = True) -> None:
        self._client = client
        self._mark = mark_of(home)
        self._near = near
        self._watched: dict[str, _Watched] = {}
        self._since = time.time()

    async def read(self, name: str) -> Usage:
        """How an instance stands and what it uses."""
        watched = self._watched.get(name)
        figures = watched.life.figures() if watched and watched.life else None
        if figures is None:
            watched = await self._client.ask(lambda api: self._look(api, name))
            figures = watched.life.figures() if watched and watched.life else None
        if watched is None:
            return Usage(state="absent")
        return Usage(
            state=watched.status.state,
            restarts=watched.status.restarts,
            reason=watched.status.reason,
            cpu_seconds=figures.cpu_seconds if figures else None,
            memory=figures.memory if figures else None,
            memory_limit=watched.limit,
            descriptors=figures.descriptors if figures else None,
            descriptor_limit=figures.descriptor_limit if figures else None,
            processes=figures.processes if figures else None,
            log_bytes=watched.log.bytes(),
            disk=await watched.size.look(),
        )

    async def said(self, name: str) -> Said:
        """What an instance wrote since it was asked the last time, by this gauge."""
        watched = self._watched.get(name)
        gone = watched is not None and watched.log.path and not _is_seen(watched.log.path)
        if watched is None or gone:
            watched = await self._client.ask(lambda api: self._look(api, name))
        if watched is None:
            return Said()
        found = watched
        if found.log.path:
            lines = list(plain_lines(self._client.engine, found.log.tail.lines()))
        else:
            lines = await self._client.ask(lambda api: self._asked(api, name, found))
        said = found.listener.hear(lines)
        # What it wrote before anybody watched it is known, and nothing new.
        known = not found.heard and found.made < self._since
        found.heard = True
        return Said() if known else said

    def _look(self, api: Api, name: str) -> _Watched | None:
        """What the engine says of a container; what is known of the same one stays."""
        container = container_name(self._mark, name)
        try:
            told = api.container(container)
        except Missing:
            self._watched.pop(name, None)
            return None
        last = last_reason(self._client.engine, api, container, told)
        status = status_of(self._client.engine, name, told, "", last)
        known = self._watched.get(name)
        if known is None or known.id != told.get("Id"):
            known = self._watched[name] = self._opened(told, status)
        known.status = status
        pid = _inside(told, "State").get("Pid")
        known.life = None
        if self._near and status.state == "running" and isinstance(pid, int):
            # An engine of another machine, or of another room of this one, numbers them otherwise.
            known.life = life_of(pid, mark=known.id)
        return known

    def _opened(self, told: Mapping[str, object], status: InstanceStatus) -> _Watched:
        memory = _inside(told, "HostConfig").get("Memory")
        made = moment(str(told.get("Created", "")))
        log = log_path(told) if self._near and _is_seen(log_path(told)) else ""
        return _Watched(
            id=str(told.get("Id")),
            made=datetime.fromisoformat(made).timestamp() if made else 0.0,
            status=status,
            life=None,
            limit=memory if isinstance(memory, int) and memory else None,
            size=VolumeSize(_volume(told) if self._near else ""),
            log=_Written(log, Tail(Path(log))),
        )

    def _asked(self, api: Api, name: str, watched: _Watched) -> list[str]:
        """The lines that the engine gives from the last one on."""
        made = moment(watched.last)
        since = int(datetime.fromisoformat(made).timestamp()) if made else 1
        try:
            text = api.logs_since(container_name(self._mark, name), since, MOST_LINES)
        except Missing:
            return []
        rows = [row.partition(" ") for row in text.decode(errors="replace").splitlines()]
        same = [line for at, _, line in rows if at == watched.last]
        newer = [(at, line) for at, _, line in rows if at > watched.last and moment(at)]
        lines = [*same[watched.of_last :], *(line for _, line in newer)]
        watched.of_last = len(same)
        if newer:
            watched.last = newer[-1][0]
            watched.of_last = sum(at == watched.last for at, _ in newer)
        return lines


def plain_lines(engine: Engine, lines: list[bytes]) -> Iterator[str]:
    """What a container wrote, from the lines of the file that its engine keeps of it.

    An engine cuts lines where it happens to read them; what belongs together is joined.
    """
    begun = ""
    for line in lines:
        try:
            if engine == "podman":
                _, _, mark, text = line.decode(errors="replace").split(" ", 3)
                text += "\n" if mark == "F" else ""
            else:
                text = str(json.loads(line)["log"])
        except (ValueError, LookupError, TypeError):
            continue
        begun += text
        if begun.endswith("\n"):
            yield begun[:-1]
            begun = ""
    if begun:
        yield begun


def log_path(told: Mapping[str, object]) -> str:
    """The file in which an engine keeps what a container writes; empty where it tells none."""
    config = _inside(_inside(told, "HostConfig"), "LogConfig")
    return str(told.get("LogPath") or config.get("Path") or "")


def _is_seen(path: str) -> bool:
    """Whether this process may read a file of the engine."""
    return os.access(path, os.R_OK)


def _volume(told: Mapping[str, object]) -> str:
    """The folder of a container's data volume; empty where the engine tells none."""
    mounts = told.get("Mounts")
    for mount in mounts if isinstance(mounts, list) else []:
        if mount.get("Destination") == DATA:
            return str(mount.get("Source") or "")
    return ""


def _inside(told: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = told.get(name)
    return value if isinstance(value, Mapping) else {}
