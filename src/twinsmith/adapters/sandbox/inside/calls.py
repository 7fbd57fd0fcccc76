"""Several calls to one process of a program that keeps nothing between them."""

from __future__ import annotations

import posix as os
import time

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .probes import Probing
    from .running import Running
    from .watch import Watch

START_AFRESH = 10.0


class Calls:
    """Calls answered by one process, which is replaced after anything but a clean answer."""

    def __init__(self, probing: Callable[[], Probing]) -> None:
        self._probing = probing
        self._kept: tuple[Running, Watch] | None = None

    def probe(self, probe: dict[str, Any]) -> dict[str, Any] | None:
        """The result of a call; None when the call has to be made in a process of its own."""
        running, watch = self._kept or self._started()
        if not running.pid(watch):
            self.close()
            return None
        probing = self._probing()
        limits = probing.limits
        watch.deadline = time.monotonic() + limits["probe_seconds"]
        watch.allowance = probing.usage.allowance(limits["cpu_seconds"])
        before = _processor_seconds(running.pid(watch))
        _forget_peak(running.pid(watch))
        wanted = probe["call"]
        watch.write(
            running.requests, wire.frame({"call": wanted["function"], "args": wanted["args"]})
        )
        answers: list[dict[str, Any]] = []

        def answered() -> bool:
            answers.extend(wire.frames(watch.came[running.replies]))
            return bool(answers) or running.has_ended(watch)

        try:
            why = watch.until(answered)
        except wire.BadFrame:
            why, answers = "", []
        if not why and not answers:
            # Done again by itself, so that what it used and how it ended are its own.
            self.close()
            return None
        used = {
            "cpu": _processor_seconds(running.pid(watch)) - before,
            "peak_kb": _peak_kb(running.pid(watch)),
        }
        if why:
            running.stop(watch)
            row = running.row(watch, why, limits) | used
            self.close()
            return row
        watch.rest()
        row = {"output": watch.came[running.stdout].decode(errors="replace"), **used}
        watch.came[running.stdout].clear()
        return row | self._probing().judged(probe, answers[0])

    def close(self) -> None:
        """End the process that answers calls."""
        if self._kept is not None:
            running, watch = self._kept
            running.stop(watch)
            running.close()
            self._kept = None

    def _started(self) -> tuple[Running, Watch]:
        running = self._probing().start_driver(shared=True)
        probing = self._probing()
        watch = running.watch({**probing.limits, "probe_seconds": START_AFRESH}, probing.usage)
        watch.read(running.replies)
        self._kept = running, watch
        greeted: list[dict[str, Any]] = []

        def greets() -> bool:
            greeted.extend(wire.frames(watch.came[running.replies]))
            return bool(greeted) or running.has_ended(watch)

        try:
            watch.until(greets)
        except wire.BadFrame:
            greeted.clear()
        if not greeted or "raised" in greeted[0]:
            running.stop(watch)
        watch.came[running.stdout].clear()
        return running, watch


def _processor_seconds(pid: int) -> float:
    """The processor time of a process: in nanoseconds where the kernel tells, else in ticks."""
    try:
        return int(_read(f"/proc/{pid}/schedstat").split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        pass
    try:
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100
    except (OSError, ValueError, IndexError):
        return 0.0


def _peak_kb(pid: int) -> int:
    try:
        status = _read(f"/proc/{pid}/status")
        return int(status.partition("VmHWM:")[2].split()[0])
    except (OSError, ValueError, IndexError):
        return 0


def _forget_peak(pid: int) -> None:
    try:
        fd = os.open(f"/proc/{pid}/clear_refs", os.O_WRONLY)
        os.write(fd, b"5")
        os.close(fd)
    except OSError:
        pass


def _read(path: str) -> str:
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 4096).decode(errors="replace")
    finally:
        os.close(fd)
