"""Folders that can be cleaned away: sizes, ages, removal; no link is followed."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from twinsmith.core.errors import EngineError

DAY = 86_400
BLOCK = 512


def size_of(folder: Path) -> int:
    """The bytes that all below a folder takes on the disk."""
    size, left = 0, [str(folder)]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_blocks * BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
    return size


def folders_in(parent: Path) -> tuple[Path, ...]:
    """The folders in a folder by name, without links, and without what is just being made."""
    with suppress(OSError):
        found = (each for each in parent.iterdir() if each.is_dir() and not each.is_symlink())
        return tuple(sorted(each for each in found if not each.name.startswith(".")))
    return ()


def days_since(folder: Path) -> float:
    """The days since a folder was changed; 0 where it is gone."""
    with suppress(OSError):
        return max(0.0, (time.time() - folder.stat().st_mtime) / DAY)
    return 0.0


def remove(parent: Path, name: str) -> None:
    """Remove one folder of a folder; EngineError where it is none of it, or stays."""
    place = parent / name
    if place.parent != parent or place.is_symlink() or name in ("", ".", ".."):
        raise EngineError(f"{place} is no folder of {parent}; nothing is removed")
    try:
        shutil.rmtree(place)
    except FileNotFoundError:
        return
    except OSError as error:
        raise EngineError(
            f"{place} cannot be removed: {error.strerror}; mend its rights"
        ) from error
