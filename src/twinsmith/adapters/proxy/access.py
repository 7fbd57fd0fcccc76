"""The access log of the small proxy: the same lines as Caddy's, in files that roll."""

import json
from dataclasses import dataclass
from logging import LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

from twinsmith.adapters.proxy import limits

_METHOD_CHARACTERS = 32
_FILE = "access.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One request and what became of it."""

    at: float
    """When it was answered, in seconds since 1970."""
    client: tuple[str, int]
    method: bytes
    target: bytes
    slot: int | None
    """The slot that answered; none where no service was asked."""
    status: int
    size: int
    seconds: float


def access_log(folder: Path, app: str) -> Path:
    """The file that tells of the requests of an app, in the folder of whichever proxy."""
    return folder / app / _FILE


def line(access: Access) -> str:
    """The line that tells of a request, whatever bytes it was made of."""
    path = access.target.partition(b"?")[0].decode("latin-1")
    return json.dumps(
        {
            "level": "info" if access.status < 400 else "error",
            "ts": access.at,
            "logger": "http.log.access",
            "msg": "handled request",
            "request": {
                "remote_ip": access.client[0],
                "remote_port": str(access.client[1]),
                "method": access.method.decode("latin-1")[:_METHOD_CHARACTERS],
                "uri": path[: limits.LOGGED_CHARACTERS],
            },
            "slot": "" if access.slot is None else f"{access.slot:02}",
            "duration": round(access.seconds, 9),
            "size": access.size,
            "status": access.status,
        }
    )


class AccessLog:
    """The rolled file of one app."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        size = limits.LOG_MB * 1024 * 1024
        self._file = RotatingFileHandler(
            path, maxBytes=size, backupCount=limits.LOGS_KEPT, encoding="utf-8", delay=True
        )

    def write(self, access: Access) -> None:
        """Add the line of a request."""
        # The handler rolls and writes; nothing of what logging does around it is wanted.
        self._file.handle(LogRecord("access", 20, "", 0, line(access), None, None))

    def close(self) -> None:
        """Let go of the file, until there is another request to tell of."""
        self._file.close()
