"""How large a volume is: looked at now and then, since every file of it is."""

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

EVERY_SECONDS = 30.0
MOST_FILES = 20_000
"""Of a volume with more files the size of so many is told."""
BLOCK = 512


@dataclass(slots=True)
class VolumeSize:
    """The size of the folder of a volume; None where this process may not see it."""

    folder: str = ""
    _size: int | None = field(default=None, init=False)
    _next: float = field(default=0.0, init=False)

    async def look(self) -> int | None:
        """The bytes that it takes on the disk, at most half a minute old."""
        now = time.monotonic()
        if self.folder and now >= self._next:
            self._next = now + EVERY_SECONDS
            self._size = await asyncio.to_thread(size_of, self.folder)
        return self._size


def size_of(folder: str) -> int | None:
    """The bytes that the files below a folder take on the disk; no link is followed."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return None
    size, files, folders = 0, 0, [folder]
    while folders and files < MOST_FILES:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in islice(entries, MOST_FILES - files):
                files += 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                    continue
                with suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_blocks * BLOCK
    return size
