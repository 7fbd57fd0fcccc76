"""A conversation with a judge over its pipes, until it ends or takes too long."""

import os
import select
import subprocess
import time
from collections.abc import Callable

MOST_SAID = 64 << 20


class Conversation:
    """Writes to a process and reads from it at the same time, until a deadline."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        job: bytes,
        deadline: float,
        heard: Callable[[bytes], None],
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.out, self.err = bytearray(), bytearray()
        self.late = False
        self._deadline = deadline
        self._tell = heard
        self._stdout = process.stdout.fileno()
        self._into = process.stdin.fileno()
        self._heard = {process.stdout.fileno(): self.out, process.stderr.fileno(): self.err}
        self._poll = select.poll()
        for fd in self._heard:
            self._poll.register(fd, select.POLLIN)
        os.set_blocking(self._into, False)
        self._left = memoryview(b"")
        self.say(job)

    def say(self, data: bytes) -> None:
        """Send data to the process, as fast as it reads."""
        self._left = memoryview(data)
        self._poll.register(self._into, select.POLLOUT)

    def until(self, done: Callable[[], bool]) -> bool:
        """Go on until `done` is true; False when the process or the time ended before that."""
        while not done():
            left = self._deadline - time.monotonic()
            self.late = left <= 0 or len(self.out) > MOST_SAID
            if self.late or not self._heard:
                return False
            for fd, _ in self._poll.poll(left * 1000):
                self._write() if fd == self._into else self._read(fd)
        return True

    def _read(self, fd: int) -> None:
        part = os.read(fd, 1 << 16)
        self._heard[fd] += part
        if fd == self._stdout and b"\n" in part:
            self._tell(part)
        if not part:
            del self._heard[fd]
            self._poll.unregister(fd)

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._into, self._left) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._left = memoryview(b"")
        if not self._left:
            self._poll.unregister(self._into)
