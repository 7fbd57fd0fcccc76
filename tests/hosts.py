"""Real hosts for tests, and the fake beside them: one line in OPENERS adds one more."""

import atexit
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.engines import absent, serving
from tests.sandboxes import LAYERS
from tests.unix_http import ask
from twinsmith.adapters.hosting.engine_args import Engine, container_name, mark_of
from twinsmith.adapters.hosting.engine_base import EngineBase
from twinsmith.adapters.hosting.engine_client import Api, EngineClient
from twinsmith.adapters.hosting.engine_gauge import EngineGauge
from twinsmith.adapters.hosting.engine_host import EngineHost
from twinsmith.adapters.hosting.engine_images import EngineImages
from twinsmith.adapters.hosting.engine_volumes import EngineVolumes
from twinsmith.adapters.hosting.local_gauge import LocalGauge
from twinsmith.adapters.hosting.local_host import LocalHost
from twinsmith.adapters.hosting.local_images import LocalImages
from twinsmith.adapters.hosting.local_volumes import LocalVolumes
from twinsmith.adapters.hosting.memory import (
    MemoryGauge,
    MemoryHost,
    MemoryImages,
    MemoryVolumes,
)
from twinsmith.adapters.sandbox import seccomp
from twinsmith.core.operating.source import Source
from twinsmith.core.program import Program
from twinsmith.flow.deliver.package import packaged
from twinsmith.ports import Gauge, Host, Images, Volumes
from twinsmith.wiring.packaging import inventory, pinned

# The base image is made once for all test runs of this machine.
FOLDER = Path(
    os.environ.get("TWINSMITH_TEST_HOSTING", Path.home() / ".cache" / "twinsmith-tests" / "hosting")
)
READY_SECONDS = 30.0
# Does what it is asked to, so that its walls can be seen from inside.
PROBE = """
import json, os, signal, socket, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

def attempt(deed):
    try:
        return str(deed())
    except OSError as error:
        return type(error).__name__

def made(folder):
    os.makedirs(folder, exist_ok=True)
    return folder

def reach(host):
    with socket.socket() as calling:
        calling.settimeout(2)
        return calling.connect((host, 9))

HELD = []

DEEDS = {
    "/health": lambda what: "ok",
    "/variable": lambda what: os.environ.get(what, ""),
    "/write": lambda what: attempt(lambda: open(what, "w").write("x")),
    "/append": lambda what: open(os.path.join(made("/data/sub"), what), "a").write("x"),
    "/read": lambda what: attempt(lambda: open(what).read()),
    "/link": lambda what: attempt(lambda: os.symlink(what, "/run/app/link")),
    "/reach": lambda what: attempt(lambda: reach(what)),
    "/user": lambda what: os.getuid(),
    "/slow": lambda what: print("slow began", flush=True) or time.sleep(1.5) or "done",
    "/hang": lambda what: print("hang began", flush=True) or time.sleep(3600),
    "/die": lambda what: os._exit(int(what)),
    "/kill": lambda what: os.kill(os.getpid(), int(what)),
    "/eat": lambda what: [bytearray(b"x" * (8 << 20)) for _ in range(10_000)],
    "/say": lambda what: os.write(1, b"out \\xff\\n") + os.write(2, b"err\\n"),
    "/tell": lambda what: os.write(1, what.encode() + b"\\n"),
    "/hold": lambda what: HELD.append(b"x" * (int(what) << 20)),
    "/open": lambda what: HELD.extend(open(os.devnull) for _ in range(int(what))),
    "/fill": lambda what: open("/data/filled", "wb").write(b"x" * (int(what) << 20)),
    # Whole lines: Podman 4.3 joins a line whose end came by itself to the one after it.
    "/lines": lambda what: [os.write(1, b"line %d\\n" % n) for n in range(int(what))],
}

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        asked = urlsplit(self.path)
        what = parse_qs(asked.query).get("what", [""])[0]
        body = json.dumps({"is": DEEDS[asked.path](what)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
"""


@dataclass(frozen=True, kw_only=True)
class World:
    """A host with its images and its volumes."""

    name: str
    images: Images
    host: Host
    volumes: Volumes
    gauge: Gauge
    another: Callable[[], Gauge]
    """One more gauge, which begins to watch when it is made."""
    far: Callable[[], Gauge] | None = None
    """One more gauge, which sees no more than the engine says."""
    shown: Callable[[str, str], str] = lambda _image, _instance: ""
    """Everything that anybody can see of an image and of an instance, secrets' place aside."""
    pause: Callable[[str], None] = lambda _instance: None
    """Lets an instance stand still, as a copy of its data does that nobody finished."""


