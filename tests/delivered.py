"""Services as builds hand them over, and a yard of apps that is empty again after each test."""

import asyncio
import http.client
import json
import os
import signal
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.conftest import Command, alive, script
from tests.contract.test_packaged import CONTRACT, SOURCE
from tests.contracts import probes_of
from tests.sandboxes import FOLDER
from twinsmith.cli.apps import told
from twinsmith.core.people.actor import Actor
from twinsmith.core.planning.openapi import openapi_of
from twinsmith.runs.apps import views
from twinsmith.runs.book import Book
from twinsmith.settings import load
from twinsmith.wiring.delivering import apps_of, releases_of, sockets_of

# Long enough to be seen, short enough for a test.
QUICK = {
    "TWINSMITH_SANDBOX_FOLDER": str(FOLDER),
    "TWINSMITH_BUILD_RETRIEVAL": "false",
    "TWINSMITH_DEPLOY_BATTERY": "false",
    "TWINSMITH_DEPLOY_CANARY_SECONDS": "0.3",
    "TWINSMITH_DEPLOY_SOAK_SECONDS": "0.5",
    "TWINSMITH_DEPLOY_READY_SECONDS": "20",
    "TWINSMITH_QUALITY_REVIEW": "false",
    "TWINSMITH_SCAN_ADVISORIES": "false",
}
SMOKE = ("answers GET /health", "registers a new user")
Edit = Callable[[str], str]


def result(folder: Path, *, mark: str = "1", edit: Edit = str, checks: int = 2) -> Path:
    """The folder of a finished service, in which `mark` makes one version differ from another."""
    folder.mkdir(parents=True)
    for name, text in SOURCE.files.items():
        changed = f"{edit(text)}\n# version {mark}\n" if name == "solution.py" else text
        (folder / name).write_text(changed)
    probes = probes_of(CONTRACT)
    chosen = [each for each in probes.checks if each.name in SMOKE][:checks]
    told = [{"name": each.name, "source": each.source, "fresh": False} for each in chosen]
    beside = [name for name in SOURCE.files if name != "solution.py"]
    kept = {"setup": probes.setup, "files": beside, "checks": told}
    (folder / "checks.json").write_text(json.dumps(kept))
    (folder / "requirements.txt").write_text("Flask\nPyJWT\n")
    (folder / "openapi.json").write_text(json.dumps(openapi_of(CONTRACT)))
    report = {"run": "20261118-000000-abcd", "kind": "service", "task": "a cart"}
    (folder / "report.json").write_text(json.dumps(report))
    return folder


def without_register(text: str) -> str:
    """A version that starts and says it is healthy, and cannot register anybody."""
    return text.replace("done = lambda: register(", "done = lambda: 1 / 0 or register(")


def that_ends(text: str) -> str:
    """A version that does not even start."""
    return f"{text}\nraise OSError('no such file: settings.ini')\n"


def asked(
    port: int,
    path: str = "/health",
    *,
    method: str = "GET",
    body: object = None,
    seconds: float = 10.0,
) -> int:
    """The status of an answer from an app; 0 where there was none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        sent = json.dumps(body) if body is not None else None
        connection.request(method, path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException):
        return 0
    else:
        return answer.status
    finally:
        connection.close()


@dataclass
class Yard:
    """A data folder with apps in it, seen through the real command."""

    command: Command
    host: str = "local"

    def deploy(self, folder: Path, *args: str, code: int | None = 0) -> dict[str, object]:
        """Deploy a folder as the app `shop`; what the command said."""
        words = ("deploy", str(folder), "--name", "shop", "--host", self.host, *args, "--json")
        return self._said(*words, code=code)

    def act(self, *words: str, code: int | None = 0) -> dict[str, object]:
        """Any other command about an app, as JSON."""
        return self._said(*words, "--json", code=code)

    def app(self, name: str = "shop") -> dict[str, object]:
        """An app as `twinsmith apps` shows it, without the second that the command takes."""
        book = Book(load(self.command.environment), Actor(name="test"))
        rows = [told(each) for each in asyncio.run(views(book))]
        return next((row for row in rows if row["name"] == name), {})

    @property
    def port(self) -> int:
        """The port of the app `shop`, as it is kept."""
        found = apps_of(load(self.command.environment)).get("shop")
        return found.port if found is not None else 0

    def states(self) -> list[str]:
        """What became of each release of `shop`."""
        found = releases_of(load(self.command.environment)).listed("shop")
        return [each.state for each in found]

    def instances(self) -> list[str]:
        """The instances that run on the embedded host, by their supervisors."""
        folder = self.command.home / "apps" / "instances"
        found = sorted(folder.iterdir()) if folder.exists() else []
        return [path.name for path in found if alive(_owner(path))]

    def _said(self, *words: str, code: int | None) -> dict[str, object]:
        done = self.command(*words, code=code)
        line = done.stdout.strip().rpartition("\n")[2]
        told: dict[str, object] = json.loads(line) if line else {}
        return told

    def clear(self) -> None:
        """End everything that was started, whatever state it is in."""
        if self.host != "local":
            # Their containers would outlive the folder.
            self.command("override", "release", "all", "--reason", "over", code=None)
            for row in json.loads(self.command("queue", "--json").stdout):
                self.command("cancel", str(row["run"]), code=None)
            for row in json.loads(self.command("apps", "--json").stdout):
                self.command("stop", str(row["name"]), code=None)
        for path in (self.command.home / "apps" / "instances").glob("*"):
            with suppress(ValueError, ProcessLookupError):
                os.kill(int(_owner(path)), signal.SIGKILL)
        for pid in proxies(self.command):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def proxies(command: Command) -> list[int]:
    """The processes of a data folder's proxy."""
    place = str(sockets_of(load(command.environment)) / "proxy").encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if place in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def _owner(instance: Path) -> str:
    with suppress(OSError):
        return (instance / "lease").read_text().strip() or "0"
    return "0"


@contextmanager
def yard(home: Path, env: Mapping[str, str] | None = None, host: str = "local") -> Iterator[Yard]:
    """An empty yard, cleared afterwards."""
    # Tests that run at the same time do not take each other's ports.
    first = 10_000 + zlib.crc32(str(home).encode()) % 20_000
    own = {"TWINSMITH_HOSTING_FIRST_PORT": str(first)}
    made = Yard(Command(home=home, env={**QUICK, **own, **(env or {})}), host)
    # Whoever mends here without a script of its own asks this one, and fetches no model.
    made.command.use_script(script())
    try:
        yield made
    finally:
        made.clear()


class Traffic:
    """Somebody who asks an app again and again from beside; remembers every answer."""

    def __init__(self, port: int, path: str = "/health") -> None:
        self._port = port
        self._path = path
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.statuses: list[int] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._over.is_set():
            self.statuses.append(asked(self._port, self._path))
            time.sleep(0.01)
