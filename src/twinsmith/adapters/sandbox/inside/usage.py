"""The processor time of all processes in the room together, also of those that have ended."""

from __future__ import annotations

import posix as os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Where a container finds its own group, in version 1 and 2.
PLACES = ("/sys/fs/cgroup/cpuacct/cpuacct.usage", "/sys/fs/cgroup/cpu.stat")
TICKS = 100
LONGEST = 4096
# What judge and starter use besides.
OWN_SECONDS = 0.25


class Usage:
    """Reads the processor time from a control group; without one, from the processes.

    A child whose parent does not care for its end takes what it used with it then.
    """

    def __init__(self, file: int) -> None:
        self._file = _own_group()
        self._processors = os.cpu_count() or 1
        if file >= 0:
            # The lowest number there is: whatever starts a program closes the first hundred.
            self._file = os.dup(file)
            os.close(file)

    def allowance(self, seconds: float) -> Callable[[], float]:
        """A function that tells the least time until `seconds` more of processor time are used."""
        end = self._seconds() + seconds + OWN_SECONDS
        return lambda: (end - self._seconds()) / self._processors

    def close(self) -> None:
        """Close the file of the control group, in a process that has no use for it."""
        if self._file >= 0:
            os.close(self._file)

    def _seconds(self) -> float:
        if self._file < 0:
            return _told_by_processes()
        said = os.pread(self._file, LONGEST, 0).split()
        if said[0] == b"usage_usec":
            return int(said[1]) / 1e6
        return int(said[0]) / 1e9


def _own_group() -> int:
    for place in PLACES:
        try:
            return os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
    return -1


def _told_by_processes() -> float:
    """The processor time that processes tell of themselves and of the children they waited for."""
    ticks = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            try:
                fd = os.open(f"/proc/{name}/stat", os.O_RDONLY)
                fields = os.read(fd, LONGEST).rpartition(b")")[2].split()
                os.close(fd)
            except OSError:
                continue
            ticks += sum(map(int, fields[11:15]))
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ticks / TICKS + gone.ru_utime + gone.ru_stime
