"""Control groups, one for each cell: all its processes together share one limit."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")
NEEDED = ("memory", "pids")
NAME = "twinsmith"
TRIES = 200
TCP_MB = 8
PERIOD = 100_000
"""Microseconds in which a share of processors is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The place where control groups can be made: folders by controller (v1), or one (v2)."""

    folders: Mapping[str, Path]
    unified: bool

    @property
    def counts_processor(self) -> bool:
        """Whether a group counts the processor time of all processes that were ever in it."""
        return self.unified or "cpuacct" in self.folders


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The control group of one cell."""

    folders: tuple[Path, ...]
    memory: Path
    used: Path | None
    """The file where the kernel tells the processor time of all processes, also of ended ones."""
    unified: bool


def find(mounts: str, own: str, *, root: bool) -> Groups | None:
    """The place where this process may make groups, from its mount table and its own groups."""
    places: dict[str, Path] = {}
    paths = {name: path for line in own.splitlines() for name, path in _own(line)}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        point = Path(before.split(" ")[4])
        if kind == "cgroup2":
            above = point if root else (point / paths.get("", "").lstrip("/")).parent
            if point == above or point in above.parents:
                places.setdefault("", above)
        elif kind == "cgroup":
            for name in set(CONTROLLERS) & set(options.rpartition(" ")[2].split(",")):
                # The first is this machine's own; a root folder of another may show them again.
                places.setdefault(name, point / paths.get(name, "").lstrip("/"))
    if all(name in places for name in NEEDED):
        return Groups(
            folders={n: places[n] / NAME for n in CONTROLLERS if n in places}, unified=False
        )
    if "" in places:
        return Groups(folders={"": places[""] / NAME}, unified=True)
    return None


