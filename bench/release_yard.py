"""An app in a data folder of its own, released and rolled back by the real command, then gone."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bench.release_load import marked
from tests.conftest import Command
from tests.delivered import QUICK, Yard, result
from twinsmith.adapters.hosting.engine_args import Engine
from twinsmith.core.operating.instance import SOCKET, HostName, instance_name
from twinsmith.settings import load
from twinsmith.wiring.delivering import sockets_of

TERMS = {
    **QUICK,
    "TWINSMITH_DEPLOY_CANARY_SECONDS": "1",
    "TWINSMITH_DEPLOY_SOAK_SECONDS": "1",
    "TWINSMITH_DEPLOY_CANARY_SHARE": "10",
    # Benches that run at the same time do not take each other's ports.
    "TWINSMITH_HOSTING_FIRST_PORT": str(18_700 + os.getpid() % 100 * 10),
}
"""Quick terms: what waits on purpose waits for a second."""
APP = "shop"
HANG_SECONDS = 20.0
"""An override that takes longer waits for what it should beat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One command: when it began and ended, and the stages that its run journalled."""

    began: float
    ended: float
    cpu: float
    """Seconds of CPU time of the command's own process: others may use the cores as well."""
    release: int = 0
    stages: Mapping[str, tuple[float, float]]

    @property
    def seconds(self) -> float:
        """How long the whole command took."""
        return self.ended - self.began


class Place:
    """The app `shop` on one host, whose versions are told apart by their marks."""

    def __init__(self, made: Yard, folder: Path) -> None:
        self.yard = made
        self.folder = folder
        self._marks: dict[int, str] = {}
        self._wake: Callable[[], None] = lambda: None

    @property
    def port(self) -> int:
        """The port at which its proxy listens."""
        return self.yard.port

    def bare(self, release: int) -> Path:
        """The socket of a release that runs, without a proxy."""
        below = "i" if self.yard.host == "local" else "c"
        sockets = sockets_of(load(self.yard.command.environment))
        return sockets / below / instance_name(APP, release) / SOCKET

    def mark(self, release: int) -> str:
        """What the answers of a release say."""
        return self._marks[release]

    def version(self, mark: str) -> Path:
        """The folder of a version that nobody has deployed yet."""
        return result(
            self.folder / f"version-{mark}", mark=mark, edit=lambda text: marked(mark, text)
        )

    def deploy(self, mark: str) -> Told:
        """Release a version."""
        version = self.version(mark)
        done = self._timed("deploy", str(version), "--name", APP, "--host", self.yard.host)
        self._marks[done.release] = mark
        return done

    def started(self) -> Told:
        """The start of the command alone."""
        began, cpu = time.time(), _children_cpu()
        self.yard.command("--version")
        return Told(began=began, ended=time.time(), cpu=_children_cpu() - cpu, stages={})

    def rollback(self, to: int) -> Told:
        """Go to another release, by an action of the usual kind."""
        return self._timed("rollback", APP, "--to", str(to))

    def override(self) -> Told:
        """Roll back over the head of everything, then lift that again; only the first is timed."""
        began, cpu = time.time(), _children_cpu()
        command = self.yard.command
        process = command.start("override", "rollback", APP, "--reason", "measured")
        try:
            _, said = process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            # It waits for whoever hangs: that is over, and the time is told as it is.
            self._wake()
            _, said = process.communicate()
        ended, used = time.time(), _children_cpu() - cpu
        if process.returncode:
            raise RuntimeError(f"the override failed: {said}")
        _progress(ended - began, "override", "rollback", APP)
        self.yard.act("override", "release", APP, "--reason", "measured")
        return Told(began=began, ended=ended, cpu=used, stages={})

    @contextmanager
    def busy(self, mark: str, *, hangs: bool) -> Iterator[None]:
        """Another release under way, which has come to its canary; one that hangs does nothing."""
        command = self.yard.command
        before = set(command.runs())
        usual = command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"]
        command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"] = "60"
        words = ("deploy", str(self.version(mark)), "--name", APP, "--host", self.yard.host)
        process = command.start(*words)
        try:
            while not self._compares(before):
                if process.poll() is not None:
                    raise RuntimeError(f"the deploy ended: {process.communicate()}")
                time.sleep(0.05)
            if hangs:
                process.send_signal(signal.SIGSTOP)
                self._wake = lambda: process.send_signal(signal.SIGCONT)
            yield
        finally:
            self._wake = lambda: None
            command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"] = usual
            process.send_signal(signal.SIGCONT)
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()

    def _compares(self, before: set[str]) -> bool:
        """Whether a run that is new is in its canary."""
        runs = set(self.yard.command.runs()) - before
        return any("canary" in starts(self.yard.command.events(run)) for run in runs)

    def _timed(self, *words: str) -> Told:
        began, cpu = time.time(), _children_cpu()
        said = self.yard.act(*words)
        ended, used = time.time(), _children_cpu() - cpu
        run = str(said.get("run", ""))
        _progress(ended - began, *words)
        return Told(
            began=began,
            ended=ended,
            cpu=used,
            release=int(str(said.get("release", 0))),
            stages=stages(self.yard.command.events(run), began, ended) if run else {},
        )


