"""What goes wrong, as a program or a person reads it: what, why, what next, a number to quote."""

import logging
import math
import secrets
import traceback
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from twinsmith.core.errors import (
    ConfigError,
    Conflict,
    Forbidden,
    InternalError,
    RunBusy,
    RunCancelled,
    RunLost,
    TwinsmithError,
    Unknown,
    Waiting,
)

PROBLEM = "application/problem+json"
KIND = "urn:twinsmith:error:"
"""Before the name of an error in the `type` of a problem: a client raises the same."""
MOST_TOLD = 10
TITLES = {
    400: "That cannot be done",
    401: "Sign in first",
    403: "You may not do that",
    404: "There is nothing here",
    405: "Not in this way",
    409: "Too late, or too early",
    412: "It has changed meanwhile",
    413: "Too large",
    415: "Of another kind than expected",
    421: "Another server's name",
    422: "That cannot be read",
    429: "Too many requests",
    500: "A fault of twinsmith itself",
    503: "Something is out of reach",
}
_log = logging.getLogger("twinsmith.web")

_STATUSES: tuple[tuple[type[TwinsmithError], int], ...] = (
    (Unknown, 404),
    (Conflict, 409),
    (Forbidden, 403),
    (ConfigError, 400),
    (RunBusy, 409),
    (RunLost, 409),
    (RunCancelled, 409),
    (Waiting, 409),
    (InternalError, 500),
)


class Refused(Exception):
    """A request that is refused before anything is done; `wait` tells when to come again."""

    def __init__(self, status: int, text: str, *, wait: float = 0.0) -> None:
        super().__init__(text)
        self.status = status
        self.wait = wait


def status_of(error: TwinsmithError) -> int:
    """The status that tells whoever asks who has to act."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 503)


def tell_problems(app: FastAPI) -> None:
    """Answer everything that goes wrong in one form."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return refusal(request, error)

    async def expected(request: Request, error: Exception) -> Response:
        assert isinstance(error, TwinsmithError)
        told = KIND + type(error).__name__
        return answer(request, status_of(error), str(error), kind=told)

    async def unreadable(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = [_told(each) for each in error.errors()[:MOST_TOLD]]
        return answer(request, 422, "; ".join(found))

    async def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        told = dict(error.headers or {})
        return answer(request, error.status_code, str(error.detail), headers=told)

    async def unexpected(request: Request, error: Exception) -> Response:
        number = secrets.token_hex(4)
        masking = request.app.state.office.settings.masking
        _log.error("%s %s", number, masking.text("".join(traceback.format_exception(error))))
        text = "the fault is in the server's log under this number; what you did may not be done"
        return answer(request, 500, text, number=number)

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(TwinsmithError, expected)
    app.add_exception_handler(RequestValidationError, unreadable)
    app.add_exception_handler(HTTPException, plain)
    app.add_exception_handler(Exception, unexpected)


def refusal(request: Request, error: Refused) -> Response:
    """A refusal as whoever asked reads it: when to come again, how to sign in."""
    headers = {"retry-after": str(math.ceil(error.wait))} if error.wait else {}
    if error.status == 401:
        headers["www-authenticate"] = 'Bearer realm="twinsmith"'
    return answer(request, error.status, str(error), headers=headers)


def answer(
    request: Request,
    status: int,
    text: str,
    *,
    kind: str = "about:blank",
    number: str = "",
    headers: dict[str, str] | None = None,
) -> Response:
    """A problem as JSON for programs, as a page for people."""
    from twinsmith.web.cookies import renewed

    number = number or secrets.token_hex(4)
    title = TITLES.get(status, "It cannot be done")
    wants_page = "text/html" in request.headers.get("accept", "")
    if wants_page and not request.url.path.startswith("/api/"):
        from twinsmith.web.pages import problem_page

        page = problem_page(request, status, title, text, number, headers or {})
        return renewed(request, page)
    told: dict[str, object] = {
        "type": kind,
        "title": title,
        "status": status,
        "detail": " ".join(text.split())[:2000],
        "number": number,
    }
    return renewed(request, JSONResponse(told, status, headers=headers, media_type=PROBLEM))


def _told(error: dict[str, Any]) -> str:
    """One mistake in a request, without what was sent: it may be a secret."""
    place = ".".join(str(part) for part in error["loc"])
    return f"{place}: {str(error['msg'])[:200].lower()}"
