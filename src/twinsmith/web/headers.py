"""Around every request: its size and its host are checked, its answer is sealed."""

import hashlib
import json
import secrets
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from twinsmith.web.problems import PROBLEM, TITLES

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SEALS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
STRICT = ("strict-transport-security", "max-age=31536000")
ETAGGED = 1 << 20


class TooLarge(Exception):
    """A body that is larger than it may be."""


class Sealed:
    """The application with limits before it and seals on everything that leaves it."""

    def __init__(self, app: ASGIApp, *, largest: int, names: Iterable[str], secure: bool) -> None:
        self._app = app
        self._largest = largest
        self._names = frozenset(names)
        self._seals = {**SEALS, **({STRICT[0]: STRICT[1]} if secure else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, checked and answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        length = headers.get("content-length", "0")
        if self._names and name not in self._names:
            await self._refuse(send, 421, f"this server is not called {name[:100]!r}")
            return
        if not length.isdecimal() or int(length) > self._largest:
            await self._refuse(send, 413, f"the body is larger than {self._largest} bytes")
            return
        try:
            await self._app(scope, self._bounded(receive), self._sealing(scope, headers, send))
        except TooLarge:
            await self._refuse(send, 413, f"the body is larger than {self._largest} bytes")

    def _bounded(self, receive: Receive) -> Receive:
        """The parts of a body, until they are too many."""
        seen = 0

        async def bounded() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._largest:
                raise TooLarge
            return message

        return bounded

    def _sealing(self, scope: Scope, asked: Headers, send: Send) -> Send:
        """What sends an answer with its seals, and an ETag where it is short JSON."""
        start: Message | None = None

        async def sealing(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                self._seal(scope, MutableHeaders(scope=message))
                if _is_tagged(scope, message):
                    start = message
                    return
            elif start is not None:
                held, start = start, None
                if not message.get("more_body") and len(message["body"]) <= ETAGGED:
                    await _tagged(asked, held, message, send)
                    return
                await send(held)
            await send(message)

        return sealing

    def _seal(self, scope: Scope, headers: MutableHeaders) -> None:
        for name, value in self._seals.items():
            headers.setdefault(name, value)
        kept = "public, max-age=3600" if scope["path"].startswith("/static/") else "no-store"
        headers.setdefault("cache-control", kept)

    async def _refuse(self, send: Send, status: int, text: str) -> None:
        told = {
            "type": "about:blank",
            "title": TITLES[status],
            "status": status,
            "detail": text,
            "number": secrets.token_hex(4),
        }
        start: Message = {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", PROBLEM.encode()), (b"connection", b"close")],
        }
        self._seal({"path": "/"}, MutableHeaders(scope=start))
        await send(start)
        await send({"type": "http.response.body", "body": json.dumps(told).encode()})


def _is_tagged(scope: Scope, start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return scope["method"] == "GET" and start["status"] == 200 and kind == "application/json"


async def _tagged(asked: Headers, start: Message, body: Message, send: Send) -> None:
    """Send an answer with its ETag; nothing of it where whoever asks has it already."""
    tag = f'"{hashlib.sha256(body["body"]).hexdigest()[:32]}"'
    headers = MutableHeaders(scope=start)
    headers["etag"] = tag
    headers["cache-control"] = "private, no-cache"
    known = [each.strip().removeprefix("W/") for each in asked.get("if-none-match", "").split(",")]
    if tag in known:
        start["status"] = 304
        del headers["content-length"]
        body = {**body, "body": b""}
    await send(start)
    await send(body)
