"""Asks instances over their Unix sockets, as the proxy does."""

import asyncio
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from twinsmith.core.operating.canary import Exchange

LONGEST_HEAD = 1 << 16


class SocketVisitor:
    """One request a connection; only the status is of interest, the rest is read and dropped."""

    async def get(self, address: str, path: str, *, seconds: float) -> Exchange:
        """One GET of a path at a socket; status 0 where there was no whole answer in time."""
        began = time.monotonic()
        status = 0
        with suppress(OSError, ValueError, IndexError, asyncio.TimeoutError):
            async with asyncio.timeout(seconds):
                status = await _asked(address, path)
        return Exchange(path=path, status=status, seconds=time.monotonic() - began)


async def _asked(address: str, path: str) -> int:
    with _socket(address) as place:
        reader, writer = await asyncio.open_unix_connection(place, limit=LONGEST_HEAD)
    try:
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        writer.write(head.encode("ascii", "replace"))
        await writer.drain()
        status = int((await reader.readline()).split()[1])
        while await reader.read(LONGEST_HEAD):
            pass
        return status
    finally:
        writer.close()


@contextmanager
def _socket(address: str) -> Iterator[str]:
    """A path by which just this socket is reached; OSError where it is none.

    The program behind it may have put a link there, to a socket of somebody else.
    """
    file = os.open(address, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISSOCK(os.fstat(file).st_mode):
            raise OSError(f"{address} is no socket")
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)