def here() -> Groups | None:
    """The groups of this machine, if this process may make any with limits."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text()
        own = Path("/proc/self/cgroup").read_text()
        groups = find(mounts, own, root=os.geteuid() == 0)
        if groups is None:
            return None
        for folder in groups.folders.values():
            if groups.unified:
                _enable(folder.parent)
            folder.mkdir(exist_ok=True)
            if groups.unified:
                _enable(folder)
            _sweep(folder)
        remove(make(groups, f"{os.getpid()}-try", memory_mb=64, processes=8))
    except OSError:
        return None
    return groups


def make(groups: Groups, name: str, *, memory_mb: int, processes: int) -> Group:
    """A new group with limits; OSError where one cannot be set."""
    # Controllers that are mounted together have one folder.
    made = list(dict.fromkeys(folder / name for folder in groups.folders.values()))
    for folder in made:
        folder.mkdir()
    for file, value in settings(memory_mb, processes, unified=groups.unified).items():
        controller = "" if groups.unified else file.partition(".")[0]
        if controller not in groups.folders:
            continue
        path = groups.folders[controller] / name / file
        # Swap and weights are not everywhere; limits of memory and processes must hold.
        with suppress(*((OSError,) if any(word in file for word in ("sw", "cpu", "tcp")) else ())):
            path.write_text(value)
    memory = groups.folders["" if groups.unified else "memory"] / name
    used = memory / "cpu.stat" if groups.unified else None
    if "cpuacct" in groups.folders:
        used = groups.folders["cpuacct"] / name / "cpuacct.usage"
    return Group(folders=tuple(made), memory=memory, used=used, unified=groups.unified)


def settings(memory_mb: int, processes: int, *, unified: bool) -> dict[str, str]:
    """The limits as texts to write into the files of a group, in order."""
    size = str(memory_mb << 20)
    if unified:
        return {
            "memory.max": size,
            "memory.swap.max": "0",
            "pids.max": str(processes),
            "cpu.weight": "25",
        }
    return {
        "memory.limit_in_bytes": size,
        "memory.memsw.limit_in_bytes": size,
        "memory.swappiness": "0",
        # Buffers of connections are not part of the rest here.
        "memory.kmem.tcp.limit_in_bytes": str(TCP_MB << 20),
        "pids.max": str(processes),
        "cpu.shares": "256",
    }


@contextmanager
def visited(group: Group | None) -> Iterator[None]:
    """Keep this thread, and processes that it starts, in the group for a while.

    Version 1 only. A thread that moves itself is moved at once; moving another process waits for
    every processor of the machine, ten milliseconds and more.
    """
    places = group.folders if group is not None and not group.unified else ()
    try:
        for folder in places:
            (folder / "tasks").write_text("0")
        yield
    finally:
        for folder in places:
            (folder.parent.parent / "tasks").write_text("0")


def add(group: Group, pid: int) -> None:
    """Put a process, and what it forks from now on, into the group."""
    for folder in group.folders:
        (folder / "cgroup.procs").write_text(str(pid))


def lower(group: Group, memory_mb: int) -> None:
    """Lower the memory limit of a group; OSError while more than that is in use."""
    size = str(memory_mb << 20)
    (group.memory / ("memory.max" if group.unified else "memory.limit_in_bytes")).write_text(size)
    with suppress(OSError):
        if not group.unified:
            (group.memory / "memory.memsw.limit_in_bytes").write_text(size)


def cap(groups: Groups, *, memory_mb: int, processors: float) -> None:
    """Limit everything of twinsmith on this machine together; 0 leaves a limit as it is.

    OSError where the kernel does not take it: more is in use already.
    """
    for file, value in totals(memory_mb, processors, unified=groups.unified).items():
        controller = "" if groups.unified else file.partition(".")[0]
        if controller in groups.folders:
            (groups.folders[controller] / file).write_text(value)


def totals(memory_mb: int, processors: float, *, unified: bool) -> dict[str, str]:
    """The limits of everything together as texts to write into the files of the group of all."""
    files: dict[str, str] = {}
    if memory_mb:
        name = "memory.max" if unified else "memory.limit_in_bytes"
        files[name] = str(memory_mb << 20)
    if processors:
        share = str(int(processors * PERIOD))
        files |= (
            {"cpu.max": f"{share} {PERIOD}"}
            if unified
            else {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": share}
        )
    return files


def used(groups: Groups) -> tuple[int, int | None]:
    """How many groups there are now, and the bytes of memory that all of them hold."""
    folder = groups.folders["" if groups.unified else "memory"]
    name = "memory.current" if groups.unified else "memory.usage_in_bytes"
    count = sum(each.is_dir() for each in folder.iterdir())
    try:
        return count, int((folder / name).read_text())
    except (OSError, ValueError):
        return count, None


def out_of_memory(group: Group) -> int:
    """The number of processes of the group that the kernel ended for want of memory."""
    try:
        name = "memory.events" if group.unified else "memory.oom_control"
        rows = [row.split() for row in (group.memory / name).read_text().splitlines()]
        return sum(int(row[1]) for row in rows if row[0] == "oom_kill")
    except OSError:
        return 0


def remove(group: Group) -> None:
    """Remove a group, and end the processes that are still in it."""
    for folder in group.folders:
        for _ in range(TRIES):
            try:
                folder.rmdir()
                break
            except FileNotFoundError:
                break
            except OSError:
                for pid in (folder / "cgroup.procs").read_text().split():
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(int(pid), 9)
                time.sleep(0.002)


def _own(line: str) -> list[tuple[str, str]]:
    """The controllers of one hierarchy, and this process's place in it; v2 has no names."""
    _, names, path = line.split(":", 2)
    return [(name, path) for name in names.split(",")]


def _enable(folder: Path) -> None:
    """Hand the controllers down to the groups in this folder."""
    control = folder / "cgroup.subtree_control"
    missing = set(NEEDED) - set(control.read_text().split())
    for name in missing:
        control.write_text(f"+{name}")
    with suppress(OSError):
        control.write_text("+cpu")


def _sweep(folder: Path) -> None:
    """Remove groups that a killed process of twinsmith left behind."""
    for left in folder.iterdir():
        owner = left.name.partition("-")[0]
        if left.is_dir() and owner.isdigit() and not Path(f"/proc/{owner}").exists():
            with suppress(OSError):
                left.rmdir()
