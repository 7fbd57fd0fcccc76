"""One start of the program, and its output and usage while it runs."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import posix as os
import time

from . import starter, wire
from .watch import TIMED_OUT, TOO_LARGE, USED_UP, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from typing import Any

    from .usage import Usage

PATIENCE = 5.0
SIGNALS = {
    int(getattr(_signal, name)): name
    for name in dir(_signal)
    if name.startswith("SIG") and name[3:4] not in ("_", "") and name != "SIGIOT"
}


class Running:
    """A process that the starter made, with its pipes.

    A command has its three standard files; a driven program has one for all it prints, a pipe for
    its replies, and one for requests unless the only one came with its start.
    """

    def __init__(self, starting: _socket.socket, request: dict[str, Any], itself: int) -> None:
        self._starter = starting
        self._number = time.monotonic_ns()
        self._pid = 0
        self.end: dict[str, Any] = {}
        self._mine: list[int] = []
        self._theirs: dict[int, int] = {}
        self.requests = self.replies = self.stdin = -1
        self.stdout = self.stderr = self._from_it(1)
        if request["driven"]:
            self._theirs |= {0: os.open("/dev/null", os.O_RDONLY), 2: self._theirs[1]}
            self.replies = self._from_it(starter.REPLIES)
            if request["mode"] != "once":
                self.requests = self._to_it(starter.REQUESTS)
        else:
            self.stdin, self.stderr = self._to_it(0), self._from_it(2)
        if itself >= 0:
            self._theirs[starter.ITSELF] = itself
        slots = sorted(self._theirs)
        request |= {"slots": slots, "itself": itself >= 0, "number": self._number}
        try:
            starter.ask(starting, request, [self._theirs[slot] for slot in slots])
        except OSError:
            self.close()
            raise wire.BadFrame("there is nobody to start it") from None
        finally:
            for fd in set(self._theirs.values()) - {itself}:
                os.close(fd)

    def _from_it(self, slot: int) -> int:
        mine, self._theirs[slot] = os.pipe()
        self._mine.append(mine)
        return mine

    def _to_it(self, slot: int) -> int:
        self._theirs[slot], mine = os.pipe()
        self._mine.append(mine)
        return mine

    def watch(self, limits: dict[str, Any], usage: Usage) -> Watch:
        """Watch the output, the end and the processor time of the process."""
        watch = Watch(limits["probe_seconds"], limits["output_bytes"])
        watch.allowance = usage.allowance(limits["cpu_seconds"])
        watch.read(*{self.stdout, self.stderr}, printed=True)
        watch.read(self._starter.fileno())
        return watch

    def pid(self, watch: Watch) -> int:
        """The process number of the program; 0 when it is not known or gone."""
        return 0 if self.has_ended(watch) else self._pid

    def has_ended(self, watch: Watch) -> bool:
        """Whether the program's first process is gone; `end` then has its exit code and usage."""
        starter = self._starter.fileno()
        for line in watch.came[starter].splitlines():
            message = wire.loads(line.decode())
            # Answers to what a check had started by itself are passed over.
            if message["number"] == self._number:
                self._pid = message.get("pid", self._pid)
                self.end = message if "code" in message else {}
        # A program that kills everything in sight kills the starter, too.
        return bool(self.end) or starter in watch.ended

    def stop(self, watch: Watch) -> None:
        """Kill the process if it still runs, and learn what it used."""
        watch.deadline, watch.allowance = time.monotonic() + PATIENCE, None
        while not self.has_ended(watch) and not self._pid:
            if watch.until(lambda: self.has_ended(watch) or self._pid > 0) == TIMED_OUT:
                return
            watch.forget_printed()
        if not self.has_ended(watch):
            try:
                os.kill(self._pid, _signal.SIGKILL)
            except ProcessLookupError:
                pass
            while watch.until(lambda: self.has_ended(watch)) == TOO_LARGE:
                watch.forget_printed()

    def close(self) -> None:
        """Close the pipes to the process."""
        for fd in self._mine:
            try:
                os.close(fd)
            except OSError:
                continue

    def feed(self, watch: Watch, text: str) -> None:
        """Give the process its standard input, as it reads."""
        self._mine.remove(self.stdin)
        data = text.encode("utf-8", "surrogatepass")
        if data:
            watch.write(self.stdin, data, close=True)
        else:
            os.close(self.stdin)

    def row(self, watch: Watch, why: str, limits: dict[str, Any]) -> dict[str, Any]:
        """The output, exit code and measurements of this start, whatever it was started for."""
        watch.rest()
        end = self.end
        row = {
            "output": watch.came[self.stdout][: limits["output_bytes"]].decode(errors="replace"),
            "errors": "",
            "code": end.get("code"),
            "cpu": end.get("cpu", 0.0),
            "peak_kb": end.get("peak_kb", 0),
        }
        if self.stderr != self.stdout:
            errors = watch.came[self.stderr][: limits["output_bytes"]]
            row["errors"] = errors.decode(errors="replace")
        if why == TIMED_OUT:
            row |= {"outcome": why, "detail": f"no answer in {limits['probe_seconds']:g} s"}
        elif why == USED_UP:
            row |= {"outcome": TIMED_OUT, "detail": used_up(limits)}
        elif why == TOO_LARGE:
            detail = f"more than {limits['output_bytes']} bytes printed"
            row |= {"outcome": why, "detail": detail}
        return row

    def fate(self, limits: dict[str, Any]) -> tuple[str, str]:
        """The outcome of a program that ended when it should have answered."""
        code = self.end.get("code", 0)
        if -code == _signal.SIGXCPU or (
            -code == _signal.SIGKILL and self.end["cpu"] >= limits["cpu_seconds"]
        ):
            return TIMED_OUT, f"used more than {limits['cpu_seconds']:g} s of processor time"
        if code < 0:
            return "killed", f"ended by {SIGNALS.get(-code, f'signal {-code}')}"
        return "killed", f"ended with exit code {code}"


def used_up(limits: dict[str, Any]) -> str:
    """The words that tell why a program was stopped that used too much processor time."""
    return f"the program used more than {limits['cpu_seconds']:g} s of processor time"
