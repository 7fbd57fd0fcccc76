"""Faults, what is right to do about each, and an app that can be told to have them."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from bench.release_yard import APP, Place, engine_of
from tests.delivered import asked, proxies
from tests.engines import killed_and_back
from twinsmith.adapters.hosting.engine_args import container_name, mark_of
from twinsmith.core.operating.incident import Incident
from twinsmith.core.operating.instance import HostName, instance_name
from twinsmith.settings import load
from twinsmith.wiring.watching import incidents_of

WAIT_SECONDS = 90.0
SERVICE = """

import threading, time

TOLD, KEPT = threading.Event(), []


def ends(after):
    time.sleep(after)
    os.kill(os.getppid() if os.getpid() != 1 else 1, 15)


@app.get("/work")
def route_work():
    return jsonify(ok=True)


@app.get("/fault/<what>")
def route_fault(what):
    if what == "loop":
        open("/data/loops", "w").close()
        threading.Thread(target=ends, args=(0.1,)).start()
    if what == "leak":
        threading.Thread(target=grow, args=(1 << 20,), daemon=True).start()
    if what == "eat":
        threading.Thread(target=grow, args=(100 << 20,), daemon=True).start()
    if what == "flood":
        threading.Thread(target=talk, daemon=True).start()
    TOLD.what = what
    TOLD.set()
    return jsonify(ok=True)


def grow(each):
    while True:
        KEPT.append(bytearray(b"x" * each))
        time.sleep(0.1)


def talk():
    while True:
        print("x" * 20_000, flush=True)
        time.sleep(0.002)


@app.before_request
def troubled():
    what = getattr(TOLD, "what", "")
    if what == "hang":
        time.sleep(3600)
    if what == "errors":
        return ("no", 500)
    if what == "slow":
        time.sleep(1.2)


if os.path.exists("/data/loops"):
    threading.Thread(target=ends, args=(0.3,)).start()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong, and what is right to do about it."""

    name: str
    right: str
    """The beginning of the first deed that mends it; empty: the host or the proxy does, no deed."""
    elsewhere: tuple[str, str, str]
    """What Docker with `--restart`, Kubernetes with probes, and Kamal do about it."""
    inject: Callable[["Bench"], None]
    only: tuple[HostName, ...] = get_args(HostName)
    """The hosts on which there is such a thing."""


class Bench:
    """The app with its two versions, and a client that asks all along."""

    def __init__(self, where: Place) -> None:
        self.where = where
        self.yard = where.yard
        self.watcher: subprocess.Popen[str] | None = None

    def told(self, what: str) -> None:
        """Let the second version do something."""
        asked(self.where.port, f"/fault/{what}")

    def process(self) -> int:
        """The number of the process that an instance is, as this machine sees it."""
        name = instance_name(APP, 2)
        if self.yard.host == "local":
            path = self.yard.command.home / "apps" / "instances" / name / "status.json"
            return int(json.loads(path.read_text())["pid"])
        told = self._engine("inspect", "--format", "{{.State.Pid}}", self.container)
        return int(told.strip())

    @property
    def container(self) -> str:
        """The name of the container of the second version."""
        home = str(load(self.yard.command.environment).home)
        return container_name(mark_of(home), instance_name(APP, 2))

    def kill(self) -> None:
        """Kill -9 of the program."""
        os.kill(self.process(), signal.SIGKILL)

    def vanish(self) -> None:
        """The supervisor is killed, or the container removed, behind everybody's back."""
        if self.yard.host != "local":
            self._engine("rm", "--force", self.container)
            return
        lease = self.yard.command.home / "apps" / "instances" / instance_name(APP, 2) / "lease"
        os.kill(int(lease.read_text()), signal.SIGKILL)

    def engine(self) -> None:
        """Kill -9 of dockerd, which is started again after two seconds."""
        with killed_and_back():
            time.sleep(2)

    def both(self) -> None:
        """All requests fail, and the monitor is killed when it has just seen that."""
        self.told("errors")
        known = len(self.incidents())
        deadline = time.time() + WAIT_SECONDS
        while len(self.incidents()) == known and time.time() < deadline:
            time.sleep(0.05)
        assert self.watcher is not None
        self.watcher.kill()
        self.watcher.communicate()
        self.watcher = self.yard.command.start("monitor")

    def proxy(self) -> None:
        """Kill -9 of the proxy."""
        for pid in proxies(self.yard.command):
            os.kill(pid, signal.SIGKILL)

    def incidents(self) -> tuple[Incident, ...]:
        """All incidents there ever were."""
        return incidents_of(load(self.yard.command.environment)).listed(over=True)

    def _engine(self, *words: str) -> str:
        address = self.yard.command.env.get(f"TWINSMITH_HOSTING_{self.yard.host.upper()}", "")
        host = ["--host", address] if address else []
        line = [engine_of(self.where_host), *host, *words]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    @property
    def where_host(self) -> HostName:
        """The host that the app is on."""
        return next(each for each in get_args(HostName) if each == self.yard.host)


NOTHING = "nothing: it still runs"
RESTARTS = "restarts it"
FAULTS = (
    Fault(
        name="kill -9",
        right="",
        elsewhere=(RESTARTS, RESTARTS, "as Docker"),
        inject=Bench.kill,
    ),
    Fault(
        name="crash loop",
        right="rollback",
        elsewhere=("restarts for ever", "CrashLoopBackOff", "as Docker"),
        inject=lambda bench: bench.told("loop"),
    ),
    Fault(
        name="hang",
        right="restart",
        elsewhere=(NOTHING, "restarts it after 3 failed probes", NOTHING),
        inject=lambda bench: bench.told("hang"),
    ),
    Fault(
        name="errors",
        right="rollback",
        elsewhere=(NOTHING, "nothing, or restarts if its probe fails", NOTHING),
        inject=lambda bench: bench.told("errors"),
    ),
    Fault(
        name="slow",
        right="rollback",
        elsewhere=(NOTHING, NOTHING, NOTHING),
        inject=lambda bench: bench.told("slow"),
    ),
    Fault(
        name="leak of 10 MB/s",
        right="rollback",
        elsewhere=("restarts at the limit", "kills at the limit, restarts", "as Docker"),
        inject=lambda bench: bench.told("leak"),
    ),
    Fault(
        name="out of memory",
        right="",
        elsewhere=(RESTARTS, RESTARTS, "as Docker"),
        inject=lambda bench: bench.told("eat"),
    ),
    Fault(
        name="log flood",
        right="a person was told",
        elsewhere=("nothing: its log driver rotates", NOTHING, NOTHING),
        inject=lambda bench: bench.told("flood"),
    ),
    Fault(
        name="monitor killed",
        right="rollback",
        elsewhere=(NOTHING, "nothing, or restarts if its probe fails", NOTHING),
        inject=lambda bench: bench.both(),
    ),
    Fault(
        name="engine killed",
        right="restart",
        elsewhere=("its supervisor restarts it", "the same", "as Docker"),
        inject=lambda bench: bench.engine(),
        only=("docker",),
    ),
    Fault(
        name="gone",
        right="restart",
        elsewhere=("nothing: it is removed", "starts another", "nothing"),
        inject=Bench.vanish,
    ),
    Fault(
        name="proxy killed",
        right="",
        elsewhere=("has none", "has it restarted", "as Docker"),
        inject=Bench.proxy,
    ),
)
