"""Who does something alone: a lock that the kernel frees when its holder dies, however it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twinsmith.core.errors import RunBusy


def lease_file(folder: Path) -> Path:
    """The file that is locked."""
    return folder / "lease"


@contextmanager
def lease(folder: Path, name: str) -> Iterator[None]:
    """Hold a thing as long as the block lasts; RunBusy names the process that has it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.open(lease_file(folder), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(file, 20, 0).decode() or "?"
            raise RunBusy(f"{name} is being done by process {holder}; wait for it") from None
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(file)


def is_held(folder: Path) -> bool:
    """Whether a living process holds the lease of this folder."""
    try:
        file = os.open(lease_file(folder), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