def service(source: str = PROBE, language: str = "python", *, mark: str = "") -> Source:
    """A service that is a program of its own; with a mark it is one that nobody has built yet."""
    remark = f"\n{'//' if language in ('c', 'go') else '#'} {mark}\n" if mark else ""
    return Source(program=Program(source=source + remark, language=language, kind="service"))


def package(source: Source) -> dict[str, str]:
    """The files that an image of a program is made from."""
    return packaged(source, pinned(), inventory())


def ready(address: str, path: str = "/health") -> tuple[int, bytes]:
    """The first answer of a service that is just starting."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        with suppress(OSError):
            answer = ask(address, "GET", path)
            if answer[0] < 500:
                return answer
        assert time.monotonic() < deadline, f"{address} never answers"
        time.sleep(0.05)


@contextmanager
def _memory() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="twinsmith-hosts-") as folder:
        images, volumes = MemoryImages(), MemoryVolumes()
        host = MemoryHost(images, volumes, sockets=Path(folder))
        yield World(
            name="memory",
            images=images,
            host=host,
            volumes=volumes,
            gauge=MemoryGauge(host),
            another=lambda: MemoryGauge(host),
        )


@contextmanager
def _local() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="twinsmith-hosts-") as given:
        folder = Path(given)
        images, volumes = LocalImages(folder / "images", LAYERS), LocalVolumes(folder / "volumes")
        host = LocalHost(folder / "instances", folder / "s", images, volumes)

        def shown(image: str, instance: str) -> str:
            """Everything that is kept of an image and an instance."""
            places = (folder / "images" / image, folder / "instances" / instance)
            files = [path for place in places for path in place.rglob("*") if path.is_file()]
            return " ".join(path.read_text(errors="replace") for path in files)

        yield World(
            name="local",
            images=images,
            host=host,
            volumes=volumes,
            gauge=LocalGauge(folder / "instances"),
            another=lambda: LocalGauge(folder / "instances"),
            shown=shown,
        )


@cache
def client(engine: Engine) -> EngineClient:
    """An engine that runs until all tests are done; skips the test where there is none."""
    why = absent(engine)
    if why:
        pytest.skip(why)
    address = _engines.enter_context(serving(engine))
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-engine-"))
    _engines.callback(_ended, folder)
    return EngineClient(engine, folder, address=address)


def base(engine: Engine) -> EngineBase:
    """The base of images on an engine."""
    return EngineBase(client(engine), FOLDER)


@contextmanager
def _engine(engine: Engine) -> Iterator[World]:
    asked = client(engine)
    with tempfile.TemporaryDirectory(prefix="twinsmith-hosts-") as folder:

        def shown(image: str, instance: str) -> str:
            name = container_name(mark_of(folder), instance)
            return asked.asked(lambda api: _shown(api, image, name))

        def pause(instance: str) -> None:
            name = container_name(mark_of(folder), instance)
            asked.asked(lambda api: api.pause(name))

        yield World(
            name=engine,
            images=EngineImages(asked, base(engine), FOLDER),
            host=EngineHost(asked, Path(folder), home=folder, profile=seccomp.profile()),
            volumes=EngineVolumes(asked, home=folder),
            gauge=EngineGauge(asked, home=folder),
            another=lambda: EngineGauge(asked, home=folder),
            far=lambda: EngineGauge(asked, home=folder, near=False),
            shown=shown,
            pause=pause,
        )


def _shown(api: Api, image: str, name: str) -> str:
    config = api.container(name)["Config"]
    assert isinstance(config, dict)
    history = api._client.history(image)
    log = api.logs(name, 1000).decode(errors="replace")
    return f"{api.image(image)} {history} {config['Labels']} {log}"


def _ended(folder: Path) -> None:
    """End the service that was started in a folder, and nothing else."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder) in (entry / "cmdline").read_text():
                os.kill(int(entry.name), signal.SIGTERM)
    shutil.rmtree(folder, ignore_errors=True)


_engines = ExitStack()
atexit.register(_engines.close)
OPENERS: dict[str, Callable[[], AbstractContextManager[World]]] = {
    "memory": _memory,
    "local": _local,
    "docker": lambda: _engine("docker"),
    "podman": lambda: _engine("podman"),
}
