"""One closed room for one program, whatever builds its walls."""

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
    """A folder of the host, read-only inside."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What goes in: what the program is, what it is judged by, what it may see and use.

    The room is known to the process that runs the program; the job only to the judge.
    """

    room: Mapping[str, object]
    job: Mapping[str, object]
    limits: Limits
    wall_seconds: float
    build_mb: int = 0
    """Memory for a build, where there is one: the judge says when it is over, and waits."""
    mounts: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Of every process inside, the judge's too."""

    @property
    def memory_mb(self) -> int:
        """What it may use at first."""
        return max(self.build_mb, self.limits.memory_mb)


BUILT = b'{"built": true}\n'
"""The judge's first line, where there was a build; any byte lets it go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What came out."""

    out: str
    err: str
    code: int
    out_of_memory: bool = False
    """Whether the kernel ended a process in there because the cell's memory was used up."""
    spent: frozenset[int] | None = None
    """At which lines of what came out that was so; None: it is not known."""
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """What keeps untrusted code in on this machine, and what is missing."""

    backend: str
    version: str
    missing: tuple[str, ...]

    def __str__(self) -> str:
        grade = "degraded" if self.missing else "full"
        return f"backend={self.backend} isolation={grade} missing=[{','.join(self.missing)}]"


class Walls(Protocol):
    """A way to build such a room."""

    async def enter(self, cell: Cell) -> Ended:
        """Run the judge in a fresh room; nothing of it is left afterwards.

        Raises SandboxError when the room cannot be built.
        """
        ...

    async def isolation(self) -> Isolation:
        """Try every control; raises SandboxError with the line that mends it when none holds."""
        ...
