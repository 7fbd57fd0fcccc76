"""The data of apps in named volumes of Docker or Podman, copied as archives through the engine.

Whoever writes to a volume stands still while it is copied: so a database is copied as of one moment
and recovers as after a loss of power.
"""

import io
import os
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO

from twinsmith.adapters.hosting.engine_args import (
    EMPTY,
    holder_body,
    mark_of,
    repository,
    volume_name,
)
from twinsmith.adapters.hosting.engine_client import Api, EngineClient, InUse, Missing
from twinsmith.core.errors import HostError
from twinsmith.core.operating.containerfile import DATA, USER

LARGEST_FILE = 64 << 20
MOST_FILES = 10_000
MOST_BYTES = 512 << 20
MOST_COPIED = 8 << 30
COPY_SECONDS = 300
VERSION = "2"


class EngineVolumes:
    """Volumes on an engine, those of one data folder: `home`."""

    def __init__(self, client: EngineClient, *, home: str) -> None:
        self._client = client
        self._mark = mark_of(home)

    async def copy(self, source: str, target: str) -> None:
        """Make one volume a copy of another, whatever was in it; an absent one is empty."""
        await self._client.ask(lambda api: self._copy(api, source, target), seconds=COPY_SECONDS)

    async def remove(self, name: str) -> None:
        """Remove a volume with everything in it; one that is not there is removed already."""
        await self._client.ask(lambda api: self._remove(api, name))

    async def files(self, name: str) -> Mapping[str, bytes]:
        """The plain files of a volume by their names; links and larger files are left out."""
        return await self._client.ask(lambda api: self._files(api, name), seconds=COPY_SECONDS)

    def _remove(self, api: Api, name: str) -> None:
        try:
            api.remove_volume(volume_name(self._mark, name))
        except InUse as error:
            raise HostError(f"volume {name} is in use; stop its instances first") from error

    def _copy(self, api: Api, source: str, target: str) -> None:
        held, into = volume_name(self._mark, source), volume_name(self._mark, target)
        with tempfile.TemporaryFile() as archive:
            with suppress(Missing):
                api.volume(held)
                with self._holding(api, held) as holder, _still(api, held):
                    _kept(api.archive(holder, f"{DATA}/."), archive)
            self._remove(api, target)
            api.create_volume(into, {"dev.twinsmith.home": self._mark})
            if archive.tell():
                archive.seek(0)
                with self._holding(api, into) as holder, owned(archive) as given:
                    api.unpack(holder, DATA, given)

    def _files(self, api: Api, name: str) -> dict[str, bytes]:
        held = volume_name(self._mark, name)
        with tempfile.TemporaryFile() as archive:
            try:
                api.volume(held)
                with self._holding(api, held) as holder:
                    _kept(api.archive(holder, f"{DATA}/."), archive)
            except Missing:
                return {}
            archive.seek(0)
            return plain_files(archive, name)

    @contextmanager
    def _holding(self, api: Api, volume: str) -> Iterator[str]:
        """A container that holds a volume and is never started."""
        image = f"{repository(self._client.engine, EMPTY)}:{VERSION}"
        try:
            api.image(image)
        except Missing:
            api.import_image(empty_image(), *image.rsplit(":", 1))
        name = f"{EMPTY}-{os.getpid()}-{time.monotonic_ns()}"
        try:
            api.create(name, holder_body(image, volume))
            yield name
        finally:
            api.remove(name)


def plain_files(archive: BinaryIO, name: str) -> dict[str, bytes]:
    """The plain files of an archive by their names, within the limits."""
    found: dict[str, bytes] = {}
    size = 0
    try:
        with tarfile.open(fileobj=archive, mode="r|") as opened:
            for member in opened:
                if not member.isreg() or member.size > LARGEST_FILE:
                    continue
                size += member.size
                if len(found) >= MOST_FILES or size > MOST_BYTES:
                    raise HostError(
                        f"volume {name} has more than {MOST_FILES} files or "
                        f"{MOST_BYTES >> 20} MB; copy it with the engine's own tools"
                    )
                data = opened.extractfile(member)
                inside = member.name.removeprefix("./")
                found[inside] = data.read() if data else b""
    except tarfile.TarError as error:
        raise HostError(f"volume {name} cannot be read: {error}") from error
    return found


@contextmanager
def owned(archive: BinaryIO) -> Iterator[BinaryIO]:
    """The files and folders of an archive as those of programs; Podman gives them to root."""
    with tempfile.TemporaryFile() as written:
        with (
            tarfile.open(fileobj=archive, mode="r|") as old,
            tarfile.open(fileobj=written, mode="w") as new,
        ):
            for member in old:
                if member.isreg() or member.isdir():
                    member.uid = member.gid = USER
                    member.uname = member.gname = ""
                    new.addfile(member, old.extractfile(member) if member.isreg() else None)
        written.seek(0)
        yield written


def empty_image() -> io.BytesIO:
    """An image as an archive that holds nothing but the folder of data, which programs own."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        folder = tarfile.TarInfo(DATA.lstrip("/"))
        folder.type, folder.mode = tarfile.DIRTYPE, 0o700
        folder.uid = folder.gid = USER
        archive.addfile(folder)
    written.seek(0)
    return written


@contextmanager
def _still(api: Api, volume: str) -> Iterator[None]:
    """Let those who use a volume stand still, where the engine can; they always go on."""
    stopped: list[str] = []
    try:
        for name in api.using(volume):
            # An engine without control groups cannot.
            with suppress(HostError):
                api.pause(name)
                stopped.append(name)
        yield
    finally:
        for name in stopped:
            with suppress(HostError):
                api.unpause(name)


def _kept(parts: Iterator[bytes], archive: BinaryIO) -> None:
    for part in parts:
        archive.write(part)
        if archive.tell() > MOST_COPIED:
            raise HostError(f"a volume has more than {MOST_COPIED >> 30} GB; it is not copied")
