"""Your own settings: who you are here, your keys, your password, where you are signed in."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from twinsmith.adapters.clock import SystemClock
from twinsmith.client.user_shapes import KeyShown
from twinsmith.core.errors import ConfigError, Forbidden, TwinsmithError
from twinsmith.core.people.account import SHORTEST_PASSWORD, Account, Session
from twinsmith.core.people.role import MEANING, PERMISSIONS, PERMITTED
from twinsmith.runs import accounts
from twinsmith.web.addresses import address_of
from twinsmith.web.api.users import key_shown
from twinsmith.web.console.deeds import told
from twinsmith.web.cookies import drop_cookie, put_cookie
from twinsmith.web.guard import Guarded, Visit, Visitor, needs
from twinsmith.web.office import office_of
from twinsmith.web.pages import Page, View, page_route, part, shown
from twinsmith.wiring.identity import keys_of

settings = APIRouter(route_class=Guarded, include_in_schema=False)
DAYS = 90
Word = Annotated[str, Form(max_length=300)]
Secret = Annotated[str, Form(max_length=1000)]
Names = Annotated[list[str] | None, Form()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    """What belongs to whoever visits."""

    account: Account
    keys: tuple[KeyShown, ...]
    sessions: tuple[Session, ...]


async def own(view: View) -> Page:
    """The settings of whoever visits."""
    visit = view.visit
    mine = await asyncio.to_thread(_mine, visit)
    session = visit.person.session
    here = session.id if session else ""
    return Page(
        title="Settings",
        section="Settings",
        parts={
            "me": part("settings_me", view=view, mine=mine, meaning=MEANING),
            "keys": part(
                "settings_keys",
                view=view,
                keys=mine.keys,
                meaning=MEANING,
                now=SystemClock().now(),
                days=DAYS,
            ),
            "password": part(
                "settings_password", name=visit.person.name, shortest=SHORTEST_PASSWORD
            ),
            "sessions": part("settings_sessions", mine=mine, here=here),
            "roles": part("settings_roles", mine=mine, permitted=PERMITTED, meaning=MEANING),
        },
        data={
            "name": visit.person.name,
            "roles": mine.account.roles,
            "permissions": [each for each in PERMISSIONS if visit.may(each)],
            "keys": mine.keys,
        },
        live=False,
    )


page_route(settings, "/settings", "read", own)


@settings.post("/settings/keys", openapi_extra=needs("read", shown_once=True))
async def issue(
    request: Request,
    visit: Visitor,
    title: Annotated[str, Form(max_length=80)],
    days: Annotated[float, Form()] = DAYS,
    scopes: Names = None,
) -> Response:
    """A new key; its secret stands on the page that answers, and nowhere else."""
    try:
        more = [each for each in scopes or [] if each not in visit.person.permissions]
        if more:
            raise Forbidden(f"you may not {more[0][:40]!r} by the way you came, nor may your keys")
        key, secret = await accounts.issue(visit.book, visit.person.name, title, scopes or [], days)
    except TwinsmithError as error:
        return not_done(request, visit, error, "/settings")
    line = f"{key.title}: it may {', '.join(key.scopes)}, until {key.expires[:10]}"
    return await once(request, visit, "A new key", line, secret, back="/settings")


@settings.post("/settings/keys/{key}/revoke", openapi_extra=needs("read"))
async def revoke(request: Request, visit: Visitor, key: str) -> Response:
    """Revoke a key at once: one's own, or anybody's for administrators."""

    async def work() -> str:
        known = keys_of(visit.book.settings).get(key)
        if known and known.owner != visit.person.name and not visit.may("administer"):
            raise Forbidden(f"key {key} is another person's; an administrator can revoke it")
        return f"key {(await accounts.revoke(visit.book, key)).title} holds no more"

    return await told(request, visit, work())


@settings.post("/settings/password", openapi_extra=needs("read"))
async def password(
    request: Request, visit: Visitor, current: Secret, wanted: Secret, again: Secret
) -> Response:
    """Choose another password: whoever is signed in elsewhere is signed out."""
    office, name = office_of(request), _signed_in(visit).account
    try:
        if wanted != again:
            raise ConfigError("the two new passwords differ; type the same twice")
        where = address_of(request, office.settings)
        login = await accounts.change_password(visit.book, name, current, wanted, where)
    except TwinsmithError as error:
        return not_done(request, visit, error, "/settings")
    response = RedirectResponse("/settings" if login.person else "/login", 303)
    if login.person:
        line = "your password is another one now; everywhere else you are signed out"
        office.notices.put(login.person.session, line)
        put_cookie(response, login.token, office)
    return response


@settings.post("/settings/sessions/{session}/end", openapi_extra=needs("read"))
async def end(request: Request, visit: Visitor, session: str) -> Response:
    """Sign out in one other place."""
    name = _signed_in(visit).account

    async def work() -> str:
        await accounts.end_session(visit.book, name, session)
        return "that session is over"

    return await told(request, visit, work())


@settings.post("/settings/sign-out", openapi_extra=needs("read"))
async def sign_out(request: Request, visit: Visitor) -> Response:
    """Sign out everywhere, here too."""
    await accounts.sign_out_everywhere(visit.book, _signed_in(visit).account)
    response = RedirectResponse("/login", 303)
    drop_cookie(response, office_of(request))
    return response


async def once(
    request: Request, visit: Visit, title: str, line: str, secret: str, *, back: str
) -> Response:
    """A page with something that is shown this once."""
    view = View(visit=visit, office=office_of(request), names={}, query={}, path=back)
    page = Page(
        title=title,
        section="Settings",
        parts={"once": part("settings_once", line=line, secret=secret, back=back)},
        live=False,
        crumbs=(("Settings", "/settings"),),
    )
    return await shown(view, page, 201)


def not_done(request: Request, visit: Visit, error: TwinsmithError, back: str) -> Response:
    """Back to where something was asked for, which tells why it was not done."""
    office_of(request).notices.put(visit.person.session, f"Not done: {error}")
    return RedirectResponse(back, 303)


def _mine(visit: Visit) -> Mine:
    book, name = visit.book, visit.person.name
    known = keys_of(book.settings).listed()
    return Mine(
        account=accounts.account(book, name),
        keys=tuple(key_shown(each) for each in known if each.owner == name)[::-1],
        sessions=accounts.sessions(book, name),
    )


def _signed_in(visit: Visit) -> Session:
    """The session of whoever visits; Forbidden for programs, which have none."""
    if visit.person.session is None:
        raise Forbidden("a key cannot do this; sign in with your password")
    return visit.person.session
