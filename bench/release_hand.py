"""The same image released by hand with an engine's command, under the same load.

Clients ask the Unix socket itself: what stands before it by hand is a link at most.
"""

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.release_load import Asked, Load, first_answer, marked
from bench.release_switches import MARGIN_SECONDS
from tests.delivered import Edit, result
from tests.hosts import OPENERS, package
from tests.unix_http import ask
from twinsmith.adapters.hosting.engine_args import EACH_PROCESS, LISTEN, RUN, TMP, Engine
from twinsmith.adapters.sandbox.container_args import PATH
from twinsmith.core.operating.containerfile import DATA
from twinsmith.core.operating.deliverable import deliverable_in
from twinsmith.core.operating.instance import MEMORY_MB, PROCESSES, SOCKET

Way = Literal["stop, then start", "blue/green, at once", "blue/green, once it answers"]
WAYS: tuple[Way, ...] = (
    "stop, then start",
    "blue/green, at once",
    "blue/green, once it answers",
)
READY_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand:
    """One release by hand: from the first word to the first answer and to the end."""

    way: Way
    first_seconds: float | None
    seconds: float
    asked: Sequence[Asked]


def run_words(image: str, name: str, folder: Path, volume: str) -> list[str]:
    """What starts a version by hand, with the limits of an instance."""
    limits = [f"--ulimit={limit}={most}" for limit, most in EACH_PROCESS.items()]
    return [
        *("run", "--detach", "--name", name, "--network=none", "--read-only", "--cap-drop=ALL"),
        *("--security-opt=no-new-privileges", f"--memory={MEMORY_MB}m"),
        *(f"--memory-swap={MEMORY_MB}m", f"--pids-limit={PROCESSES}", *limits),
        *(f"--tmpfs=/tmp:{TMP}", f"--volume={volume}:{DATA}", f"--volume={folder}:{RUN}"),
        *("--no-healthcheck", f"--env=LISTEN={LISTEN}"),
        *(f"--env=GUNICORN_CMD_ARGS=--bind unix:{LISTEN} --umask 0", image),
    ]


class Hand:
    """Somebody at a terminal with an engine's command, two versions and a link."""

    def __init__(self, line: list[str], folder: Path, images: Sequence[str]) -> None:
        self._line = line
        self._folder = folder
        self._images = images
        self._volume = f"{folder.name}-data"
        self._now = 0

    @property
    def socket(self) -> Path:
        """The path that clients ask."""
        return self._folder / "now" / SOCKET

    def begin(self) -> None:
        """Let the first version serve."""
        self._ask("volume", "create", self._volume)
        self._start(0, self._side(0))
        self._lead(self._side(0))
        self._until_ready(self._side(0))

    def release(self, way: Way, mark: str) -> ByHand:
        """Let the other version serve, in one of the ways."""
        with Load(self.socket) as clients:
            time.sleep(MARGIN_SECONDS)
            began = time.time()
            self._stop_then_start() if way == "stop, then start" else self._beside(way)
            ended = time.time()
            self._until_ready(self._side(self._now))
            time.sleep(MARGIN_SECONDS)
        first = first_answer(clients.asked, mark, began)
        return ByHand(way=way, first_seconds=first, seconds=ended - began, asked=clients.asked)

    def end(self) -> None:
        """Leave nothing behind."""
        for number in range(len(self._images)):
            with suppress(subprocess.CalledProcessError):
                self._ask("rm", "--force", self._name(number))
        with suppress(subprocess.CalledProcessError):
            self._ask("volume", "rm", self._volume)

    def _stop_then_start(self) -> None:
        old, new = self._now, 1 - self._now
        self._ask("stop", self._name(old))
        self._ask("rm", self._name(old))
        # The new one answers where the old one did.
        self._lead(self._side(new))
        self._start(new, self._side(new))
        self._now = new

    def _beside(self, way: Way) -> None:
        old, new = self._now, 1 - self._now
        self._start(new, self._side(new))
        if way == "blue/green, once it answers":
            self._until_ready(self._side(new))
        self._lead(self._side(new))
        self._ask("stop", self._name(old))
        self._ask("rm", self._name(old))
        self._now = new

    def _start(self, number: int, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        folder.chmod(0o777)
        self._ask(*run_words(self._images[number], self._name(number), folder, self._volume))

    def _lead(self, folder: Path) -> None:
        aside = self._folder / "now.part"
        aside.symlink_to(folder.name)
        aside.rename(self._folder / "now")

    def _until_ready(self, folder: Path) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while True:
            with suppress(OSError):
                if ask(folder / SOCKET, "GET", "/health")[0] == 200:
                    return
            if time.monotonic() > deadline:
                raise RuntimeError(f"the version in {folder} never answers")
            time.sleep(0.05)

    def _side(self, number: int) -> Path:
        return self._folder / "ab"[number]

    def _name(self, number: int) -> str:
        return f"{self._folder.name}-{number}"

    def _ask(self, *words: str) -> None:
        env = {"PATH": PATH, "HOME": str(Path.home())}
        subprocess.run([*self._line, *words], env=env, capture_output=True, check=True, timeout=120)


@contextmanager
def hand(engine: Engine, address: str) -> Iterator[tuple[Hand, tuple[str, str]]]:
    """Two versions of the service as images, one of which serves; and their marks."""
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-hand-"))
    marks = ("hand0", "hand1")
    line = [engine, *(["--host", address] if address else [])]
    if engine == "podman":
        line += ["--runtime", "runc"]
    try:
        with OPENERS[engine]() as world:
            images = []
            for mark in marks:
                given = _files(result(folder / mark, mark=mark, edit=_marking(mark)))
                source = deliverable_in(given, mark).source
                made = asyncio.run(world.images.made(source, package(source)))
                images.append(made.reference)
            doing = Hand(line, folder, images)
            try:
                doing.begin()
                yield doing, marks
            finally:
                doing.end()
                for image in images:
                    asyncio.run(world.images.remove(image))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def by_hand(engine: Engine, address: str, count: int) -> list[ByHand]:
    """Releases by hand in every way, to and fro."""
    found: list[ByHand] = []
    with hand(engine, address) as (doing, marks):
        for way in WAYS:
            for _ in range(count):
                found.append(doing.release(way, marks[(len(found) + 1) % 2]))
    return found


def _files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def _marking(mark: str) -> Edit:
    return lambda text: marked(mark, text)