def starts(events: Sequence[Mapping[str, object]]) -> dict[str, float]:
    """When each stage of a run began, by its journal."""
    return {name: at for kind, name, at in _moments(events) if kind == "stage.started"}


def stages(
    events: Sequence[Mapping[str, object]], began: float, ended: float
) -> dict[str, tuple[float, float]]:
    """When each stage of a run began and ended, by its journal; one that never ended is left out.

    `start` is from the command to the first line of the journal, `begin` from there to the first
    stage, `end` from the last stage to the end of the command.
    """
    starting = starts(events)
    ending = {name: at for kind, name, at in _moments(events) if kind == "stage.finished"}
    found = {name: (at, ending[name]) for name, at in starting.items() if name in ending}
    if not found:
        return {}
    told = datetime.fromisoformat(str(events[0]["at"])).timestamp()
    first, last = min(at for at, _ in found.values()), max(at for _, at in found.values())
    return {"start": (began, told), "begin": (told, first), **found, "end": (last, ended)}


def _progress(seconds: float, *words: str) -> None:
    print(f"{seconds:6.1f} s  {' '.join(words)}", file=sys.stderr, flush=True)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _moments(events: Sequence[Mapping[str, object]]) -> Iterator[tuple[str, str, float]]:
    for event in events:
        data = event.get("data")
        if isinstance(data, dict) and "stage" in data:
            at = datetime.fromisoformat(str(event["at"])).timestamp()
            yield str(event["kind"]), str(data["stage"]), at


@contextmanager
def place(host: HostName, address: str, *, proxy: str = "auto") -> Iterator[Place]:
    """A fresh data folder; nothing of it is left afterwards, on no host."""
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-release-"))
    # Whoever uses a command twice has it compiled.
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    env = {**TERMS, **compiled, "TWINSMITH_HOSTING_PROXY": proxy}
    if address and host != "local":
        env[f"TWINSMITH_HOSTING_{host.upper()}"] = address
    made = Yard(Command(home=folder / "home", env=env), host)
    try:
        yield Place(made, folder)
    finally:
        _removed(made)
        shutil.rmtree(folder, ignore_errors=True)


def _removed(made: Yard) -> None:
    """Take the app away with its images and its data, and whatever process it had."""
    # What holds one app outlives the end of what holds all; and what is held is not removed.
    made.command("override", "release", APP, "--reason", "over", code=None)
    made.clear()
    made.command("remove", APP, "--data", code=None)
    sockets = sockets_of(load(made.command.environment))
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError, ProcessLookupError):
            if str(sockets).encode() in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGTERM)
    shutil.rmtree(sockets, ignore_errors=True)


def engine_of(host: HostName) -> Engine:
    """The engine that things are done on by hand beside a host."""
    return "podman" if host == "podman" else "docker"
