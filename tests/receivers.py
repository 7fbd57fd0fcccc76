"""Receivers of alerts on the loopback: a webhook and a mail server, as real as sockets are."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Webhook:
    """A webhook that keeps what it is sent; `status` is what it answers."""

    port: int = 0
    status: int = 200
    bodies: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)
    """Requests are held back until it is set."""

    def address(self, path: str = "") -> str:
        """The address of this webhook as Apprise writes it."""
        return f"json://127.0.0.1:{self.port}/{path}"


@contextmanager
def webhook() -> Iterator[Webhook]:
    """A webhook on a free port."""
    hook = Webhook()
    hook.hold.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.hold.wait(30)
            hook.paths.append(self.path)
            hook.bodies.append(json.loads(body))
            self.send_response(hook.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield hook
        finally:
            hook.hold.set()
            server.shutdown()
            thread.join()


@dataclass
class MailServer:
    """A mail server that keeps what it is sent."""

    port: int = 0
    mails: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """A mail server on a free port: as much of SMTP as a mail takes."""
    kept = MailServer()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 here")
            while line := self.rfile.readline().decode().strip():
                verb = line.split()[0].upper()
                if verb == "DATA":
                    self._say("354 go on")
                    kept.mails.append("".join(iter(self._line, ".\r\n")))
                elif verb == "RCPT":
                    kept.recipients.append(line)
                self._say("221 bye" if verb == "QUIT" else "250 fine")
                if verb == "QUIT":
                    return

        def _line(self) -> str:
            return self.rfile.readline().decode()

        def _say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        kept.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield kept
        finally:
            server.shutdown()
            thread.join()
