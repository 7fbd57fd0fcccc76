"""The entrance of the console: signing in, the one-time link, signing out."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from twinsmith import __version__
from twinsmith.core.errors import ConfigError
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.people.account import FREE_FAILURES, Login
from twinsmith.core.people.actor import Actor
from twinsmith.runs.accounts import accept, invited
from twinsmith.web.addresses import address_of
from twinsmith.web.cookies import drop_cookie, put_cookie
from twinsmith.web.guard import Guarded, Visitor, needs
from twinsmith.web.office import Office, office_of
from twinsmith.web.pages import templates
from twinsmith.web.words import span
from twinsmith.wiring.identity import sessions_of

LOGIN_COST = 10.0
"""As many requests as a password counts: each takes a core for 50 ms, and 64 MB."""
entrance = APIRouter(route_class=Guarded, include_in_schema=False)
Word = Annotated[str, Form(max_length=300)]


@entrance.get("/login", openapi_extra=needs("open"))
def login_form(next: str = "/") -> Response:  # noqa: A002
    """The form to sign in with."""
    return _form("/login", title="Sign in", next=_own(next))


@entrance.post("/login", openapi_extra=needs("open"))
async def login(
    request: Request,
    name: Word,
    password: Annotated[str, Form(max_length=1000)],
    next: Word = "/",  # noqa: A002
) -> Response:
    """Sign in; who is refused is told no more than that."""
    office, where = office_of(request), address_of(request, office_of(request).settings)
    office.limits.spend(f"login {where}", LOGIN_COST)
    name = name.strip().lower()
    found = await asyncio.to_thread(office.identity.by_password, name, password, where)
    known = Actor(name=found.person.name if found.person else "nobody", way="console", where=where)
    kind = "user.signed_in" if found.person else "user.refused"
    told: dict[str, Json] = {"user": name[:40], "wait": round(found.wait)}
    await office.book.acting_as(known).tell(SYSTEM, kind, told)
    if found.person is None:
        why = "the name or the password is not right"
        if found.wait:
            why = (
                f"{why}; after {FREE_FAILURES} wrong passwords this account waits: try again in "
                f"{span(found.wait)}"
            )
        return _form("/login", 401, title="Sign in", next=_own(next), name=name, problem=why)
    return _in(found, _own(next), office)


@entrance.get("/welcome", openapi_extra=needs("open"))
def welcome_form(request: Request, token: str = "") -> Response:
    """The form behind a one-time link."""
    account = invited(office_of(request).book, token)
    return _form("/welcome", title="Welcome", token=token, name=account.name)


@entrance.post("/welcome", openapi_extra=needs("open"))
async def welcome(request: Request, token: Word, password: Word, again: Word) -> Response:
    """Choose a password by a one-time link, and be signed in."""
    office = office_of(request)
    where = address_of(request, office.settings)
    office.limits.spend(f"login {where}", LOGIN_COST)
    account = invited(office.book, token)
    actor = Actor(name=account.name, way="console", where=where)
    found, why = None, "the two passwords differ; type the same twice"
    if password == again:
        try:
            found = await accept(office.book.acting_as(actor), token, password, where)
        except ConfigError as error:
            why = str(error)
    if found is None:
        kept = {"token": token, "name": account.name}
        return _form("/welcome", 400, title="Welcome", problem=why, **kept)
    return _in(found, "/", office)


@entrance.post("/logout", openapi_extra=needs("read"))
async def logout(request: Request, visit: Visitor) -> Response:
    """End this session."""
    office, session = office_of(request), visit.person.session
    if session is not None:
        sessions_of(office.settings).end(session.id)
        await visit.book.tell(SYSTEM, "user.signed_out", {"user": visit.person.name})
    response = RedirectResponse("/login", 303)
    drop_cookie(response, office)
    return response


def _in(found: Login, address: str, office: Office) -> Response:
    response = RedirectResponse(address, 303)
    put_cookie(response, found.token, office)
    return response


def _own(address: str) -> str:
    """A page of this console; anything else is the first page."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() else "/"


def _form(action: str, status: int = 200, **values: str) -> Response:
    blank = {"name": "", "next": "/", "token": "", "problem": ""}
    told = {**blank, **values, "action": action, "version": __version__}
    return HTMLResponse(templates().get_template("login.html").render(told), status)
