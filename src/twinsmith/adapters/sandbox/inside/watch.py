"""Reading and writing several pipes at once until something happens or time is up."""

from __future__ import annotations

import posix as os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TIMED_OUT, TOO_LARGE, USED_UP = "timed out", "output too large", "used up"
SHORTEST_LOOK = 0.01


class Watch:
    """Reads and writes pipes until a deadline, and counts how much a program prints."""

    def __init__(self, seconds: float, most_printed: int) -> None:
        self.deadline = time.monotonic() + seconds
        self.came: dict[int, bytearray] = {}
        self.ended: set[int] = set()
        self._printed: tuple[int, ...] = ()
        self._most = most_printed
        self._to_write: dict[int, memoryview] = {}
        self._poll = select.poll()
        self.allowance: Callable[[], float] | None = None
        """The least seconds for which the allowed processor time lasts; 0 when it is used up."""

    def read(self, *files: int, printed: bool = False) -> None:
        """Read from these files from now on; with `printed`, what comes counts as output."""
        for fd in files:
            self.came[fd] = bytearray()
            self.ended.discard(fd)
            self._poll.register(fd, select.POLLIN)
        if printed:
            self._printed += files

    def write(self, fd: int, data: bytes, *, close: bool = False) -> None:
        """Write data to a file as the other side reads; with `close`, close it afterwards."""
        os.set_blocking(fd, False)
        self._to_write[fd] = memoryview(data)
        self._poll.register(fd, select.POLLOUT)
        self._closing = close

    def until(self, done: Callable[[], bool]) -> str:
        """Go on until `done` is true; gives why it was given up, or an empty text."""
        while not done():
            left = self.deadline - time.monotonic()
            if left <= 0:
                return TIMED_OUT
            if self.allowance is not None:
                lasts = self.allowance()
                if lasts <= 0:
                    return USED_UP
                left = min(left, max(lasts, SHORTEST_LOOK))
            for fd, _ in self._poll.poll(left * 1000):
                if fd in self._to_write:
                    self._write(fd)
                else:
                    self._read(fd)
            if sum(len(self.came[fd]) for fd in self._printed) > self._most:
                return TOO_LARGE
        return ""

    def forget(self, *files: int) -> None:
        """Stop reading these files."""
        for fd in files:
            if fd not in self.ended:
                self.ended.add(fd)
                self._poll.unregister(fd)

    def forget_printed(self) -> None:
        """Stop reading the output of a program that prints too much."""
        self.forget(*self._printed)
        self._most = sum(map(len, self.came.values())) + 1

    def rest(self) -> None:
        """Read what was printed and not read yet, without waiting."""
        for fd in self._printed:
            if fd not in self.ended:
                os.set_blocking(fd, False)
                try:
                    self.came[fd] += os.read(fd, self._most)
                except BlockingIOError:
                    continue

    def _read(self, fd: int) -> None:
        part = os.read(fd, 65536)
        self.came[fd] += part
        if not part:
            self.ended.add(fd)
            self._poll.unregister(fd)

    def _write(self, fd: int) -> None:
        try:
            view = self._to_write[fd]
            view = view[os.write(fd, view[:65536]) :]
        except BlockingIOError:
            return
        except OSError:
            view = memoryview(b"")
        self._to_write[fd] = view
        if not view:
            del self._to_write[fd]
            self._poll.unregister(fd)
            if self._closing:
                os.close(fd)
