"""One life of a program, from a start to its end: what all its processes use, by small files."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from twinsmith.adapters.hosting.counters import Counters, content, counters

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_PROCESSES = 256
"""Of more than so many, the open files of the others are not counted."""
_FILES = re.compile(rb"^Max open files\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a program uses at one moment; None where this process may not see it."""

    cpu_seconds: float | None
    memory: int | None
    descriptors: int | None
    descriptor_limit: int | None
    processes: int


@dataclass(slots=True, kw_only=True)
class Life:
    """A program that runs: `pid` is its first process, `outer` one around it that does not count.

    Without counters the processes that descend from it are added up.
    """

    pid: int
    counters: Counters | None
    outer: int = 0
    memory_limit: int | None = None
    _limits: dict[int, int | None] = field(default_factory=dict)

    def figures(self) -> Figures | None:
        """What all its processes use; None where it has ended."""
        try:
            pids = self.counters.pids() if self.counters else descendants(self.pid)
            if self.pid not in pids:
                return None
            pids = [pid for pid in pids if pid != self.outer]
            cpu, memory = self._used(pids)
        except (OSError, ValueError):
            return None
        most, holder = max((_descriptors(pid), pid) for pid in pids[:MOST_PROCESSES])
        return Figures(
            cpu_seconds=cpu,
            memory=memory,
            descriptors=most if most >= 0 else None,
            descriptor_limit=self._limit(holder) if most >= 0 else None,
            processes=len(pids),
        )

    def _used(self, pids: list[int]) -> tuple[float | None, int]:
        if self.counters:
            return self.counters.cpu_seconds(), self.counters.memory_bytes()
        cpu, memory = 0, 0
        for pid in pids:
            with suppress(OSError):
                cpu += sum(int(each) for each in _stat(pid)[11:15])
                _, resident, shared, *_ = content(f"/proc/{pid}/statm").split()
                memory += (int(resident) - int(shared)) * PAGE
        return cpu / TICKS, memory

    def _limit(self, pid: int) -> int | None:
        """How many files a process may open; looked up once."""
        if pid not in self._limits:
            if len(self._limits) > MOST_PROCESSES:
                self._limits.clear()
            with suppress(OSError):
                found = _FILES.search(content(f"/proc/{pid}/limits"))
                self._limits[pid] = int(found[1]) if found else None
        return self._limits.get(pid)


def life_of(pid: int, *, outer: int = 0, counted: bool = True, mark: str = "") -> Life | None:
    """The life of a process of this machine; None where it is not one, or not in groups so marked.

    Only where it is `counted` does its control group hold nothing else.
    """
    try:
        groups = content(f"/proc/{pid}/cgroup").decode()
        mounts = Path("/proc/self/mountinfo").read_text()
    except OSError:
        return None
    if mark not in groups:
        return None
    found = counters(mounts, groups) if counted else None
    limit = None
    with suppress(OSError, ValueError):
        limit = found.memory_limit() if found else None
    return Life(pid=pid, counters=found, outer=outer, memory_limit=limit)


def descendants(pid: int) -> list[int]:
    """A process and all that it started; they are looked for among all of this machine.

    OSError where it is gone.
    """
    content(f"/proc/{pid}/stat")
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all that is wanted
        if name.isdigit():
            with suppress(OSError):
                children.setdefault(int(_stat(int(name))[1]), []).append(int(name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def _stat(pid: int) -> list[bytes]:
    """What the kernel tells of a process, from its state on: its name may hold anything."""
    return content(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _descriptors(pid: int) -> int:
    """The open files of a process; -1 where this one may not see them."""
    place = f"/proc/{pid}/fd"
    try:
        # Kernels before 6.2 do not count them.
        return os.stat(place).st_size or len(os.listdir(place))  # noqa: PTH116, PTH208
    except OSError:
        return -1
