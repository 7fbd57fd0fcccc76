"""The judge: process 1 of the sandbox. It alone knows the checks, and alone writes results.

It is not dumpable, so no process of the same user can read its memory or write to its files, and as
process 1 it cannot be killed from inside. The program runs in processes that the starter forks, a
check in a fork of the judge in which the program is only a name to call: so a program can return
values and nothing else. There is no result it could print, no expectation it could read and no
check it could alter.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import posix as os
import select
import sys
import time

from . import folder, lock, starter, wire
from .calls import Calls
from .probes import Probing
from .usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST_JOB = 256 << 20
MOST_TIMEOUTS = 3
HURRIED_SECONDS = 0.25
MOST_ROUNDS = 5
MOMENT = 0.001


def main() -> None:
    """The judge's work: read and lock the room, fork the starter, read the checks, judge."""
    if os.getpid() != 1 and sys.argv[1:2] != ["starter"]:
        # Between probes it ends every other process in sight.
        sys.exit("the judge runs as process 1 of a sandbox only")
    if sys.argv[1:2] == ["starter"]:
        room = wire.receive(int(sys.argv[2]), LARGEST_JOB)
        os.close(int(sys.argv[2]))
        lock.lock({**room, "scratch": {}, "seccomp": ""})
        todo = starter.serve(room, _socket.socket(fileno=int(sys.argv[3])))
        return todo()
    # Without a handler no signal reaches process 1, whoever sends it.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    room = wire.receive(0, LARGEST_JOB)
    try:
        lock.lock(room)
    except lock.LockFailed as error:
        return tell({"broken": str(error)})
    usage = Usage(room["used"])
    mine, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        mine.close()
        usage.close()
        _be_quiet()
        todo = starter.serve(room, theirs)
        return todo()
    theirs.close()
    Judge(room, wire.receive(0, LARGEST_JOB), mine, pid, usage).judge()
    # There is nothing left to tidy up in a process whose whole world ends with it.
    os._exit(0)


def tell(row: dict[str, Any]) -> None:
    """Write one line of JSON to the host."""
    wire_line = wire.dumps(row).encode() + b"\n"
    view = memoryview(wire_line)
    while view:
        view = view[os.write(1, view) :]


class Judge:
    """Builds the program, runs every probe, and keeps the room clean between them."""

    def __init__(
        self,
        room: dict[str, Any],
        job: dict[str, Any],
        starting: _socket.socket,
        pid: int,
        usage: Usage,
    ) -> None:
        self._room = room
        self._job = job
        self._starter = starting
        self._starter_pid = pid
        self._artefact = -1
        self._usage = usage

    def judge(self) -> None:
        """Build the program and run every probe; each result is told to the host as one line."""
        self._renew()
        problem = self._build()
        if problem:
            return tell({"problem": problem})
        if self._room["build"]:
            # A compiler may use more memory than the program: now the limit is lowered outside.
            tell({"built": True})
            os.read(0, 1)
        if self._room["kind"] == "service":
            from .service import judge_service

            return judge_service(self._probing(), self._job["probes"], tell, self._fresh)
        timeouts = 0
        calls = Calls(self._probing) if self._room["stateless"] else None
        for number, probe in enumerate(self._job["probes"]):
            row = self._row(probe, calls)
            timeouts += row["outcome"] == "timed out"
            if timeouts == MOST_TIMEOUTS:
                # The rest have a moment each: slow programs are often right where little is asked.
                limits = self._room["limits"]
                moment = min(HURRIED_SECONDS, limits["probe_seconds"])
                self._room = {**self._room, "limits": {**limits, "probe_seconds": moment}}
            tell({"n": number, **row})
        return None

    def _row(self, probe: dict[str, Any], calls: Calls | None) -> dict[str, Any]:
        """The result of one probe, in a process that is kept or in one of its own."""
        if calls is not None:
            row = calls.probe(probe) if "call" in probe else None
            if row is not None:
                return row
            calls.close()
        try:
            self._renew(probe.get("command", {}).get("files", {}))
            row = self._probing().probe(probe)
        except Exception as error:
            # A program that finds a way to confuse the judge has not passed; the others go on.
            row = {"outcome": "killed", "detail": f"the judge is at a loss: {error!r}"}
        self._clear()
        return row

    def _probing(self) -> Probing:
        return Probing(self._room, self._job, self._starter, self._artefact, self._usage)

    def _build(self) -> str:
        """Build the program; gives the reason where there is none, else an empty text."""
        for argv in self._room["build"]:
            row = self._probing().build(argv)
            self._clear()
            if row["outcome"] != "passed":
                return str(row["detail"])
        if self._room["artefact"]:
            try:
                path = f"{self._room['work']}/{self._room['artefact']}"
                self._artefact = folder.sealed_copy(path)
            except OSError as error:
                return f"the build made no program: {error}"
        return ""

    def _renew(self, given: dict[str, str] | None = None) -> None:
        """Renew the program's folder, with the files that a command is given to read."""
        files = {} if self._artefact >= 0 else self._room["files"]
        folder.renew(self._room["folders"], self._room["work"], {**(given or {}), **files})

    def _fresh(self) -> Probing:
        """A room as if nothing had ever run in it, ready for a probe."""
        self._clear()
        self._renew()
        return self._probing()

    def _clear(self) -> None:
        """End all processes of the program; where one escapes, end everything and begin anew."""
        _signalled(self._starter_pid, _signal.SIGCONT)
        for _ in range(MOST_ROUNDS):
            _reap()
            others = _processes() - {1, self._starter_pid}
            if not others:
                break
            for pid in others:
                _signalled(pid, _signal.SIGKILL)
            time.sleep(MOMENT)
        else:
            _signalled(-1, _signal.SIGKILL)
            _reap(wait=True)
        if self._starter_is_gone():
            self._start_anew()

    def _starter_is_gone(self) -> bool:
        """Whether the starter has closed its end of the line, which comes before its end."""
        poll = select.poll()
        poll.register(self._starter.fileno(), select.POLLIN)
        return any(happened & select.POLLHUP for _, happened in poll.poll(0))

    def _start_anew(self) -> None:
        """Start a starter in a new interpreter: a fork of the judge would know the checks."""
        self._starter.close()
        self._starter, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        out, into = os.pipe()
        self._starter_pid = os.fork()
        if self._starter_pid == 0:
            _be_quiet()
            os.set_inheritable(out, True)
            os.set_inheritable(theirs.fileno(), True)
            words = [*sys.orig_argv, "starter", str(out), str(theirs.fileno())]
            os.execv(sys.executable, words)
        os.close(out)
        theirs.close()
        wire.send(into, self._room)
        os.close(into)


def _be_quiet() -> None:
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)


def _processes() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def _signalled(pid: int, signal: int) -> None:
    try:
        os.kill(pid, signal)
    except ProcessLookupError:
        pass


def _reap(*, wait: bool = False) -> None:
    """Collect processes that have ended; with `wait`, wait until all have."""
    try:
        while os.waitpid(-1, 0 if wait else os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
