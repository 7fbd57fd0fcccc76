"""HTTP over a Unix socket, for tests."""

import http.client
import socket
from pathlib import Path

SECONDS = 30.0


class Connection(http.client.HTTPConnection):
    """A connection to the service at a socket, which is kept until it is closed."""

    def __init__(self, path: Path | str) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._path = str(path)

    def connect(self) -> None:
        plain = socket.socket(socket.AF_UNIX)
        plain.settimeout(SECONDS)
        try:
            plain.connect(self._path)
        except OSError:
            plain.close()
            raise
        self.sock = plain


def ask(
    path: Path | str, method: str, target: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    """The status and the body that one request is answered with."""
    connection = Connection(path)
    try:
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
