"""Buttons: what a person does by a form, and how it went, told where it was pressed."""

from collections.abc import Awaitable
from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from twinsmith.core.errors import TwinsmithError
from twinsmith.web.guard import Visit
from twinsmith.web.office import office_of


async def told(request: Request, visit: Visit, work: Awaitable[str], *, to: str = "") -> Response:
    """Do something and go back to where it was asked for, or to another page, which tells of it."""
    try:
        said = await work
    except TwinsmithError as error:
        said, to = f"Not done: {error}", ""
    office_of(request).notices.put(visit.person.session, said)
    return RedirectResponse(to or _back(request), 303)


def _back(request: Request) -> str:
    """The page that a form was sent from; the first page where a browser does not tell."""
    came = urlsplit(request.headers.get("referer", ""))
    own = came.netloc == request.headers.get("host", "") and came.path.startswith("/")
    if not own or came.path.startswith("//"):
        return "/"
    return came.path + (f"?{came.query}" if came.query else "")
