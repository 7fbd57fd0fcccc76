"""Images of programs on Docker or Podman, named by what is in them, and built without a network."""

import asyncio
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from twinsmith.adapters.hosting.engine_args import (
    APPS,
    BUILD_SECONDS,
    build_query,
    image_tag,
    repository,
)
from twinsmith.adapters.hosting.engine_base import Bases, EngineBase
from twinsmith.adapters.hosting.engine_client import Api, EngineClient, InUse, Missing
from twinsmith.core.errors import ConfigError, HostError
from twinsmith.core.operating.containerfile import STAGE, WHEELS
from twinsmith.core.operating.instance import Image
from twinsmith.core.operating.source import Source

LOCK = "requirements.lock"
MOST_TEXT = 64 << 20
MOST_WHEELS = 512 << 20
# The first stages of builds are worth keeping for a while: the next one may begin as they do.
LEFT_OVER = "24h"
# Lines of a build that say what was done, and not what went wrong.
PROGRESS = ("Step ", "STEP ", " ---> ", "--> ", "Removing ", "The command ")


class EngineImages:
    """Images on an engine; `folder` keeps the wheels of Python's packages."""

    def __init__(self, client: EngineClient, base: EngineBase, folder: Path) -> None:
        self._client = client
        self._base = base
        self._folder = folder

    async def made(self, source: Source, package: Mapping[str, str]) -> Image:
        """The image of a program, built from the files of its package unless it is there."""
        _refuse_odd(package)
        bases = await self._base.ready(source.program.language)
        tag = image_tag(package, [bases.base])
        reference = f"{repository(self._client.engine, APPS)}:{tag}"
        try:
            return await self._told(reference, bases, existed=True)
        except Missing:
            wheels = await self._wheels(package.get(LOCK, ""), bases)
        await self._client.ask(
            lambda api: self._build(api, reference, package, bases, wheels), seconds=BUILD_SECONDS
        )
        with suppress(HostError):
            await self._client.ask(lambda api: api.prune(f"{STAGE}=build", LEFT_OVER))
        return await self._told(reference, bases, existed=False)

    async def remove(self, reference: str) -> None:
        """Remove an image; one that is not there is removed already.

        One that somebody else's container is made of stays: another data folder has the same.
        """
        with suppress(Missing, InUse):
            await self._client.ask(lambda api: api.remove_image(reference))

    async def _told(self, reference: str, bases: Bases, *, existed: bool) -> Image:
        told = await self._client.ask(lambda api: api.image(reference))
        digest = str(told["Id"]).removeprefix("sha256:")
        return Image(reference=reference, digest=digest, base=bases.base, existed=existed)

    def _build(
        self,
        api: Api,
        reference: str,
        package: Mapping[str, str],
        bases: Bases,
        wheels: Iterable[Path],
    ) -> None:
        asked = build_query(
            self._client.engine,
            reference,
            online=False,
            arguments={"BASE": bases.run, "TOOLS": bases.tools},
            labels={"dev.twinsmith.base": bases.base},
        )
        deadline = time.monotonic() + BUILD_SECONDS
        said: list[str] = []
        with tempfile.TemporaryFile() as context:
            _pack(context, package, wheels)
            for told in api.build(asked, context):
                if "error" in told:
                    raise ConfigError(
                        f"the program cannot be built: {_meant([*said, str(told['error'])])}; "
                        "build it anew"
                    )
                said = [*said, *str(told.get("stream", "")).splitlines()][-200:]
                if time.monotonic() > deadline:
                    raise ConfigError(
                        f"the program is not built in {BUILD_SECONDS} s; build it anew"
                    )

    async def _wheels(self, lock: str, bases: Bases) -> list[Path]:
        """The files of a lock's packages, fetched once and kept."""
        if not lock.strip():
            return []
        version = await self._base.python(bases.tools)
        return await asyncio.to_thread(self._fetched, lock, version)

    def _fetched(self, lock: str, version: str) -> list[Path]:
        digest = hashlib.sha256(f"{version}\n{lock}".encode()).hexdigest()[:16]
        place = self._folder / f"{WHEELS}-{digest}"
        if not place.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            aside = Path(tempfile.mkdtemp(prefix=f".{WHEELS}-", dir=self._folder))
            try:
                _download(lock, version, aside)
                aside.chmod(0o755)
                # Whoever has made the same meanwhile has made the same.
                if not place.exists():
                    aside.rename(place)
            finally:
                shutil.rmtree(aside, ignore_errors=True)
        found = sorted(place.glob("*.whl"))
        if sum(path.stat().st_size for path in found) > MOST_WHEELS:
            raise ConfigError(f"the packages have more than {MOST_WHEELS >> 20} MB; need fewer")
        return found


def _refuse_odd(package: Mapping[str, str]) -> None:
    for name in package:
        parts = PurePosixPath(name).parts
        if name.startswith("/") or ".." in parts or str(PurePosixPath(name)) != name:
            raise ConfigError(f"the package has a file {name[:80]!r}; package the program anew")
    if sum(len(text) for text in package.values()) > MOST_TEXT:
        raise ConfigError(f"the package has more than {MOST_TEXT >> 20} MB; package it anew")


def _pack(context: BinaryIO, package: Mapping[str, str], wheels: Iterable[Path]) -> None:
    """Write the files of a build as an archive that is the same each time."""
    with tarfile.open(fileobj=context, mode="w") as archive:
        for name, text in sorted(package.items()):
            data = text.encode()
            file = tarfile.TarInfo(name)
            file.size, file.mode = len(data), 0o644
            archive.addfile(file, io.BytesIO(data))
        for path in wheels:
            file = tarfile.TarInfo(f"{WHEELS}/{path.name}")
            file.size, file.mode = path.stat().st_size, 0o644
            with path.open("rb") as wheel:
                archive.addfile(file, wheel)
    context.seek(0)


def _download(lock: str, version: str, folder: Path) -> None:
    """Fetch the wheels of a lock, which checks their hashes; nothing of theirs is run."""
    named = folder / LOCK
    named.write_text(lock, encoding="utf-8")
    words = [
        *[sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"],
        *["--no-deps", "--require-hashes", "--only-binary=:all:", "--python-version", version],
        *["--dest", str(folder), "--requirement", str(named)],
    ]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise HostError(f"the packages are not here in {BUILD_SECONDS} s; try again") from error
    if done.returncode != 0:
        why = (done.stderr or done.stdout).strip().rpartition("\n")[2][:300]
        raise HostError(
            f"the packages cannot be fetched: {why}; check the connection to the package registry"
        )


def _meant(lines: list[str]) -> str:
    """The line of a failed build that says most: the last that speaks of an error."""
    told = [line.strip() for line in lines if line.strip() and not line.startswith(PROGRESS)]
    wrong = [line for line in told[:-1] if "error" in line.lower()]
    return " ".join((wrong[-1] if wrong else told[-1] if told else "no word why").split())[:200]
