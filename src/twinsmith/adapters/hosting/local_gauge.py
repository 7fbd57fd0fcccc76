"""Reads what instances of the embedded host use, from the files of their supervisors and /proc."""

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from twinsmith.adapters.hosting.counters import content
from twinsmith.adapters.hosting.life import Life, life_of
from twinsmith.adapters.hosting.local_host import standing
from twinsmith.adapters.hosting.supervisor import LOG, PLAN, ROLLED, STATUS, Told
from twinsmith.adapters.hosting.volume_size import VolumeSize
from twinsmith.adapters.tail import Tail
from twinsmith.core.operating.containerfile import DATA
from twinsmith.core.operating.log_lines import Listener
from twinsmith.core.operating.reading import Said, Usage


@dataclass(slots=True, kw_only=True)
class _Watched:
    """What is known of one instance since it was looked at for the first time."""

    folder: Path
    tail: Tail
    size: VolumeSize = field(default_factory=VolumeSize)
    listener: Listener = field(default_factory=Listener)
    heard: bool = False
    """Whether what it wrote before was listened to."""
    began: float = 0.0
    """When it was started, in seconds since 1970."""
    told: Told | None = None
    told_by: tuple[int, int] = (0, 0)
    """The number of the file that told it, and when that was written."""
    life: Life | None = None
    written: int = 0
    """Bytes of log."""


class LocalGauge:
    """Reads the instances in one folder, that of a LocalHost."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._watched: dict[str, _Watched] = {}
        self._since = time.time()

    async def read(self, name: str) -> Usage:
        """How an instance stands and what it uses."""
        watched = self._found(name)
        if watched is None or watched.told is None:
            return Usage(state="absent")
        state, reason = standing(watched.told, watched.folder)
        life = watched.life if state == "running" else None
        figures = life.figures() if life else None
        return Usage(
            state=state,
            restarts=watched.told.restarts,
            reason=reason,
            cpu_seconds=figures.cpu_seconds if figures else None,
            memory=figures.memory if figures else None,
            memory_limit=life.memory_limit if life else None,
            descriptors=figures.descriptors if figures else None,
            descriptor_limit=figures.descriptor_limit if figures else None,
            processes=figures.processes if figures else None,
            log_bytes=_written(watched),
            disk=await watched.size.look(),
        )

    async def said(self, name: str) -> Said:
        """What an instance wrote since it was asked the last time, by this gauge."""
        watched = self._found(name)
        if watched is None:
            return Said()
        lines = watched.tail.lines()
        said = watched.listener.hear(line.decode(errors="replace") for line in lines)
        if watched.heard:
            return said
        watched.heard = True
        # What it wrote before anybody watched it is known, and nothing new.
        return said if watched.began >= self._since else Said()

    def _found(self, name: str) -> _Watched | None:
        """What is known of an instance, as it is told now; None where there is none."""
        watched = self._watched.get(name)
        try:
            if watched is None:
                folder = self._folder / name
                watched = self._watched[name] = _Watched(folder=folder, tail=Tail(folder / LOG))
            _look(watched)
        except (OSError, ValueError, TypeError):
            del self._watched[name]
            return None
        return watched


def _look(watched: _Watched) -> None:
    """Read what the supervisor tells, where it has told anything new; OSError where it is gone."""
    path = f"{watched.folder}/{STATUS}"
    seen = os.stat(path)  # noqa: PTH116 - a third of what a path costs
    if (seen.st_ino, seen.st_mtime_ns) == watched.told_by:
        return
    told = watched.told = Told.read(content(path))
    watched.life = life_of(told.pid, outer=told.outer, counted=told.counted) if told.pid else None
    plan = json.loads((watched.folder / PLAN).read_text())
    watched.began = (watched.folder / PLAN).stat().st_mtime
    data = [str(bind["source"]) for bind in plan["binds"] if bind["target"] == DATA]
    if data != [watched.size.folder]:
        watched.size = VolumeSize(*data)
    watched.told_by = (seen.st_ino, seen.st_mtime_ns)


def _written(watched: _Watched) -> int:
    """All bytes of log so far; for a moment a rolled file may not be counted yet."""
    now = 0
    with suppress(OSError, ValueError):
        now += os.stat(f"{watched.folder}/{LOG}").st_size  # noqa: PTH116
        now += int(content(f"{watched.folder}/{ROLLED}"))
    watched.written = max(watched.written, now)
    return watched.written
