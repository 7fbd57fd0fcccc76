"""Small services on Unix sockets, as instances of an app answer: what stands behind a proxy."""

import hashlib
import http.client
import select
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

EVIL = b'HTTP/1.1 200 OK\r\nServer: evil\r\nX-Evil: "},\\{\xff\r\nContent-Length: 4\r\n\r\nevil'


@dataclass
class Service:
    """One service, and what it saw."""

    name: str
    path: Path
    seen: list[dict[str, str]] = field(default_factory=list)
    """The headers of every request, by names in small letters, with its `path`."""
    held: threading.Event = field(default_factory=threading.Event)
    """Set when somebody waits at /held."""
    go: threading.Event = field(default_factory=threading.Event)
    """Whoever waits at /held goes on when this is set."""
    got: int = 0
    """The bytes of bodies that came."""


@contextmanager
def service(folder: Path, name: str) -> Iterator[Service]:
    """A running service, at `folder`/`name`."""
    made = Service(name=name, path=folder / name)
    made.path.unlink(missing_ok=True)

    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 128

        def handle_error(self, request: object, client_address: object) -> None:
            """Clients that left are part of the tests."""

    with Server(str(made.path), _handler(made)) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield made
        finally:
            made.go.set()
            server.shutdown()
            made.path.unlink(missing_ok=True)
            # On busy cores what was sent to it may still wait to be taken: a service drains.
            while select.select([server], [], [], 0)[0]:
                server.handle_request()


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Own(_Handler):
        made = service

    return Own


class _Handler(BaseHTTPRequestHandler):
    made: Service
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self._see()
        match self.path.partition("?")[0]:
            case "/evil":
                self.wfile.write(EVIL)
            case "/broken":
                self.close_connection = True
            case "/held":
                self.made.held.set()
                self.made.go.wait(30)
                self._answer(self.made.name.encode())
            case "/pieces":
                self._pieces()
            case _:
                self._answer(self.made.name.encode())

    def do_POST(self) -> None:
        self._see()
        if self.path == "/broken":
            self.close_connection = True
            return
        digest = hashlib.sha256()
        for piece in self._body():
            digest.update(piece)
            self.made.got += len(piece)
        self._answer(digest.hexdigest().encode())

    def _see(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.made.seen.append(headers | {"path": self.path})

    def _body(self) -> Iterator[bytes]:
        if "Content-Length" in self.headers:
            left = int(self.headers["Content-Length"])
            while left and (piece := self.rfile.read(min(left, 65536))):
                left -= len(piece)
                yield piece
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _pieces(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"5\r\nfirst\r\n")
        self.made.go.wait(30)
        self.wfile.write(b"6\r\nsecond\r\n0\r\n\r\n")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def free_port() -> int:
    """A port of the loopback that nobody has."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
        return port


def asked(port: int, path: str = "/", **options: object) -> tuple[int, bytes]:
    """The status and the body of an answer at a port; status 0 where nobody listens."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with suppress(ConnectionRefusedError):
        client.request(str(options.pop("method", "GET")), path, **options)  # type: ignore[arg-type]
        answer = client.getresponse()
        body = answer.read()
        client.close()
        return answer.status, body
    return 0, b""


def asked_at(path: str) -> tuple[int, bytes]:
    """The status and the body of an answer at a socket; 502 where nobody listens."""
    client = http.client.HTTPConnection("socket", timeout=20)
    client.sock = socket.socket(socket.AF_UNIX)
    with suppress(OSError):
        client.sock.connect(path)
        client.request("GET", "/", headers={"Connection": "close"})
        answer = client.getresponse()
        body = answer.read()
        client.close()
        return answer.status, body
    client.close()
    return 502, b""
