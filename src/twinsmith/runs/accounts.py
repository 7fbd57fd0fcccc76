"""Who may use the server: accounts, one-time links and API keys, each change in the journal."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import replace

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ConfigError, Conflict, Unknown
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.people.account import (
    Account,
    ApiKey,
    Login,
    Session,
    account_name,
    checked_password,
    is_over,
    later,
    may,
)
from twinsmith.core.people.role import roles_in, scopes_in
from twinsmith.runs.book import Book
from twinsmith.wiring.identity import accounts_of, identity_of, keys_of, rules_of, sessions_of

DAY = 86_400.0
INVITED_SECONDS = 3 * DAY
FIRST = "admin"
MOST_DAYS = 366


def account(book: Book, name: str) -> Account:
    """The account of that name; Unknown where there is none."""
    found = accounts_of(book.settings).get(name)
    if found is None:
        raise Unknown(f"user {name!r} is not known; twinsmith users lists them")
    return found


async def first_link(book: Book) -> str:
    """The token of a link for the first administrator; empty where there are accounts already."""
    from twinsmith.adapters.identity.local import digest_of, new_secret

    now, token = SystemClock().now(), new_secret()
    first = Account(
        name=FIRST,
        roles=("admin",),
        invitation=digest_of(token),
        invited_until=later(now, INVITED_SECONDS),
        made=now,
        by="user:twinsmith",
    )
    if not accounts_of(book.settings).first(first):
        return ""
    await book.tell(SYSTEM, "user.invited", {"user": FIRST, "roles": ["admin"]})
    return token


async def add(book: Book, name: str, roles: Sequence[str]) -> str:
    """Add an account; the token of its one-time link."""
    known, given = accounts_of(book.settings), roles_in(roles)
    if known.get(account_name(name)) is not None:
        raise Conflict(f"user {name!r} is there already; give another name, or invite {name} anew")
    now = SystemClock().now()
    known.save(Account(name=name, roles=given, made=now, by=book.actor.signature))
    await book.tell(SYSTEM, "user.added", {"user": name, "roles": list[Json](given)})
    return await invite(book, name)


async def invite(book: Book, name: str) -> str:
    """The token of a new one-time link for an account: its password and sessions end with it."""
    from twinsmith.adapters.identity.local import digest_of, new_secret

    token, now = new_secret(), SystemClock().now()
    changed = replace(
        account(book, name),
        password="",
        invitation=digest_of(token),
        invited_until=later(now, INVITED_SECONDS),
        failures=0,
        locked_until="",
    )
    accounts_of(book.settings).save(changed)
    _end_sessions(book, name)
    await book.tell(SYSTEM, "user.invited", {"user": name, "roles": list[Json](changed.roles)})
    return token


async def change(
    book: Book, name: str, *, roles: Sequence[str] | None = None, disabled: bool | None = None
) -> Account:
    """Give an account other roles, or shut it; the last administrator stays one."""
    before = account(book, name)
    after = replace(
        before,
        roles=before.roles if roles is None else roles_in(roles),
        disabled=before.disabled if disabled is None else disabled,
    )
    known = accounts_of(book.settings)
    others = [each for each in known.listed() if each.name != name]
    if not any("admin" in each.roles and not each.disabled for each in (*others, after)):
        raise ConfigError(f"{name} is the last administrator; make somebody else one first")
    known.save(after)
    _end_sessions(book, name)
    data: dict[str, Json] = {
        "user": name,
        "roles": list[Json](after.roles),
        "disabled": after.disabled,
    }
    await book.tell(SYSTEM, "user.changed", data)
    return after


def invited(book: Book, token: str) -> Account:
    """The account of a one-time link; ConfigError where the link does not hold."""
    from twinsmith.adapters.identity.local import digest_of

    digest, now = digest_of(token), SystemClock().now()
    known = accounts_of(book.settings).listed()
    for each in known if token else ():
        if each.invitation == digest and not each.disabled and now < each.invited_until:
            return each
    raise ConfigError("this link was used or is too old; ask an administrator for a new one")


async def accept(book: Book, token: str, password: str, where: str) -> Login:
    """Choose a password by a one-time link and be signed in; ConfigError where it is over."""
    from twinsmith.adapters.identity.local import hashed

    known = invited(book, token)
    checked_password(password, known.name)
    joined = replace(known, password=hashed(password), invitation="", invited_until="")
    if not accounts_of(book.settings).save(joined, before=known):
        raise ConfigError("somebody used this link just now; ask an administrator for a new one")
    login = identity_of(book.settings).by_password(known.name, password, where)
    await book.tell(SYSTEM, "user.joined", {"user": known.name})
    return login


async def set_password(book: Book, name: str, password: str) -> None:
    """Give an account another password; all its sessions end."""
    from twinsmith.adapters.identity.local import hashed

    kept = hashed(checked_password(password, name))
    # Read behind the hashing, which takes a while: what changed meanwhile stays changed.
    known = replace(account(book, name), password=kept, invitation="")
    accounts_of(book.settings).save(replace(known, failures=0, locked_until=""))
    _end_sessions(book, name)
    await book.tell(SYSTEM, "user.password_changed", {"user": name})


async def change_password(book: Book, name: str, current: str, wanted: str, where: str) -> Login:
    """Another password for who knows the one before; all sessions end, and a new one begins.

    ConfigError where the one before is not right, which counts like a wrong one at sign-in.
    """
    checked_password(wanted, name)
    identity = await asyncio.to_thread(identity_of, book.settings)
    known = await asyncio.to_thread(identity.by_password, name, current, where)
    if known.person is None:
        wait = f"; try again in {known.wait:.0f} seconds" if known.wait else ""
        raise ConfigError(f"the password that you have now is not right{wait}")
    await set_password(book, name, wanted)
    return await asyncio.to_thread(identity.by_password, name, wanted, where)


def sessions(book: Book, name: str) -> tuple[Session, ...]:
    """The sessions of an account that hold, the one that was used last first."""
    now, rules = SystemClock().now(), rules_of(book.settings)
    known = sessions_of(book.settings).listed(name)
    held = [each for each in known if not is_over(each, now, rules)]
    return tuple(sorted(held, key=lambda each: each.seen, reverse=True))


async def end_session(book: Book, name: str, session: str) -> None:
    """End one session of an account; Unknown where it has none of that id."""
    known = sessions_of(book.settings)
    if session not in {each.id for each in known.listed(name)}:
        raise Unknown(f"session {session[:40]!r} of {name} is over already")
    known.end(session)
    await book.tell(SYSTEM, "user.signed_out", {"user": name, "sessions": 1})


async def sign_out_everywhere(book: Book, name: str) -> int:
    """End all sessions of an account; how many there were."""
    ended = _end_sessions(book, name)
    await book.tell(SYSTEM, "user.signed_out", {"user": name, "sessions": ended})
    return ended


async def issue(
    book: Book, owner: str, title: str, scopes: Sequence[str], days: float
) -> tuple[ApiKey, str]:
    """A new API key and its secret, which is shown this once."""
    from twinsmith.adapters.identity.local import PREFIX, digest_of, new_secret

    granted, wanted = may(account(book, owner)), scopes_in(scopes)
    more = [each for each in wanted if each not in granted]
    if more:
        raise ConfigError(f"{owner} may not {more[0]!r}, so no key of {owner} may")
    if not 0 < days <= MOST_DAYS:
        raise ConfigError(f"a key holds for more than 0 and at most {MOST_DAYS} days, not {days:g}")
    told = book.settings.masking.text(" ".join(title.split()))[:80]
    if not told:
        raise ConfigError("a key needs a title; say what uses it")
    now, own = SystemClock().now(), new_secret().replace("_", "-")
    key = ApiKey(
        id=secrets.token_hex(4),
        owner=owner,
        title=told,
        digest=digest_of(own),
        scopes=wanted,
        made=now,
        expires=later(now, days * DAY),
    )
    keys_of(book.settings).save(key)
    data: dict[str, Json] = {"key": key.id, "owner": owner, "scopes": list[Json](wanted)}
    await book.tell(SYSTEM, "key.issued", {**data, "title": told, "expires": key.expires})
    return key, f"{PREFIX}_{key.id}_{own}"


async def revoke(book: Book, name: str) -> ApiKey:
    """Revoke an API key at once; Unknown where there is none of that id."""
    keys = keys_of(book.settings)
    key = keys.get(name)
    if key is None:
        raise Unknown(f"key {name!r} is not known; twinsmith keys lists them")
    if key.revoked:
        raise Conflict(f"key {name} is revoked already: {key.revoked}")
    changed = replace(key, revoked=f"{SystemClock().now()[:19]} by {book.actor.name}")
    keys.save(changed)
    await book.tell(SYSTEM, "key.revoked", {"key": name, "owner": key.owner})
    return changed


def _end_sessions(book: Book, name: str) -> int:
    known = sessions_of(book.settings)
    mine = [each.id for each in known.listed(name)]
    known.end(*mine)
    return len(mine)
