"""A small service that stands in, during one check, for another that the program calls."""

from __future__ import annotations

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from typing import Any

# Told to every service as UPSTREAM_URL; nobody listens there but during a check that wants it.
PORT = 8001
URL = f"http://127.0.0.1:{PORT}"
MOST_REQUESTS = 1000
LONGEST_BODY = 1 << 16
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")


class Asked(tuple[str, str, str]):
    """One request that the program sent: method, path and the text of its body."""

    __slots__ = ()

    @property
    def method(self) -> str:
        """The method in capitals."""
        return self[0]

    @property
    def path(self) -> str:
        """The path with its query, as it was sent."""
        return self[1]

    @property
    def body(self) -> str:
        """The text of the body."""
        return self[2]

    def json(self) -> Any:
        """The JSON value in the body."""
        return wire.loads(self.body.strip())


class StandIn:
    """The function `stand_in(…)` of a check: a service that ends with it, or with a second one."""

    _open: StandIn | None = None

    def __init__(self, routes: dict[str, Any]) -> None:
        if StandIn._open is not None:
            StandIn._open.close()
        self.url = URL
        self.requests: list[Asked] = []
        self._server = _listening(routes, self.requests)
        StandIn._open = self
        import threading

        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        StandIn._open = None


def _listening(routes: dict[str, Any], requests: list[Asked]) -> HTTPServer:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    def answer(handler: BaseHTTPRequestHandler) -> None:
        asked = Asked((handler.command, handler.path, _body(handler)))
        if len(requests) < MOST_REQUESTS:
            requests.append(asked)
        status, kind, data = _answer(routes, asked)
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if asked.method != "HEAD":
            handler.wfile.write(data)

    ways: dict[str, Any] = {f"do_{method}": answer for method in METHODS}
    quiet = {"log_message": lambda *_: None}
    handler = type("Handler", (BaseHTTPRequestHandler,), {**ways, **quiet})
    try:
        server = ThreadingHTTPServer(("127.0.0.1", PORT), handler)
    except OSError:
        raise RuntimeError(f"port {PORT} is taken: a service has to leave it free") from None
    server.daemon_threads = True
    return server


def _answer(routes: dict[str, Any], asked: Asked) -> tuple[int, str, bytes]:
    """The status, type and body of a route's answer; a route with the same query comes first."""
    whole = f"{asked.method} {asked.path}"
    missing = 404, {"error": "no such route"}
    said = routes.get(whole, routes.get(whole.partition("?")[0], missing))
    status, value = said if isinstance(said, tuple) else (200, said)
    if isinstance(value, bytes):
        return status, "application/octet-stream", value
    if isinstance(value, str):
        return status, "text/plain; charset=utf-8", value.encode()
    return status, "application/json", wire.dumps(value).encode()


def _body(handler: BaseHTTPRequestHandler) -> str:
    """The body of a request, up to the longest that is looked at."""
    data, come = b"", handler.rfile
    if "chunked" in handler.headers.get("Transfer-Encoding", ""):
        while len(data) < LONGEST_BODY:
            size = int(come.readline(20).partition(b";")[0] or b"0", 16)
            if size <= 0:
                break
            data += come.read(min(size, LONGEST_BODY))
            come.readline(20)
    else:
        size = int(handler.headers.get("Content-Length") or 0)
        data = come.read(max(0, min(size, LONGEST_BODY)))
    return data[:LONGEST_BODY].decode(errors="replace")
