"""The process that keeps one instance running on this machine, and keeps its log.

`python -m twinsmith.adapters.hosting.supervisor FOLDER`, with the secrets as JSON on standard
input. It holds the lease of its folder as long as it lives; when it dies, the program dies with it.
SIGTERM asks the program to finish; SIGKILL ends both at once.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from twinsmith.adapters.hosting.local_args import Bind, Room
from twinsmith.adapters.hosting.local_room import PATH, Started, entered, groups_here
from twinsmith.adapters.lease import lease
from twinsmith.adapters.sandbox import cgroup
from twinsmith.core.errors import HostError, RunBusy
from twinsmith.core.operating.instance import InstanceState

PLAN, STATUS, LOG, OLD_LOG = "instance.json", "status.json", "log", "log.1"
ROLLED = "rolled"
"""The file that tells how many bytes of log were written before those in the newest file."""
LOG_BYTES = 1 << 20
LONGEST_LINE = 1 << 16
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0
STEADY_SECONDS = 60.0
"""Whoever ran for so long is taken for healthy: the next pause is short again."""
MASK = b"***"
SHORTEST_SECRET = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to run, as it lies in the folder of the instance."""

    words: tuple[str, ...]
    folder: str
    binds: tuple[Bind, ...]
    environment: dict[str, str]
    user: int
    memory_mb: int
    processes: int
    restarts: bool
    lock: str
    """The file that is locked as long as its data are in use."""
    secrets: str = ""
    """The SHA-256 of its secrets: with other ones it is another plan."""

    @classmethod
    def read(cls, text: str) -> "Plan":
        """The plan that a text holds."""
        given = json.loads(text)
        binds = tuple(Bind(**each) for each in given.pop("binds"))
        return cls(**{**given, "words": tuple(given["words"]), "binds": binds})

    def written(self) -> str:
        """The plan as text; the same plan gives the same text."""
        given = {name: getattr(self, name) for name in self.__slots__}
        binds = [{n: getattr(each, n) for n in Bind.__slots__} for each in self.binds]
        return json.dumps({**given, "binds": binds}, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a supervisor tells of its program in the folder of the instance."""

    state: InstanceState
    since: str
    restarts: int = 0
    reason: str = ""
    """Why the program ended the last time."""
    pid: int = 0
    """The process of the program, as this machine numbers it; 0 where none runs."""
    outer: int = 0
    """The process of bubblewrap around it."""
    counted: bool = False
    """Whether a control group of its own counts what it uses."""

    @classmethod
    def read(cls, text: bytes | str) -> "Told":
        """What a text tells; ValueError where it is none."""
        given = json.loads(text)
        return cls(**{name: given[name] for name in cls.__slots__ if name in given})

    def written(self) -> str:
        """What is told as text."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__})


@dataclass
class Log:
    """The last lines of a program, in two files of at most a megabyte each; secrets are masked."""

    folder: Path
    secrets: tuple[bytes, ...] = ()
    _rest: bytes = field(default=b"", init=False)
    _rolled: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Go on counting where a supervisor before this one stopped."""
        with suppress(OSError, ValueError):
            self._rolled = int((self.folder / ROLLED).read_text())

    def write(self, came: bytes) -> None:
        """Keep all whole lines of what came; the beginning of one waits for its end."""
        whole, end, rest = (self._rest + came).rpartition(b"\n")
        self._rest = rest
        if len(rest) >= LONGEST_LINE:
            whole, end, self._rest = whole + end + rest, b"\n", b""
        if end:
            self._keep(whole + end)

    def end(self) -> None:
        """Keep the last line, although nobody ended it."""
        if self._rest:
            self._keep(self._rest + b"\n")
            self._rest = b""

    def _keep(self, lines: bytes) -> None:
        for secret in self.secrets:
            lines = lines.replace(secret, MASK)
        path = self.folder / LOG
        size = path.stat().st_size if path.exists() else 0
        if size and size + len(lines) > LOG_BYTES:
            path.replace(self.folder / OLD_LOG)
            self._rolled += size
            with suppress(OSError):
                (self.folder / ROLLED).write_text(str(self._rolled))
        # On a full disk a program goes on without its log.
        with suppress(OSError), path.open("ab") as file:
            file.write(lines)


class Supervisor:
    """Keeps one instance running until it is told to stop."""

    def __init__(self, folder: Path, plan: Plan, secrets: dict[str, str]) -> None:
        self._folder = folder
        self._plan = plan
        self._secrets = secrets
        known = sorted((s.encode() for s in secrets.values() if len(s) >= SHORTEST_SECRET), key=len)
        self._log = Log(folder, tuple(reversed(known)))
        self._groups = groups_here()
        self._stopping = threading.Event()
        self._inner = 0
        self._restarts = 0
        self._reason = ""
        """Why the program ended the last time."""

    def run(self) -> None:
        """Run the program again and again; ends when it may not, or is told to."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            began = time.monotonic()
            self._reason = reason = self._once()
            if self._stopping.is_set() or not self._plan.restarts:
                self._tell("exited", reason)
                return
            if time.monotonic() - began > STEADY_SECONDS:
                pause = FIRST_PAUSE
            self._restarts += 1
            self._tell("restarting", reason)
            self._stopping.wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        self._tell("exited", "stopped")

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """Ask the program to finish."""
        self._stopping.set()
        if self._inner:
            with suppress(ProcessLookupError):
                os.kill(self._inner, signal.SIGTERM)

    def _once(self) -> str:
        """One life of the program; why it ended, in words."""
        plan = self._plan
        room = Room(
            words=plan.words,
            folder=plan.folder,
            binds=plan.binds,
            environment={**plan.environment, **self._secrets},
            user=plan.user,
            processes=plan.processes,
            memory_mb=plan.memory_mb if self._groups is None else 0,
        )
        name = f"{os.getpid()}-app{self._restarts}"
        try:
            with entered(room, self._groups, name=name, memory_mb=plan.memory_mb) as started:
                return self._lived(started)
        except HostError as error:
            return str(error)

    def _lived(self, started: Started) -> str:
        stream = started.process.stdout
        assert stream is not None
        self._inner = started.inner()
        try:
            if self._inner:
                self._tell("running", self._reason, started)
            if self._stopping.is_set():
                self.stop(0, None)
            while came := os.read(stream.fileno(), 1 << 16):
                self._log.write(came)
            self._log.end()
            code = started.process.wait()
        finally:
            self._inner = 0
        spent = started.group is not None and cgroup.out_of_memory(started.group) > 0
        return reason_of(code, out_of_memory=spent)

    def _tell(self, state: InstanceState, reason: str = "", started: Started | None = None) -> None:
        told = Told(
            state=state,
            since=datetime.now(UTC).isoformat(),
            restarts=self._restarts,
            reason=reason,
            pid=self._inner,
            outer=started.process.pid if started else 0,
            counted=started is not None and started.group is not None,
        )
        aside = self._folder / f"{STATUS}.new"
        with suppress(OSError):
            aside.write_text(told.written())
            aside.replace(self._folder / STATUS)


def reason_of(code: int, *, out_of_memory: bool) -> str:
    """Why a program ended, in words; bubblewrap gives a signal as 128 and its number."""
    if out_of_memory:
        return "out of memory"
    if code < 0 or code > 128:
        return f"signal {-code if code < 0 else code - 128}"
    return f"exit code {code}"


def start(folder: Path, plan: Plan, secrets: dict[str, str]) -> None:
    """Start a supervisor that outlives this process; HostError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / PLAN).write_text(plan.written())
        log = (folder / "supervisor.log").open("wb")
    except OSError as error:
        raise HostError(f"{folder.name} cannot be started: {error.strerror}; make room") from error
    words = [sys.executable, "-m", "twinsmith.adapters.hosting.supervisor", str(folder)]
    with log:
        done = subprocess.run(
            [*("setsid", "--fork"), *words],
            # Nothing of whoever starts it: no key of a model, no setting.
            env={"PATH": PATH},
            input=json.dumps(secrets).encode(),
            stdout=log,
            stderr=log,
            check=False,
            cwd="/",
        )
    if done.returncode:
        raise HostError(f"no supervisor can be started in {folder}: exit code {done.returncode}")


@contextmanager
def _using(lock: str) -> Iterator[None]:
    """Keep whoever would remove the data away from them for as long as the block lasts."""
    file = os.open(lock, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield
    finally:
        os.close(file)


def main() -> None:
    """Supervise the instance in the folder that the command line names."""
    folder = Path(sys.argv[1])
    secrets = json.loads(sys.stdin.read() or "{}")
    try:
        with lease(folder, f"instance {folder.name}"):
            plan = Plan.read((folder / PLAN).read_text())
            supervisor = Supervisor(folder, plan, secrets)
            signal.signal(signal.SIGTERM, supervisor.stop)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            with _using(plan.lock):
                supervisor.run()
    except RunBusy:
        # Another one was faster: it runs once.
        return


if __name__ == "__main__":
    main()
