"""Users and keys over the API."""

from fastapi import APIRouter, Request

from twinsmith.client.shapes import Me
from twinsmith.client.user_shapes import (
    ChangedUser,
    Invited,
    KeyIssued,
    KeyShown,
    NewKey,
    NewUser,
    UserShown,
)
from twinsmith.core.errors import Forbidden
from twinsmith.core.people.account import Account, ApiKey, may
from twinsmith.core.people.role import PERMISSIONS
from twinsmith.runs import accounts
from twinsmith.runs.book import Book
from twinsmith.web.addresses import public_address
from twinsmith.web.guard import API, Guarded, Visit, Visitor, needs
from twinsmith.wiring.identity import accounts_of, keys_of, sessions_of

users = APIRouter(prefix=API, tags=["users"], route_class=Guarded)


@users.get("/me", openapi_extra=needs("read"))
def me(visit: Visitor) -> Me:
    """Who asks, and what they may do."""
    person = visit.person
    granted = tuple(each for each in PERMISSIONS if each in person.permissions)
    return Me(name=person.name, permissions=granted, by="key" if person.key else "session")


@users.get("/users", openapi_extra=needs("administer"))
def listed(visit: Visitor) -> tuple[UserShown, ...]:
    """Every account, by name."""
    known = accounts_of(visit.book.settings).listed()
    return tuple(user_shown(visit.book, each) for each in known)


@users.post("/users", status_code=201, openapi_extra=needs("administer", shown_once=True))
async def add(request: Request, visit: Visitor, wanted: NewUser) -> Invited:
    """Add an account; the link by which its owner chooses a password is shown this once."""
    token = await accounts.add(visit.book, wanted.name, wanted.roles)
    return Invited(name=wanted.name, link=link_for(request, token))


@users.get("/users/{user}", openapi_extra=needs("administer"))
def one(visit: Visitor, user: str) -> UserShown:
    """One account."""
    return user_shown(visit.book, accounts.account(visit.book, user))


@users.patch("/users/{user}", openapi_extra=needs("administer"))
async def change(visit: Visitor, user: str, wanted: ChangedUser) -> UserShown:
    """Give an account other roles, or shut it; its sessions end."""
    changed = await accounts.change(visit.book, user, roles=wanted.roles, disabled=wanted.disabled)
    return user_shown(visit.book, changed)


@users.post(
    "/users/{user}/invite",
    status_code=201,
    openapi_extra=needs("administer", shown_once=True),
)
async def invite(request: Request, visit: Visitor, user: str) -> Invited:
    """A new one-time link for an account; its password and its sessions end."""
    token = await accounts.invite(visit.book, user)
    return Invited(name=user, link=link_for(request, token))


@users.post("/users/{user}/sign-out", openapi_extra=needs("administer"))
async def sign_out(visit: Visitor, user: str) -> UserShown:
    """End all sessions of an account."""
    known = accounts.account(visit.book, user)
    await accounts.sign_out_everywhere(visit.book, user)
    return user_shown(visit.book, known)


@users.get("/keys", openapi_extra=needs("read"))
def keys(visit: Visitor) -> tuple[KeyShown, ...]:
    """Your own keys; everybody's for administrators."""
    known = keys_of(visit.book.settings).listed()
    return tuple(key_shown(each) for each in known if _is_theirs(visit, each.owner))


@users.post("/keys", status_code=201, openapi_extra=needs("read", shown_once=True))
async def issue(visit: Visitor, wanted: NewKey) -> KeyIssued:
    """A new key of your own, of no more rights than you have now; its secret is shown this once."""
    more = [each for each in wanted.scopes if not visit.may(each)]
    if more:
        raise Forbidden(f"you may not {more[0]!r} by the way you came, so no new key of yours may")
    key, secret = await accounts.issue(
        visit.book, visit.person.name, wanted.title, wanted.scopes, wanted.days
    )
    return KeyIssued(key=key_shown(key), secret=secret)


@users.delete("/keys/{key}", openapi_extra=needs("read"))
async def revoke(visit: Visitor, key: str) -> KeyShown:
    """Revoke a key of your own at once; anybody's for administrators."""
    known = keys_of(visit.book.settings).get(key)
    if known is not None and not _is_theirs(visit, known.owner):
        raise Forbidden(f"key {key} is another person's; an administrator can revoke it")
    return key_shown(await accounts.revoke(visit.book, key))


def link_for(request: Request, token: str) -> str:
    """The one-time link with a token, at the address by which people reach this server."""
    office = request.app.state.office
    port = request.url.port or office.settings.values.server.port
    return f"{public_address(office.settings, port)}/welcome?token={token}"


def user_shown(book: Book, account: Account) -> UserShown:
    """An account as it goes over the wire."""
    granted = may(account)
    return UserShown(
        name=account.name,
        roles=account.roles,
        permissions=tuple(each for each in PERMISSIONS if each in granted),
        disabled=account.disabled,
        invited=bool(account.invitation),
        locked_until=account.locked_until,
        sessions=len(sessions_of(book.settings).listed(account.name)),
        made=account.made,
        by=account.by,
    )


def key_shown(key: ApiKey) -> KeyShown:
    """A key as it goes over the wire."""
    return KeyShown(**{name: getattr(key, name) for name in KeyShown.__slots__})


def _is_theirs(visit: Visit, owner: str) -> bool:
    return owner == visit.person.name or visit.may("administer")
