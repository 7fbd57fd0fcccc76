"""One chain of events in one file; any number of processes may append to it."""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from twinsmith.adapters.journal.chains import NextLine
from twinsmith.core.anchor import Anchor
from twinsmith.core.errors import EngineError
from twinsmith.core.events import GENESIS, Entry, from_line

LOCK_SECONDS = 10.0
LOOK_SECONDS = 0.005


@dataclass(slots=True)
class _Seen:
    """What this process has read of the file so far."""

    offset: int = 0
    lines: int = 0
    head: str = GENESIS
    keys: set[str] = field(default_factory=set)


class Chain:
    """Appends whole, synced lines under a lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = _Seen()

    def append(self, key: str, next_line: NextLine) -> Anchor | None:
        """Add a line; where the chain ended before it. None where its key is there already."""
        try:
            with self._locked() as file:
                self._catch_up(file)
                if key and key in self._seen.keys:
                    return None
                before = self.seen
                self._write(file, f"{next_line(before)}\n".encode())
                self._catch_up(file)
                return before
        except OSError as error:
            raise EngineError(
                f"the journal {self.path} cannot be written: {error.strerror}; "
                "make room or mend the folder, then resume the run"
            ) from error

    def anchor(self) -> Anchor:
        """Length and last hash of the chain as it is on disk."""
        with self._locked() as file:
            self._catch_up(file)
        return self.seen

    @property
    def seen(self) -> Anchor:
        """Length and last hash as this process read or wrote them last."""
        return Anchor(lines=self._seen.lines, head=self._seen.head)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            self._lock(file)
            yield file
        finally:
            os.close(file)

    def _lock(self, file: int) -> None:
        """Wait for whoever writes; EngineError where they were suspended in the middle of it."""
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            with suppress(BlockingIOError):
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.monotonic() > deadline:
                raise EngineError(
                    f"the journal {self.path} is held by a process that does not go on; end it "
                    "or let it go on, then resume the run"
                )
            time.sleep(LOOK_SECONDS)

    def _catch_up(self, file: int) -> None:
        seen = self._seen
        size = os.fstat(file).st_size
        if size < seen.offset:
            # Somebody cut the file: read it anew, `log --verify` will name the place.
            seen = self._seen = _Seen()
        fresh = os.pread(file, size - seen.offset, seen.offset) if size > seen.offset else b""
        whole = fresh[: fresh.rfind(b"\n") + 1]
        if len(whole) < len(fresh):
            # A line that lost its end was never acknowledged: its writer did not live to sync it.
            os.ftruncate(file, seen.offset + len(whole))
        for line in whole.splitlines():
            seen.lines += 1
            try:
                entry = from_line(line.decode())
            except ValueError:
                # Altered by hand: go on from what stands there, so that nothing more is lost.
                seen.head = hashlib.sha256(line).hexdigest()
                continue
            seen.head = entry.hash
            if entry.event.key:
                seen.keys.add(entry.event.key)
        seen.offset += len(whole)

    def _write(self, file: int, line: bytes) -> None:
        written = os.write(file, line)
        if written < len(line):
            os.ftruncate(file, self._seen.offset)
            raise OSError(28, "No space left on device")
        os.fsync(file)


def read_lines(path: Path) -> list[str]:
    """All lines as they stand on disk, a torn last one included."""
    try:
        text = path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return []
    return text.removesuffix("\n").split("\n") if text else []


def read_entries(path: Path, offset: int = 0) -> tuple[list[Entry], int]:
    """The readable entries behind an offset, and the offset behind them."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            fresh = file.read()
    except FileNotFoundError:
        return [], offset
    whole = fresh[: fresh.rfind(b"\n") + 1]
    entries = []
    for line in whole.splitlines():
        try:
            entries.append(from_line(line.decode()))
        except ValueError:
            continue
    return entries, offset + len(whole)
