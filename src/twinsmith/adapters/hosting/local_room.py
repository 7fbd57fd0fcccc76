"""One command in a closed room of this machine, counted by a control group of its own."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from twinsmith.adapters.hosting.engine_args import LINKS
from twinsmith.adapters.hosting.local_args import Room, inner_options, outer_args
from twinsmith.adapters.sandbox import cgroup, seccomp
from twinsmith.core.errors import HostError, SandboxError

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
INSTALL = "apt-get install -y bubblewrap util-linux"
# Whoever begins waits until it is counted. A plain shell knows no open files beyond the tenth.
GATE = ("sh", "-c", 'read -r _ <"/proc/self/fd/$0"; exec "$@"')
TOLD_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A command that runs in a room."""

    process: "subprocess.Popen[bytes]"
    told: int
    """The open file in which bubblewrap tells which process is the command."""
    group: cgroup.Group | None

    def inner(self) -> int:
        """The process of the command itself, as this machine numbers it; 0 where it never began."""
        text = b""
        deadline = time.monotonic() + TOLD_SECONDS
        while time.monotonic() < deadline:
            with suppress(BlockingIOError):
                part = os.read(self.told, 4096)
                text += part
                with suppress(ValueError, KeyError):
                    return int(json.loads(text)["child-pid"])
                if not part:
                    return 0
            time.sleep(0.005)
        return 0


def groups_here() -> cgroup.Groups | None:
    """Where control groups can be made here; None where rooms are limited process by process."""
    return cgroup.here()


@contextmanager
def entered(
    room: Room, groups: cgroup.Groups | None, *, name: str, memory_mb: int
) -> Iterator[Started]:
    """Start a command in a room; at the end of the block nothing of it is left."""
    group = _group(groups, name, room, memory_mb)
    files: list[int] = []
    try:
        told, tells = os.pipe()
        begins, begin = os.pipe()
        files += [told, tells, begins, begin]
        os.set_blocking(told, False)
        filtered = _filter()
        files += [filtered] if filtered >= 0 else []
        options = _in_memory("\0".join(inner_options(room, told=tells, filtered=filtered)))
        files.append(options)
        line = [GATE[0], GATE[1], GATE[2], str(begins), *outer_args(room, options)]
        process = _spawned(line, [tells, begins, options, *([filtered] * (filtered >= 0))])
        try:
            if group is not None:
                cgroup.add(group, process.pid)
            os.write(begin, b"\n")
            os.close(tells)
            files.remove(tells)
            yield Started(process=process, told=told, group=group)
        finally:
            _ended(process)
    finally:
        for file in files:
            os.close(file)
        if group is not None:
            cgroup.remove(group)


def _spawned(line: list[str], shared: list[int]) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            line,
            env={"PATH": PATH},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=shared,
        )
    except OSError as error:
        raise HostError(f"no room can be opened here: {error}; run: {INSTALL}") from error


def _ended(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _group(
    groups: cgroup.Groups | None, name: str, room: Room, memory_mb: int
) -> cgroup.Group | None:
    if groups is None:
        return None
    try:
        # Bubblewrap and what leads to it are in there as well.
        return cgroup.make(groups, name, memory_mb=memory_mb, processes=room.processes + 8)
    except OSError as error:
        raise HostError(f"no control group: {error}; run 'twinsmith doctor'") from error


def _filter() -> int:
    """The filter of system calls as an open file; -1 where libseccomp is missing."""
    try:
        return _in_memory_bytes(seccomp.program(_rules))
    except SandboxError:
        return -1


def _rules() -> tuple[seccomp.Rule, ...]:
    """The rules for all programs; with links one could make its socket point at another's."""
    return (*seccomp.rules(), *(seccomp.Rule(call=each) for each in LINKS))


def _in_memory(text: str) -> int:
    return _in_memory_bytes(text.encode())


def _in_memory_bytes(data: bytes) -> int:
    file = os.memfd_create("room")
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    return file
