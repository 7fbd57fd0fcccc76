"""New lines of a file that others write and roll, read from where one stood before."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_REST = 1 << 16
"""A line that is not ended by then is taken for one."""
_HOW = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Bytes of a file that were not read yet; those of rolled files have a path."""

    begin: int
    end: int
    path: str = ""


@dataclass(slots=True)
class Tail:
    """Follows one file; at most `most` bytes are read at a time, the newest of all that came.

    A rolled file keeps the beginning of its name in its folder and is found by its number, so what
    was written to it at the end is not missed, nor are files that came and went in between.
    """

    path: Path
    most: int = 1 << 18
    skipped: int = field(default=0, init=False)
    """Bytes that were never read, because too many came at once."""
    _name: str = field(init=False)
    _file: int = field(default=0, init=False)
    """The number of the file that was read the last time; 0: none yet."""
    _read: int = field(default=0, init=False)
    """How much of it was read."""
    _written: int = field(default=0, init=False)
    """When it was written to the last time, in nanoseconds."""
    _rest: bytes = field(default=b"", init=False)

    def __post_init__(self) -> None:
        """Turn the path into a text once: it is used every second."""
        self._name = str(self.path)

    def lines(self) -> list[bytes]:
        """The whole lines that came since the last time, without their ends."""
        try:
            seen = os.stat(self._name)  # noqa: PTH116 - a third of what a path costs
            if (seen.st_ino, seen.st_size) == (self._file, self._read):
                return []
            file = os.open(self._name, _HOW)
        except OSError:
            return []
        try:
            # What is open is one file, whoever rolls it now.
            came = self._came(file, os.fstat(file))
        finally:
            os.close(file)
        whole, end, rest = (self._rest + came).rpartition(b"\n")
        self._rest = rest
        if len(rest) >= LONGEST_REST:
            whole, end, self._rest = whole + end + rest, b"\n", b""
        return whole.split(b"\n") if end else []

    def _came(self, file: int, seen: os.stat_result) -> bytes:
        """All bytes that were not read yet; of more than `most` the last, from a new line on."""
        same = seen.st_ino == self._file
        begin = self._read if same and seen.st_size >= self._read else 0
        parts = [_Part(begin=begin, end=seen.st_size)]
        if not same:
            parts = [*self._rolled(seen.st_ino), *parts]
        elif begin == 0:
            # It was emptied in its place.
            self._rest = b""
        self._file, self._read, self._written = seen.st_ino, seen.st_size, seen.st_mtime_ns
        left, taken = self.most, b""
        for part in reversed(parts):
            size = min(part.end - part.begin, left)
            left -= size
            taken = _bytes(part.path, file, part.end - size, size) + taken
        behind = sum(part.end - part.begin for part in parts) - self.most
        if behind > 0:
            self.skipped += behind
            self._rest, taken = b"", taken.partition(b"\n")[2]
        return taken

    def _rolled(self, current: int) -> list[_Part]:
        """What is unread of rolled files, oldest first."""
        stem = self.path.name.partition(".")[0]
        found: list[tuple[int, int, int, str]] = []
        with suppress(OSError), os.scandir(self.path.parent) as entries:
            for entry in entries:
                if entry.name.startswith(stem) and entry.is_file(follow_symlinks=False):
                    told = entry.stat(follow_symlinks=False)
                    found.append((told.st_mtime_ns, told.st_ino, told.st_size, entry.path))
        others = sorted(each for each in found if each[1] != current)
        places = [number for number, each in enumerate(others) if each[1] == self._file]
        if not places:
            self._rest = b""
            return [
                _Part(begin=0, end=size, path=path)
                for at, _, size, path in others
                if at > self._written
            ]
        return [
            _Part(begin=min(self._read, size) if number == self._file else 0, end=size, path=path)
            for _, number, size, path in others[places[0] :]
        ]


def _bytes(path: str, file: int, offset: int, size: int) -> bytes:
    """A part of the file at a path, else of the open one; nothing of what is gone by now."""
    if not path:
        return os.pread(file, size, offset)
    try:
        other = os.open(path, _HOW)
    except OSError:
        return b""
    try:
        return os.pread(other, size, offset)
    finally:
        os.close(other)
