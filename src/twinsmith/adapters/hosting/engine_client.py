"""Talks to Docker or Podman over its socket; Podman's service is started where it does not answer.

Both speak Docker's protocol. Docker's daemon is the operator's to start; Podman has none, so its
service is a process of ours, which ends by itself when nobody has asked it anything for a while.
"""

import asyncio
import fcntl
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from twinsmith.adapters.hosting.engine_args import Engine
from twinsmith.core.errors import HostError

if TYPE_CHECKING:
    from docker import APIClient

T = TypeVar("T")
Told = dict[str, object]
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
INSTALL = {"docker": "apt-get install -y docker.io", "podman": "apt-get install -y podman runc"}
MEND = {"docker": "start it: systemctl start docker", "podman": "look at: podman info"}
SOCKET = "podman.sock"
ANSWER_SECONDS = 60
START_SECONDS = 30.0
LOOK_SECONDS = 0.1
IDLE_SECONDS = 600
LISTING_PAUSES = (0.1, 0.5, 2.0)


class Missing(HostError):
    """The engine does not know a thing of that name."""


class InUse(HostError):
    """The engine does not do it while the thing is used."""


class EngineClient:
    """Docker or Podman; `folder` is for the service of the latter, and has a short path."""

    def __init__(
        self, engine: Engine, folder: Path, *, address: str = "", runtime: str = ""
    ) -> None:
        self.engine: Engine = engine
        self._folder = folder
        self._address = address
        self._runtime = runtime
        self._version = "auto"

    async def ask(self, work: "Callable[[Api], T]", *, seconds: int = ANSWER_SECONDS) -> T:
        """The value of work with the engine, in a thread; HostError where it is broken."""
        return await asyncio.to_thread(self.asked, work, seconds=seconds)

    def asked(self, work: "Callable[[Api], T]", *, seconds: int = ANSWER_SECONDS) -> T:
        """The value of work with the engine; HostError where it does not answer."""
        with self._open(seconds) as client:
            return work(Api(self.engine, client))

    @contextmanager
    def _open(self, seconds: int) -> "Iterator[APIClient]":
        try:
            client = self._connected(seconds)
        except HostError:
            if self.engine != "podman" or self._address:
                raise
            self._serve()
            client = self._connected(seconds)
        try:
            yield client
        finally:
            client.close()

    def _connected(self, seconds: int) -> "APIClient":
        from docker import APIClient
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        try:
            _knock(self._where())
            client = APIClient(base_url=self._where(), version=self._version, timeout=seconds)
        except (DockerException, RequestException, OSError) as error:
            raise HostError(
                f"{self.engine} does not answer at {self._where()}; {MEND[self.engine]}"
            ) from error
        self._version = str(client.api_version)
        return client

    def _where(self) -> str:
        if self._address:
            return self._address
        if self.engine == "podman":
            return f"unix://{self._folder / SOCKET}"
        own = Path(f"/run/user/{os.geteuid()}/docker.sock")
        usual = Path("/var/run/docker.sock")
        return f"unix://{own if own.exists() and not usual.exists() else usual}"

    def _serve(self) -> None:
        """Start Podman's service, once, whoever else wants it at the same time."""
        if shutil.which("podman", path=PATH) is None:
            raise HostError(f"podman is not installed; run: {INSTALL['podman']}")
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._answers():
                return
            with (self._folder / "log").open("w") as log:
                subprocess.run(
                    self._service_line(),
                    env=_environment(),
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    check=True,
                )
            deadline = time.monotonic() + START_SECONDS
            while not self._answers():
                if time.monotonic() > deadline:
                    said = (self._folder / "log").read_text(errors="replace").strip()
                    why = said.rpartition("\n")[2][:300] or "no word from it"
                    raise HostError(f"podman's service does not start: {why}; {MEND['podman']}")
                time.sleep(LOOK_SECONDS)

    def _service_line(self) -> list[str]:
        runtime = self._runtime or ("runc" if shutil.which("runc", path=PATH) else "")
        return [
            # Nobody's child: it outlives the command that needed it first.
            *["setsid", "--fork", "podman", *(["--runtime", runtime] if runtime else [])],
            *["system", "service", f"--time={IDLE_SECONDS}", self._where()],
        ]

    def _answers(self) -> bool:
        try:
            self._connected(ANSWER_SECONDS).close()
        except HostError:
            return False
        return True


