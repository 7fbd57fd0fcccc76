"""What runs inside the sandbox: a judge, and a driver in front of the untrusted program.

Stands alone on the standard library and imports nothing of twinsmith. For every probe

* the **driver** is a fresh process that loads the program and answers calls over a pipe,
* the **checker** is a fork of the judge that executes the check; in it every function of the
  program is a stub that calls the driver, so a program can only return values: there is no
  result it could print, no expectation it could read and no check it could alter,
* the **judge** watches both, and alone writes results. It is not dumpable, so no process of the
  same user can read its memory or write to its files, and it is process 1 of its namespace, so no
  process in there can kill it and none outlives a probe.

Values cross the pipe as tagged JSON, never as pickle.
"""

import builtins
import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
import traceback
import types
from collections.abc import Callable

LARGEST_FRAME = 4 << 20
LONGEST_ITERATOR = 10_000
MOST_TIMEOUTS = 3
PR_SET_DUMPABLE = 4


class ProgramError(Exception):
    """The program raised something that is not a built-in exception."""


class ProgramDied(Exception):
    """The program ended instead of answering."""


class Opaque:
    """A value that cannot cross the pipe; equal to nothing but itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def encode(value: object) -> object:
    """A value as JSON, with a tag where JSON has no word for it."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 1 << 53 else {"$": "int", "v": hex(value)}
    if isinstance(value, float):
        return {"$": "float", "v": value.hex()}
    if isinstance(value, complex):
        return {"$": "complex", "v": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple | set | frozenset):
        tag = next(t.__name__ for t in (tuple, set, frozenset) if isinstance(value, t))
        return {"$": tag, "v": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"$": "dict", "v": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, bytes | bytearray):
        return {"$": type(value).__name__, "v": value.hex()}
    if hasattr(value, "__next__"):
        items = [item for item, _ in zip(value, range(LONGEST_ITERATOR), strict=False)]  # type: ignore[call-overload]
        return {"$": "iterator", "v": [encode(item) for item in items]}
    return {"$": "opaque", "v": f"<{type(value).__name__} {repr(value)[:200]}>"}


def decode(data: object) -> object:
    """The value again."""
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    tag, v = data["$"], data["v"]
    makers: dict[str, Callable[[], object]] = {
        "int": lambda: int(v, 16),
        "float": lambda: float.fromhex(v),
        "complex": lambda: complex(float.fromhex(v[0]), float.fromhex(v[1])),
        "tuple": lambda: tuple(decode(item) for item in v),
        "set": lambda: {decode(item) for item in v},
        "frozenset": lambda: frozenset(decode(item) for item in v),
        "dict": lambda: {decode(k): decode(item) for k, item in v},
        "bytes": lambda: bytes.fromhex(v),
        "bytearray": lambda: bytearray.fromhex(v),
        "iterator": lambda: iter([decode(item) for item in v]),
        "opaque": lambda: Opaque(str(v)),
    }
    return makers[tag]()


def send(fd: int, message: object) -> None:
    """One frame: its length in four bytes, then JSON."""
    body = json.dumps(message).encode("utf-8", "surrogatepass")
    view = memoryview(len(body).to_bytes(4, "big") + body)
    while view:
        view = view[os.write(fd, view) :]


def receive(fd: int) -> dict[str, object]:
    """The next frame; ProgramDied when the other side is gone or talks nonsense."""
    size = int.from_bytes(_exactly(fd, 4), "big")
    if size > LARGEST_FRAME:
        raise ProgramDied("its answer is too large")
    try:
        message = json.loads(_exactly(fd, size).decode("utf-8", "surrogatepass"))
    except ValueError:
        raise ProgramDied("its answer cannot be read") from None
    if not isinstance(message, dict):
        raise ProgramDied("its answer cannot be read")
    return message


def _exactly(fd: int, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        part = os.read(fd, size - len(parts))
        if not part:
            raise ProgramDied("it ended before it answered")
        parts += part
    return parts


def drive(requests: int, replies: int) -> None:
    """Load the program and answer calls until there are no more."""
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    source = str(receive(requests)["source"])
    try:
        exec(compile(source, "solution.py", "exec"), module.__dict__)
    except BaseException as error:
        send(replies, _raised(error))
        return
    public = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    functions = [name for name, value in public.items() if callable(value)]
    values = {
        name: encode(value)
        for name, value in public.items()
        if not callable(value) and not isinstance(value, types.ModuleType)
    }
    send(replies, {"functions": functions, "values": values})
    while True:
        try:
            request = receive(requests)
        except ProgramDied:
            return
        try:
            args = [decode(arg) for arg in request["args"]]  # type: ignore[attr-defined]
            kwargs = {k: decode(v) for k, v in request["kwargs"].items()}  # type: ignore[attr-defined]
            value = public[str(request["call"])](*args, **kwargs)
            # Arguments travel back as well: a program may change a list in place.
            answer = {"value": encode(value), "args": [encode(arg) for arg in args]}
        except BaseException as error:
            answer = _raised(error)
        send(replies, answer)


def _raised(error: BaseException) -> dict[str, object]:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if f.filename == "solution.py"]
    where = f" (line {lines[-1]})" if lines else ""
    try:
        message = str(error)
    except BaseException:
        message = "?"
    return {"raised": type(error).__name__, "message": message[:2000], "where": where}


