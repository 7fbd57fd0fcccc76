"""Whether a port of the loopback is free, and who has it."""

import asyncio
import errno
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from twinsmith.core.errors import ConfigError, HostError

LOOPBACK = "127.0.0.1"
_LISTENING = "0A"
CLOSING_SECONDS = 10.0


def refuse_taken(app: str, port: int) -> None:
    """ConfigError, with who has it if that can be told, where an app cannot have a port.

    Caddy itself would share it with any other program of the same user that lets it.
    """
    problem = _problem(port)
    if problem == errno.EADDRINUSE:
        holder = listener(port)
        raise ConfigError(
            f"port {port} of app {app} is taken{f' by {holder}' if holder else ''}; "
            "end that, or give another port"
        )
    if problem == errno.EACCES:
        raise ConfigError(f"port {port} of app {app} is for root only; give one above 1023")
    if problem:
        raise HostError(f"port {port} of app {app} cannot be opened: {errno.errorcode[problem]}")


async def until_free(port: int) -> None:
    """Wait until nobody listens at a port any more; HostError where that never comes."""
    for _ in range(int(CLOSING_SECONDS / 0.01)):
        if _problem(port) != errno.EADDRINUSE:
            return
        await asyncio.sleep(0.01)
    raise HostError(f"port {port} is still open, by {listener(port) or 'nobody knows whom'}")


def listener(port: int, proc: Path = Path("/proc")) -> str:
    """The process that listens at a port, in words; empty where that cannot be told."""
    wanted: set[str] = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            wanted |= sockets_at(port, (proc / "net" / table).read_text())
    for process in proc.glob("[0-9]*"):
        if wanted & set(_open_files(process)):
            with suppress(OSError):
                name = (process / "comm").read_text().strip()
                return f"process {process.name} ({ascii(name)[1:-1]})"
    return ""


def sockets_at(port: int, table: str) -> set[str]:
    """The sockets that listen at a port, as /proc/net/tcp lists them."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return {
        f"socket:[{row[9]}]"
        for row in rows
        if len(row) > 9 and row[3] == _LISTENING and int(row[1].rpartition(":")[2], 16) == port
    }


def _open_files(process: Path) -> Iterator[str]:
    """The files that a process has open; those that we may see, and that are still there."""
    with suppress(OSError):
        for entry in list((process / "fd").iterdir()):
            with suppress(OSError):
                yield str(entry.readlink())


def _problem(port: int) -> int:
    """Nothing, or the number of the error that came of opening a port for a moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as door:
        # Connections that have ended do not count; who listens does.
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((LOOPBACK, port))
        except OSError as error:
            return error.errno or errno.EIO
    return 0
