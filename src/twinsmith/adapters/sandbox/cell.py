"""A cell: one closed room for one program, whatever builds its walls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from twinsmith.core.execution import Limits

HOSTNAME = "sandbox"
# Files that say which names a program can look up: its room's own.
NAMES = {
    "/etc/hosts": f"127.0.0.1 localhost {HOSTNAME}\n",
    # Any other name is asked of a server, which is nowhere: an error, as Go 1.19 needs it.
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A folder of the host, mounted read-only inside a cell."""

    source: str
    target: str
    sockets: bool = False
    """Whether there are sockets in it: no other file system can show them, so its path is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """All that goes into a room: the program, its checks, its mounts and its limits.

    The room is known to the process that runs the program; the job only to the judge.
    """

    room: Mapping[str, object]
    job: Mapping[str, object]
    limits: Limits
    wall_seconds: float
    build_mb: int = 0
    """Memory for a build, or 0; after a build the judge says so, and waits for a lower limit."""
    mounts: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """The environment variables of every process inside, the judge's too."""

    @property
    def memory_mb(self) -> int:
        """The memory limit with which the room starts, before a build is over."""
        return max(self.build_mb, self.limits.memory_mb)


BUILT = b'{"built": true}\n'
"""The judge's first line where there was a build; it goes on after any byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """All that comes out of a room: output, errors, exit code and how it ended."""

    out: str
    err: str
    code: int
    out_of_memory: bool = False
    """Whether the kernel ended a process inside because the cell's memory was used up."""
    spent: frozenset[int] | None = None
    """The lines of the output at which memory was used up; None: it is not known."""
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """The isolation on this machine: the backend, and the controls that are missing."""

    backend: str
    version: str
    missing: tuple[str, ...]

    def __str__(self) -> str:
        grade = "degraded" if self.missing else "full"
        return f"backend={self.backend} isolation={grade} missing=[{','.join(self.missing)}]"


class Walls(Protocol):
    """A builder of closed rooms, such as bubblewrap or Docker."""

    async def enter(self, cell: Cell) -> Ended:
        """Run the judge in a fresh room; nothing of it is left afterwards.

        Raises SandboxError when the room cannot be built.
        """
        ...

    async def isolation(self) -> Isolation:
        """Try every control; SandboxError says which line mends it when the walls do not hold."""
        ...
