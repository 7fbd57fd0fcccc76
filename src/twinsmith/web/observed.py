"""Around every request: counted, timed, and told in a trace where it does something.

A trace is told of requests that change something, and of those that belong to one already: pages
that live ask once a second. Who calls with a `traceparent` has their trace gone on with.
"""

import time
from dataclasses import replace

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from twinsmith.core import measures
from twinsmith.core.telemetry import Span, new_span, new_trace, trace_in
from twinsmith.flow.traced import at
from twinsmith.ports import Telemetry

SAFE = ("GET", "HEAD", "OPTIONS")
METHODS = (*SAFE, "POST", "PUT", "PATCH", "DELETE")
FAULT = 500


class Observed:
    """The application, with everything that is asked of it told."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, told once its answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = trace_in(Headers(scope=scope).get("traceparent", ""))
        began, status = time.time(), FAULT
        ended = 0.0

        async def sending(message: Message) -> None:
            nonlocal status, ended
            if message["type"] == "http.response.start":
                # A stream goes on for hours: its answer has begun here.
                status, ended = message["status"], time.time()
            await send(message)

        place = replace(given, span=new_span()) if given else new_trace()
        try:
            with at(place):
                await self._app(scope, receive, sending)
        finally:
            method, route = _named(scope)
            span = Span(
                what="request",
                name=f"{method} {route}",
                place=place,
                parent=given.span if given else "",
                began=began,
                ended=ended or time.time(),
                kind="server",
                problem=str(status) if status >= FAULT else "",
                attributes={
                    "http.request.method": method,
                    "http.route": route,
                    "http.response.status_code": status,
                },
            )
            if given or method not in SAFE:
                self._telemetry.tell(span)
            self._count(span, status)

    def _count(self, span: Span, status: int) -> None:
        method, _, route = span.name.partition(" ")
        face = "api" if route.startswith("/api/") or route == "/metrics" else "console"
        tell = self._telemetry.observe
        tell(measures.HTTP_REQUESTS, method=method, route=route, status=str(status))
        tell(measures.HTTP_SECONDS, span.seconds, face=face)


def _named(scope: Scope) -> tuple[str, str]:
    """A request by its method and its route: an address may hold what nobody should read."""
    method = scope["method"] if scope["method"] in METHODS else "OTHER"
    route = getattr(scope.get("route"), "path", "") or "unknown"
    return method, route