class Program:
    """The program as the checker sees it: names to call, and what the last call gave."""

    def __init__(self, requests: int, replies: int, source: str) -> None:
        self._requests = requests
        self._replies = replies
        self.last = ""
        send(requests, {"source": source})
        hello = receive(replies)
        if "raised" in hello:
            raise _rebuilt(hello)
        self.names: dict[str, object] = {
            str(name): decode(value)
            for name, value in hello["values"].items()  # type: ignore[attr-defined]
        }
        for name in hello["functions"]:  # type: ignore[attr-defined]
            self.names[str(name)] = self._stub(str(name))

    def _stub(self, name: str) -> object:
        def call(*args: object, **kwargs: object) -> object:
            shown = [repr(arg) for arg in args] + [f"{k}={v!r}" for k, v in kwargs.items()]
            self.last = f"{name}({', '.join(shown)})"
            send(
                self._requests,
                {
                    "call": name,
                    "args": [encode(arg) for arg in args],
                    "kwargs": {k: encode(v) for k, v in kwargs.items()},
                },
            )
            answer = receive(self._replies)
            if "raised" in answer:
                self.last += f" raised {answer['raised']}: {answer['message']}{answer['where']}"
                raise _rebuilt(answer)
            for arg, after in zip(args, answer["args"], strict=False):  # type: ignore[call-overload]
                _update(arg, decode(after))
            value = decode(answer["value"])
            self.last += f" returned {value!r}"
            return value

        call.__name__ = name
        return call


def _rebuilt(answer: dict[str, object]) -> Exception:
    kind = getattr(builtins, str(answer["raised"]), None)
    text = f"{answer['message']}{answer['where']}"
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text)
        except TypeError:
            pass
    return ProgramError(f"{answer['raised']}: {text}")


def _update(arg: object, after: object) -> None:
    if isinstance(arg, list | bytearray) and type(arg) is type(after):
        arg[:] = after
    elif isinstance(arg, dict | set) and type(arg) is type(after):
        arg.clear()
        arg.update(after)


def check(requests: int, replies: int, job: dict[str, str], probe: dict[str, str]) -> list[str]:
    """Execute one check in this process: outcome and detail."""
    program = None
    try:
        program = Program(requests, replies, job["source"])
        stub = types.ModuleType("solution")
        stub.__dict__.update(program.names)
        sys.modules["solution"] = stub
        space = {**program.names, "__name__": "check"}
        exec(compile(job["setup"], "setup", "exec"), space)
        exec(compile(probe["source"], "check", "exec"), space)
    except AssertionError as error:
        said = f" ({error})" if str(error) else ""
        last = f": {program.last}" if program and program.last else ""
        return ["failed", f"{probe['source'].splitlines()[-1].strip()}{said}{last}"]
    except ProgramDied as error:
        return ["killed", f"the program stopped: {error}"]
    except BaseException as error:
        last = f"; {program.last}" if program and program.last else ""
        return ["raised", f"{type(error).__name__}: {error}{last}"]
    return ["passed", ""]


def probe_once(job: dict[str, str], probe: dict[str, str], limits: dict[str, float]) -> list[str]:
    """One driver, one checker, one result: outcome, detail, what the program printed."""
    to_driver, to_checker, result = os.pipe(), os.pipe(), os.pipe()
    driver = subprocess.Popen(
        [sys.executable, "-usS", __file__, "drive", str(to_driver[0]), str(to_checker[1])],
        pass_fds=(to_driver[0], to_checker[1]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    os.close(to_driver[0])
    os.close(to_checker[1])
    sys.stdout.flush()
    checker = os.fork()
    if checker == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.close(result[0])
        verdict = check(to_driver[1], to_checker[0], job, probe)
        os.write(result[1], json.dumps([text[:4000] for text in verdict]).encode())
        os._exit(0)
    for fd in (to_driver[1], to_checker[0], result[1]):
        os.close(fd)
    try:
        return _watch(driver, result[0], limits)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        driver.wait()
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
        os.close(result[0])
        driver.stdout.close()  # type: ignore[union-attr]


def _watch(driver: "subprocess.Popen[bytes]", result: int, limits: dict[str, float]) -> list[str]:
    printed, said = b"", b""
    assert driver.stdout is not None
    out = driver.stdout.fileno()
    deadline = time.monotonic() + limits["probe_seconds"]
    watched = selectors.DefaultSelector()
    watched.register(out, selectors.EVENT_READ)
    watched.register(result, selectors.EVENT_READ)
    while True:
        left = deadline - time.monotonic()
        ready = watched.select(max(left, 0))
        if not ready and left <= 0:
            return ["timed out", f"no answer in {limits['probe_seconds']:g} s", _text(printed)]
        for key, _ in ready:
            part = os.read(key.fd, 65536)
            if key.fd == out:
                printed += part
                if not part:
                    watched.unregister(out)
                if len(printed) > limits["output_bytes"]:
                    detail = f"more than {limits['output_bytes']:g} bytes printed"
                    return ["output too large", detail, _text(printed[:2000])]
            elif part:
                said += part
            else:
                return [*_verdict(said), _text(printed + _rest(out))]


def _verdict(said: bytes) -> list[str]:
    """What the checker wrote; a check that scribbles over its own result has none."""
    try:
        outcome, detail = json.loads(said)
    except (ValueError, TypeError):
        return ["killed", "the check ended without a result"]
    return [str(outcome), str(detail)]


def _rest(out: int) -> bytes:
    """What the program printed just before it answered."""
    os.set_blocking(out, False)
    try:
        return os.read(out, 65536)
    except BlockingIOError:
        return b""


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace")


def judge() -> None:
    """Read the job, run each probe, write one line a result."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    job = json.load(sys.stdin)
    timeouts = 0
    for number, probe in enumerate(job["probes"]):
        if timeouts >= MOST_TIMEOUTS:
            row = ["timed out", f"not run: {timeouts} probes before it timed out", ""]
        else:
            row = probe_once(job, probe, job["limits"])
            timeouts += row[0] == "timed out"
        print(json.dumps([number, *row]), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "judge":
        judge()
    else:
        drive(int(sys.argv[2]), int(sys.argv[3]))