class Api:
    """What is asked of an engine, with its errors in our words."""

    def __init__(self, engine: Engine, client: "APIClient") -> None:
        self._engine = engine
        self._client = client

    def image(self, reference: str) -> Told:
        """An image; Missing where there is none."""
        with self._told(f"image {reference}"):
            return dict(self._client.inspect_image(reference))

    def tags(self, repository: str) -> list[str]:
        """The references of all images of a repository, the newest first."""
        for pause in LISTING_PAUSES:
            # Podman fails to list its images while anybody removes one of them.
            with suppress(HostError):
                return self._tags(repository)
            time.sleep(pause)
        return self._tags(repository)

    def _tags(self, repository: str) -> list[str]:
        with self._told(repository):
            found = self._client.images(name=repository)
            newest = sorted(found, key=lambda each: int(each["Created"]), reverse=True)
            return [str(tag) for each in newest for tag in each.get("RepoTags") or ()]

    def tag(self, image: str, repository: str, tag: str) -> None:
        """Give an image one more name."""
        with self._told(f"image {image}"):
            self._client.tag(image, repository, tag)

    def pull(self, reference: str) -> None:
        """Fetch an image from its registry."""
        # Without a tag, all of them would be fetched.
        exact = reference if ":" in reference.rpartition("/")[2] else f"{reference}:latest"
        with self._told(f"image {reference}"):
            for line in self._client.pull(exact, stream=True, decode=True):
                if "error" in line:
                    raise HostError(f"{reference} cannot be pulled: {_line(line['error'])}")

    def import_image(self, data: BinaryIO, repository: str, tag: str) -> None:
        """Make an image of a file system in an archive."""
        with self._told(f"image {repository}"):
            # Podman takes the whole name for the repository.
            named = (f"{repository}:{tag}", None)
            name, own = named if self._engine == "podman" else (repository, tag)
            self._client.import_image_from_data(data, repository=name, tag=own)

    def build(self, asked: Told, context: BinaryIO) -> Iterator[Told]:
        """Build an image from an archive of files; what is told about it, bit by bit."""
        with self._told("the build"):
            for line in self._client.build(fileobj=context, **asked):
                yield dict(line)

    def remove_image(self, reference: str) -> None:
        """Remove an image; InUse where a container is made of it."""
        with self._told(f"image {reference}"):
            self._client.remove_image(reference)

    def prune(self, label: str, age: str) -> None:
        """Remove the images without a name that have a label and are older than this."""
        with self._told("images without a name"):
            asked = {"dangling": True, "label": label, "until": age}
            self._client.prune_images(filters=asked)

    def create(self, name: str, body: Told) -> None:
        """Make a container; Missing where its image is not there."""
        with self._told(f"image {body['Image']}"):
            self._client.create_container_from_config(body, name)

    def start(self, name: str) -> None:
        """Start a container."""
        with self._told(f"container {name}"):
            self._client.start(name)

    def stop(self, name: str, seconds: int) -> None:
        """Ask a container to end, and end it after so many seconds."""
        with self._told(f"container {name}"):
            self._client.stop(name, timeout=seconds)

    def remove(self, name: str) -> None:
        """End a container at once and remove it; one that is not there is removed already."""
        try:
            with self._told(f"container {name}"):
                self._client.remove_container(name, v=True, force=True)
        except Missing:
            return
        except InUse as error:
            if "in progress" not in str(error):
                raise

    def container(self, name: str) -> Told:
        """A container; Missing where there is none."""
        with self._told(f"container {name}"):
            return dict(self._client.inspect_container(name))

    def using(self, volume: str) -> list[str]:
        """The running containers that have a volume."""
        with self._told(f"volume {volume}"):
            asked = {"volume": volume, "status": "running"}
            return [str(each["Id"]) for each in self._client.containers(filters=asked)]

    def pause(self, name: str) -> None:
        """Let a container stand still."""
        with self._told(f"container {name}"):
            self._client.pause(name)

    def unpause(self, name: str) -> None:
        """Let a container go on."""
        with self._told(f"container {name}"):
            self._client.unpause(name)

    def wait(self, name: str) -> int:
        """The code with which a container ends."""
        with self._told(f"container {name}"):
            return int(self._client.wait(name)["StatusCode"])

    def logs(self, name: str, lines: int) -> bytes:
        """The last lines of a container, from both of its outputs."""
        with self._told(f"container {name}"):
            return bytes(self._client.logs(name, stdout=True, stderr=True, tail=lines))

    def logs_since(self, name: str, since: int, lines: int) -> bytes:
        """The last lines that a container wrote from a second on, each behind its moment."""
        with self._told(f"container {name}"):
            asked = {"stdout": True, "stderr": True, "timestamps": True}
            return bytes(self._client.logs(name, since=since, tail=lines, **asked))

    def ends(self, name: str, since: int) -> list[Told]:
        """What the engine remembers of the ends of a container, the latest last."""
        with self._told(f"container {name}"):
            asked = {"container": name, "event": ["die", "died", "oom"]}
            told = self._client.events(
                since=since, until=int(time.time()) + 1, filters=asked, decode=True
            )
            return [dict(each) for each in told]

    def create_volume(self, name: str, labels: dict[str, str]) -> None:
        """Make a volume unless it is there."""
        with self._told(f"volume {name}"):
            self._client.create_volume(name, labels=labels)

    def volume(self, name: str) -> Told:
        """A volume; Missing where there is none."""
        with self._told(f"volume {name}"):
            return dict(self._client.inspect_volume(name))

    def remove_volume(self, name: str) -> None:
        """Remove a volume; one that is not there is removed already."""
        try:
            with self._told(f"volume {name}"):
                self._client.remove_volume(name)
        except Missing:
            return

    def archive(self, name: str, path: str) -> Iterator[bytes]:
        """A folder of a container as an archive, bit by bit."""
        with self._told(f"container {name}"):
            yield from self._client.get_archive(name, path)[0]

    def unpack(self, name: str, path: str, data: BinaryIO) -> None:
        """Put the files of an archive into a folder of a container."""
        with self._told(f"container {name}"):
            self._client.put_archive(name, path, data)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        from docker.errors import APIError, DockerException
        from requests.exceptions import RequestException

        try:
            yield
        except APIError as error:
            why = _line(str(error.explanation or error))
            if error.status_code == 404:
                raise Missing(f"{self._engine} has no {what}: {why}") from error
            if error.status_code == 409:
                raise InUse(f"{self._engine} cannot do it, {what} is in use: {why}") from error
            raise HostError(f"{self._engine} refuses {what}: {why}") from error
        except (DockerException, RequestException, OSError) as error:
            raise HostError(
                f"{self._engine} stopped answering: {_line(str(error))}; {MEND[self._engine]}"
            ) from error


def _knock(address: str) -> None:
    """OSError where nobody listens at a socket, which the client would leave open."""
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as trial:
            trial.settimeout(ANSWER_SECONDS)
            trial.connect(address.removeprefix("unix://"))


def _line(said: str) -> str:
    return " ".join(said.split())[:300]


def _environment() -> dict[str, str]:
    """The variables of Podman's service: nothing of ours is handed on to containers."""
    own = Path(f"/run/user/{os.getuid()}")
    runtime = {"XDG_RUNTIME_DIR": str(own)} if os.getuid() and own.is_dir() else {}
    return {"PATH": PATH, "HOME": str(Path.home()), **runtime}
