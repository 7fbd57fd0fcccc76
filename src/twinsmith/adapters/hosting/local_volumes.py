"""Data volumes as folders of this machine, each with a user of its own where root makes them."""

import asyncio
import fcntl
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from twinsmith.core.errors import HostError

FIRST_USER, USERS = 62001, 1900
LARGEST_FILE = 64 << 20
MOST_FILES = 10_000


class LocalVolumes:
    """Volumes in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, name: str) -> Path:
        """The folder of a volume, made where it is not there."""
        path = self._folder / name
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not path.exists():
                self._make(path)
        except OSError as error:
            raise HostError(f"volume {name} cannot be made: {error.strerror}; make room") from error
        return path

    async def copy(self, source: str, target: str) -> None:
        """Make one volume a copy of another, whatever was in it; an absent one is empty."""
        await asyncio.to_thread(self._copy, source, target)

    async def remove(self, name: str) -> None:
        """Remove a volume with everything in it; HostError where an instance uses it."""
        await asyncio.to_thread(self._remove, name)

    def lock(self, name: str) -> Path:
        """The file that is locked as long as a volume is in use."""
        return self._folder / f".{name}.lock"

    def _remove(self, name: str) -> None:
        if not (self._folder / name).exists():
            return
        with self.lock(name).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HostError(f"volume {name} is in use; stop its instances first") from None
            shutil.rmtree(self._folder / name, ignore_errors=True)
            self.lock(name).unlink(missing_ok=True)

    async def files(self, name: str) -> Mapping[str, bytes]:
        """The plain files of a volume by their names; links and larger files are left out."""
        return await asyncio.to_thread(self._files, name)

    def _make(self, path: Path) -> None:
        path.mkdir(mode=0o700)
        if os.geteuid() == 0:
            taken = {each.stat().st_uid for each in self._folder.iterdir() if each.is_dir()}
            user = next(n for n in range(FIRST_USER, FIRST_USER + USERS) if n not in taken)
            os.chown(path, user, user)

    def _copy(self, source: str, target: str) -> None:
        shutil.rmtree(self._folder / target, ignore_errors=True)
        into = self.place(target)
        owner = into.stat()
        for name, data in self._files(source).items():
            path = into / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                path.write_bytes(data)
            except OSError as error:
                raise HostError(
                    f"volume {source} cannot be copied: {error.strerror}; make room"
                ) from error
        if os.geteuid() == 0:
            for path in into.rglob("*"):
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)

    def _files(self, name: str) -> dict[str, bytes]:
        """What a hostile program may have left is read without following any link."""
        root = self._folder / name
        found: dict[str, bytes] = {}
        for folder, _, names in os.walk(root, followlinks=False):
            for each in sorted(names):
                path = Path(folder, each)
                data = _plain(path)
                if data is not None and len(found) < MOST_FILES:
                    found[str(path.relative_to(root))] = data
        return found


def _plain(path: Path) -> bytes | None:
    """The content of a regular file of at most 64 MB; None where it is anything else."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        seen = os.fstat(file)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > LARGEST_FILE:
            return None
        return opened.read(LARGEST_FILE)
