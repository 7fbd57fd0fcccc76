"""What is free on this machine, and what processes use, from /proc and the file system."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from twinsmith.core.resources.room import Machine

MEGABYTE = 1 << 20


def machine_now(folder: Path) -> Machine:
    """The memory that is free, and the disk that a folder lies on."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    return Machine(memory_mb=_free_memory_mb(), disk_mb=shutil.disk_usage(place).free // MEGABYTE)


def memory_of_processes(word: str) -> tuple[int, int]:
    """How many processes have a word in their command line, and the memory they hold in bytes."""
    count = held = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        # It may end while it is looked at, or be somebody else's.
        with suppress(OSError, ValueError, IndexError):
            if word in (folder / "cmdline").read_text().split("\0"):
                pages = int((folder / "statm").read_text().split()[1])
                held += pages * os.sysconf("SC_PAGESIZE")
                count += 1
    return count, held


def _free_memory_mb() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    return 0
