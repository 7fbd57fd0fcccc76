"""The starter: starts the program as often as it is asked to, each time as new.

A process of its own, forked from the judge before that has read a single check: what it forks has
nothing to find. It runs no line of the program itself, so every start is a clean one, and forking a
warm interpreter takes half a millisecond where starting one takes ten.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import posix as os
import resource
import sys
from posix import environ as given

from . import lock, wire
from .python import drive, look_ordinary, put_first, run_main

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_REQUEST = 1 << 16
IN_A_FILE = b"#"
MOST_FILES = 7
OUT_OF_THE_WAY = 100
# Slots of open files beside the standard ones: two pipes to the judge, and the built program.
REQUESTS, REPLIES, ITSELF = 3, 4, 5
LIMITS = {
    resource.RLIMIT_FSIZE: 64 << 20,
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_CORE: 0,
}


def serve(room: dict[str, Any], judge: _socket.socket) -> Callable[[], None]:
    """Start what the judge asks for until it is gone; gives, in each new process, what to run."""
    _warm_up(room)
    while True:
        request, files = _receive(judge)
        if not request:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            judge.close()
            return _become(room, request, files)
        for fd in files:
            os.close(fd)
        number = request["number"]
        judge.send(wire.dumps({"number": number, "pid": pid}).encode() + b"\n")
        _, status, used = os.wait4(pid, 0)
        ended = {
            "number": number,
            "code": os.waitstatus_to_exitcode(status),
            "cpu": used.ru_utime + used.ru_stime,
            "peak_kb": used.ru_maxrss,
        }
        judge.send(wire.dumps(ended).encode() + b"\n")


def ask(starter: _socket.socket, request: dict[str, Any], files: list[int]) -> None:
    """Ask the starter, from the judge, to start something with these open files."""
    data, extra = wire.dumps(request).encode(), []
    if len(data) > LONGEST_REQUEST:
        # Too long for one message: it goes as a file.
        extra = [os.memfd_create("request")]
        with open(extra[0], "wb", closefd=False) as file:
            file.write(data)
        data = IN_A_FILE
    packed = b"".join(fd.to_bytes(4, sys.byteorder) for fd in files + extra)
    try:
        starter.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)])
    finally:
        for fd in extra:
            os.close(fd)


def _receive(judge: _socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, ancillary, _, _ = judge.recvmsg(2 * LONGEST_REQUEST, _socket.CMSG_SPACE(4 * MOST_FILES))
    files = [
        int.from_bytes(packed[n : n + 4], sys.byteorder)
        for _, _, packed in ancillary
        for n in range(0, len(packed), 4)
    ]
    if data == IN_A_FILE:
        fd = files.pop()
        with open(fd, "rb") as file:
            file.seek(0)
            data = file.read()
    return (wire.loads(data.decode()) if data else {}), files


def _warm_up(room: dict[str, Any]) -> None:
    """Import what the program will import: modules of the standard library and of its layer."""
    sys.path.extend(room["path"])
    for name in room["preload"]:
        try:
            __import__(name)
        except BaseException:
            continue
    look_ordinary()
    for which in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE):
        limit = LIMITS[which]
        resource.setrlimit(which, (limit, limit))
    # When memory runs out, the program goes first, then this, and the judge last. The file belongs
    # to those who may look into the process: for this moment, when nobody else is here yet.
    lock.set_dumpable(1)
    _offer_memory(500)
    lock.set_dumpable(0)


def _become(room: dict[str, Any], request: dict[str, Any], files: list[int]) -> Callable[[], None]:
    """Set up a new process with its files, limits and folder; gives what to run in it."""
    os.setsid()
    away = [os.dup2(fd, OUT_OF_THE_WAY + n) for n, fd in enumerate(files)]
    free = 0
    for slot, fd in zip(request["slots"], away):  # noqa: B905
        if slot > free:
            os.closerange(free, slot)
        # The program itself need not stay open when it runs.
        os.dup2(fd, slot, inheritable=slot != ITSELF)
        free = slot + 1
    os.closerange(free, OUT_OF_THE_WAY + MOST_FILES)
    _limit(request)
    _mind_signals(request["mode"])
    os.chdir(request["folder"])
    lock.set_dumpable(1)
    _offer_memory(1000)
    argv = [str(word) for word in request["argv"]]
    match request["mode"]:
        case "once" | "drive":
            first = request["first"] if request["mode"] == "once" else None

            def answer() -> None:
                put_first(room["files"], room["work"])
                drive(room["source"], REQUESTS, REPLIES, first)
                os._exit(0)

            return answer
        case "main":
            _set_environment(request["environment"])
            put_first(room["files"], room["work"])
            return lambda: os._exit(run_main(room["source"], argv))
    itself: Any = ITSELF if request["itself"] else argv[0]

    def execute() -> None:
        try:
            os.execve(itself, argv, request["environment"])
        except OSError as error:
            os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
            os._exit(126)

    return execute


def _set_environment(wanted: dict[str, str]) -> None:
    """Set the environment where it is not right yet: importing `os` takes a millisecond."""
    if {name.decode(): value.decode() for name, value in given.items()} != wanted:
        from os import environ

        environ.clear()
        environ.update(wanted)


def _offer_memory(score: int) -> None:
    try:
        adjust = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(adjust, str(score).encode())
        os.close(adjust)
    except OSError:
        pass


def _mind_signals(mode: str) -> None:
    """Set signal handlers as every program finds them; Python changes some of them."""
    if mode == "exec":
        for signal in (_signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(signal, _signal.SIG_DFL)
    elif mode == "main":
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _limit(request: dict[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (request["cpu"], request["cpu"] + 1))
    resource.setrlimit(resource.RLIMIT_NPROC, (request["processes"],) * 2)
    if request["memory_bytes"]:
        # Only where no cgroup counts it: for one process, not for all of them together.
        resource.setrlimit(resource.RLIMIT_DATA, (request["memory_bytes"],) * 2)
    if request["unshared"]:
        lock.refuse(request["unshared"])
