"""The files in which the kernel counts what a control group uses, of version 1 and 2."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

LARGEST = 1 << 16
_HOW = os.O_RDONLY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """The files of one control group, as texts; empty where nothing counts it."""

    memory: str
    """The folder with the files about memory."""
    cpu: str
    """The folder with the file about processor time."""
    unified: bool

    def pids(self) -> list[int]:
        """All processes of the group; OSError where it is gone."""
        return [int(each) for each in content(f"{self.memory}/cgroup.procs").split()]

    def memory_bytes(self) -> int:
        """The memory that is in use, without files that are only kept in case they are needed."""
        usage, name = (
            ("memory.current", b"inactive_file")
            if self.unified
            else ("memory.usage_in_bytes", b"total_inactive_file")
        )
        used = int(content(f"{self.memory}/{usage}"))
        return max(0, used - _row(content(f"{self.memory}/memory.stat"), name))

    def memory_limit(self) -> int | None:
        """The most memory that the group may use; None without a limit."""
        name = "memory.max" if self.unified else "memory.limit_in_bytes"
        said = content(f"{self.memory}/{name}").strip()
        # Version 1 says "no limit" as the largest number of pages there can be.
        return int(said) if said.isdigit() and len(said) < 18 else None

    def cpu_seconds(self) -> float | None:
        """The processor time of all processes that were ever in the group."""
        if not self.cpu:
            return None
        if self.unified:
            return _row(content(f"{self.cpu}/cpu.stat"), b"usage_usec") / 1e6
        return int(content(f"{self.cpu}/cpuacct.usage")) / 1e9


def counters(mounts: str, groups: str) -> Counters | None:
    """The files of a process's group, from this machine's mount table and the process's groups."""
    paths = {}
    for line in groups.splitlines():
        _, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(","), path))
    places = _places(mounts, paths)
    if "memory" in places:
        return Counters(memory=places["memory"], cpu=places.get("cpuacct", ""), unified=False)
    if "" in places:
        return Counters(memory=places[""], cpu=places[""], unified=True)
    return None


def _places(mounts: str, paths: Mapping[str, str]) -> dict[str, str]:
    """The folders of a process's groups by the names of controllers; version 2 has none."""
    places: dict[str, str] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind not in ("cgroup", "cgroup2"):
            continue
        root, point = before.split(" ")[3:5]
        names = options.rpartition(" ")[2].split(",") if kind == "cgroup" else [""]
        for name in {"", "memory", "cpuacct"} & set(names) & set(paths):
            # What is mounted may be a part of all groups: paths begin above it.
            inside = paths[name].removeprefix(root.rstrip("/"))
            places.setdefault(name, f"{point}/{inside.strip('/')}".rstrip("/"))
    return places


def content(path: str) -> bytes:
    """A small file of the kernel; OSError where it is not there."""
    file = os.open(path, _HOW)
    try:
        return os.read(file, LARGEST)
    finally:
        os.close(file)


def _row(text: bytes, name: bytes) -> int:
    """The number in the row of that name; 0 where there is none."""
    begin = (b"\n" + text).find(b"\n" + name + b" ")
    if begin < 0:
        return 0
    return int(text[begin + len(name) + 1 :].split(b"\n", 1)[0])
