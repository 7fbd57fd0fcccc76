"""For administrators: who may use this server, and the settings that are in force."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from twinsmith.adapters.clock import SystemClock
from twinsmith.client.user_shapes import KeyShown, UserShown
from twinsmith.core.errors import TwinsmithError
from twinsmith.core.people.role import MEANING, PERMITTED, ROLES
from twinsmith.runs import accounts
from twinsmith.runs.book import Book
from twinsmith.settings import Settings, values_by_key
from twinsmith.web.api.users import key_shown, link_for, user_shown
from twinsmith.web.console.deeds import told
from twinsmith.web.console.settings import Names, Word, not_done, once
from twinsmith.web.guard import Guarded, Visitor, needs
from twinsmith.web.pages import Page, View, page_route, part
from twinsmith.wiring.identity import accounts_of, keys_of

users = APIRouter(route_class=Guarded, include_in_schema=False)
CRUMBS = (("Settings", "/settings"),)
USERS = "/settings/users"


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """A setting with its value, without secrets, and where it comes from."""

    key: str
    value: str
    source: str


async def listed(view: View) -> Page:
    """Every account, what it may do, and everybody's keys."""
    now = SystemClock().now()
    known, keys = await asyncio.to_thread(_known, view.visit.book)
    return Page(
        title="Users",
        section="Settings",
        parts={
            "users": part("settings_users", view=view, users=known, roles=ROLES, now=now),
            "new-user": part("settings_new_user", roles=ROLES, permitted=PERMITTED),
            "all-keys": part("settings_all_keys", keys=keys, now=now),
            "roles": part("settings_roles", mine=None, permitted=PERMITTED, meaning=MEANING),
        },
        data={"users": known, "keys": keys},
        live=False,
        crumbs=CRUMBS,
    )


async def values(view: View) -> Page:
    """The settings in force, by words in their names."""
    words, changed = view.asked("q").casefold(), bool(view.asked("changed"))
    known = await asyncio.to_thread(in_force, view.visit.book.settings)
    found = [
        each for each in known if words in each.key and not (changed and each.source == "default")
    ]
    return Page(
        title="Settings in force",
        section="Settings",
        parts={
            "values": part(
                "settings_values", view=view, values=found, changed=changed, count=len(known)
            )
        },
        data=found,
        live=False,
        crumbs=CRUMBS,
    )


page_route(users, USERS, "administer", listed)
page_route(users, "/settings/values", "administer", values)


@users.post(USERS, openapi_extra=needs("administer", shown_once=True))
async def add(request: Request, visit: Visitor, name: Word, roles: Names = None) -> Response:
    """Add an account; its one-time link stands on the page that answers."""
    name = name.strip().lower()
    try:
        token = await accounts.add(visit.book, name, roles or [])
    except TwinsmithError as error:
        return not_done(request, visit, error, USERS)
    return await once(
        request, visit, "A new user", _told(name), link_for(request, token), back=USERS
    )


@users.post("/settings/users/{user}/invite", openapi_extra=needs("administer", shown_once=True))
async def invite(request: Request, visit: Visitor, user: str) -> Response:
    """A new one-time link for an account: its password and its sessions end."""
    try:
        token = await accounts.invite(visit.book, user)
    except TwinsmithError as error:
        return not_done(request, visit, error, USERS)
    link = link_for(request, token)
    return await once(request, visit, "Invited anew", _told(user), link, back=USERS)


@users.post("/settings/users/{user}/roles", openapi_extra=needs("administer"))
async def change(request: Request, visit: Visitor, user: str, roles: Names = None) -> Response:
    """Give an account other roles; its sessions end."""

    async def work() -> str:
        changed = await accounts.change(visit.book, user, roles=roles or [])
        return f"{user} is {', '.join(changed.roles)} now, and has to sign in again"

    return await told(request, visit, work())


@users.post("/settings/users/{user}/shut", openapi_extra=needs("administer"))
async def shut(
    request: Request, visit: Visitor, user: str, disabled: Annotated[bool, Form()]
) -> Response:
    """Shut an account, or let it in again."""

    async def work() -> str:
        await accounts.change(visit.book, user, disabled=disabled)
        return f"{user} {'is shut out: no session and no key works' if disabled else 'may sign in'}"

    return await told(request, visit, work())


@users.post("/settings/users/{user}/sign-out", openapi_extra=needs("administer"))
async def sign_out(request: Request, visit: Visitor, user: str) -> Response:
    """End all sessions of an account."""

    async def work() -> str:
        known = accounts.account(visit.book, user)
        count = await accounts.sign_out_everywhere(visit.book, known.name)
        return f"{user} is signed out; there were {count} sessions"

    return await told(request, visit, work())


def in_force(settings: Settings) -> list[InForce]:
    """Every setting with its value and where it comes from; what is a secret is masked."""
    return [
        InForce(key=key, value=settings.masking.text(_words(value)), source=settings.sources[key])
        for key, value in values_by_key(settings.values).items()
    ]


def _words(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def _known(book: Book) -> tuple[list[UserShown], list[KeyShown]]:
    people = [user_shown(book, each) for each in accounts_of(book.settings).listed()]
    keys = [key_shown(each) for each in keys_of(book.settings).listed()]
    return people, keys[::-1]


def _told(name: str) -> str:
    return (
        f"Give this link to {name} in a way that nobody else reads: whoever opens it first chooses "
        "the password. It holds once, for three days."
    )
