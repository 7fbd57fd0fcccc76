"""The cookie of a session: for nobody's script, and for this site only."""

from fastapi import Request, Response

from twinsmith.web.office import Office, office_of

NAME = "twinsmith"
SECURE_NAME = "__Host-twinsmith"


def put_cookie(response: Response, token: str, office: Office) -> None:
    """Give the browser the token of its session."""
    response.set_cookie(
        _name(office),
        token,
        max_age=int(office.settings.values.server.session_seconds),
        path="/",
        secure=office.secure,
        httponly=True,
        samesite="lax",
    )


def renewed(request: Request, response: Response) -> Response:
    """An answer with the new token of the session, where it got one by this request.

    A route that began or ended a session has said so: the token before it is over.
    """
    token = getattr(request.state, "token", "")
    if token and "set-cookie" not in response.headers:
        put_cookie(response, token, office_of(request))
    return response


def drop_cookie(response: Response, office: Office) -> None:
    """Let the browser forget its session."""
    response.delete_cookie(
        _name(office), path="/", secure=office.secure, httponly=True, samesite="lax"
    )


def token_in(request: Request, office: Office) -> str:
    """The token that a browser brings; empty where it brings none."""
    return request.cookies.get(_name(office), "")


def _name(office: Office) -> str:
    return SECURE_NAME if office.secure else NAME
