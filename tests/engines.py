"""Real container engines for tests: those that run are used; one that was started is stopped."""

import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.strictness import elsewhere
from twinsmith.adapters.sandbox.container_args import PATH, Engine

FOLDER = Path(f"/tmp/twinsmith-docker-{os.geteuid()}")
SOCKET = f"unix://{FOLDER}/docker.sock"
USERS = FOLDER / "users"
_broken: list[str] = []
INSTALL = {"docker": "apt-get install -y docker.io", "podman": "apt-get install -y podman runc"}


def absent(engine: Engine) -> str:
    """Nothing, or why this engine cannot be used here and how to get it."""
    if engine == "docker" and _broken:
        return _broken[0]
    if shutil.which(engine, path=PATH) is None:
        return f"{engine} is not installed; run: {INSTALL[engine]}"
    if engine == "podman" or _answers(""):
        return ""
    if os.geteuid() != 0:
        return "docker does not answer, and only root can start it; run: systemctl start docker"
    if shutil.which("dockerd", path=PATH) is None:
        return f"docker is here without its engine; run: {INSTALL[engine]}"
    return ""


@contextmanager
def serving(engine: Engine) -> Iterator[str]:
    """The address of a running engine; nothing for the usual one, and Podman needs none."""
    if engine == "podman" or _answers(""):
        yield ""
        return
    own = USERS / f"{os.getpid()}-{secrets.token_hex(4)}"
    with _alone():
        USERS.mkdir(parents=True, exist_ok=True)
        own.touch()
        if not _answers(SOCKET):
            _start()
    try:
        yield SOCKET
    finally:
        with _alone():
            own.unlink()
            owners = [user.name.partition("-")[0] for user in USERS.iterdir()]
            if not any(Path("/proc", owner).exists() for owner in owners):
                _stop()


def containers(engine: Engine, host: str, prefix: str) -> list[str]:
    """The names of all containers, running or not, that begin so."""
    line = [engine, *(["--host", host] if host else [])]
    line += ["ps", "--all", "--filter", f"name={prefix}", "--format", "{{.Names}}"]
    done = subprocess.run(line, env=_environment(), capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split() if name.startswith(prefix)]


def volumes(engine: Engine, host: str, prefix: str) -> list[str]:
    """The names of all volumes that begin so."""
    line = [engine, *(["--host", host] if host else [])]
    line += ["volume", "ls", "--format", "{{.Name}}"]
    done = subprocess.run(line, env=_environment(), capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split() if name.startswith(prefix)]


def inspected(engine: Engine, host: str, kind: str, name: str) -> dict[str, object]:
    """A container, volume or image as its engine tells it; empty where there is none."""
    line = [engine, *(["--host", host] if host else []), kind, "inspect", name]
    done = subprocess.run(line, env=_environment(), capture_output=True, text=True, check=False)
    found: list[dict[str, object]] = json.loads(done.stdout or "[]")
    return found[0] if found else {}


@contextmanager
def another_of(engine: Engine, host: str, image: str) -> Iterator[None]:
    """Somebody else's container, never started, that is made of an image; both go in the end."""
    line = [engine, *(["--host", host] if host else [])]
    name = f"twinsmith-tests-{secrets.token_hex(4)}"

    def do(*words: str) -> None:
        subprocess.run([*line, *words], env=_environment(), capture_output=True, check=True)

    do("create", "--network", "none", "--name", name, image)
    try:
        yield
    finally:
        do("rm", "--volumes", name)
        do("rmi", image)


def refuse_shared() -> None:
    """Skip a test that kills dockerd where it is not ours, or another run of tests uses it."""
    if not (FOLDER / "pid").exists():
        elsewhere("docker is not the tests' own here, so it is not killed")
    others = {user.name.partition("-")[0] for user in USERS.iterdir()} - {str(os.getpid())}
    if any(Path("/proc", other).exists() for other in others):
        elsewhere("another run of tests uses the same dockerd, so it is not killed")


@contextmanager
def killed_and_back() -> Iterator[None]:
    """The tests' own dockerd, killed at once for the length of a block, and started again."""
    with _alone():
        refuse_shared()
        pid = int((FOLDER / "pid").read_text())
        os.kill(pid, signal.SIGKILL)
        _until_gone(pid)
        _forget_dead()
        try:
            yield
        finally:
            _start()


def _start() -> None:
    # Without a bridge and rules of its own it touches nothing of this machine's network.
    words = ["--host", SOCKET, "--data-root", f"{FOLDER}/data", "--exec-root", f"{FOLDER}/exec"]
    words += ["--pidfile", f"{FOLDER}/pid", "--bridge=none", "--iptables=false"]
    words += ["--ip-forward=false", "--ip-masq=false", "--config-file", f"{FOLDER}/daemon.json"]
    (FOLDER / "daemon.json").write_text("{}")
    with (FOLDER / "log").open("w") as log:
        # Nobody's child: whichever worker is the last to need it ends it.
        subprocess.run(
            ["setsid", "--fork", "dockerd", *words],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )
    deadline = time.monotonic() + 30
    while not _answers(SOCKET):
        said = (FOLDER / "log").read_text()
        if time.monotonic() > deadline or "failed to start daemon" in said:
            _broken.append(f"dockerd does not start here: {said.strip()[-300:]}")
            pytest.skip(_broken[0])
        time.sleep(0.1)


def _stop() -> None:
    with suppress(FileNotFoundError, ProcessLookupError):
        pid = int((FOLDER / "pid").read_text())
        if str(FOLDER) in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, signal.SIGTERM)
        _until_gone(pid)
    for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
        # One that was killed leaves its mounts behind.
        if line.split()[1].startswith(f"{FOLDER}/"):
            subprocess.run(["umount", "--lazy", line.split()[1]], check=True)
    shutil.rmtree(FOLDER, ignore_errors=True)


def _forget_dead() -> None:
    """Remove what says that a killed dockerd runs, and the containerd that dies with it.

    The next one would take dead processes that nobody has collected yet for living ones.
    """
    (FOLDER / "pid").unlink()
    below = FOLDER / "exec" / "containerd" / "containerd.pid"
    _until_gone(int(below.read_text()))
    below.unlink()


def _until_gone(pid: int) -> None:
    deadline = time.monotonic() + 30
    while _lives(pid):
        assert time.monotonic() < deadline, "the test's dockerd does not stop"
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _answers(host: str) -> bool:
    line = ["docker", *(["--host", host] if host else []), "version", "--format", "{{.Server}}"]
    done = subprocess.run(line, env=_environment(), capture_output=True, check=False)
    return done.returncode == 0


def _environment() -> dict[str, str]:
    return {"PATH": PATH, "HOME": str(Path.home())}


@contextmanager
def _alone() -> Iterator[None]:
    with FOLDER.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
