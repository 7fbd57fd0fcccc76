"""Accounts of people, their API keys and sessions; when a login has to wait, when one is over."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from twinsmith.core.errors import ConfigError
from twinsmith.core.people.role import Permission, Role, permitted

_NAME = re.compile(r"[a-z][a-z0-9._-]{0,39}", re.ASCII)
SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 256
FREE_FAILURES = 5
"""Wrong passwords in a row that cost no waiting."""
FIRST_LOCK, LONGEST_LOCK = 30.0, 3600.0
ROTATE_SECONDS = 900.0
"""A session gets a new token so often."""
GRACE_SECONDS = 60.0
"""The token before it holds so much longer: requests were under way with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A person who may sign in; times are ISO 8601 in UTC."""

    name: str
    roles: tuple[Role, ...]
    password: str = ""
    """The argon2id hash; empty as long as nobody has chosen one."""
    invitation: str = ""
    """The SHA-256 of the one-time link's token; empty where none is open."""
    invited_until: str = ""
    failures: int = 0
    """Wrong passwords since the last right one."""
    locked_until: str = ""
    disabled: bool = False
    made: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key that a program signs in with; its secret is shown once and kept as a hash."""

    id: str
    owner: str
    title: str
    digest: str
    scopes: tuple[Permission, ...]
    made: str
    expires: str
    used: str = ""
    """When it was used last, to the minute."""
    revoked: str = ""
    """When it was revoked, and by whom; empty while it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A person who is signed in with a browser."""

    id: str
    account: str
    digest: str
    """The SHA-256 of the cookie's token."""
    csrf: str
    """What every form of this session carries."""
    made: str
    seen: str
    """When it was used last, to the minute."""
    rotated: str
    before: str = ""
    """The SHA-256 of the token before this one."""
    where: str = ""
    notice: str = ""
    """What the next page tells: how the last command went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who was recognised, and what they may do by the way they came."""

    name: str
    permissions: frozenset[Permission]
    session: Session | None = None
    key: ApiKey | None = None

    @property
    def way(self) -> str:
        """How they came, for the journal."""
        return f"key {self.key.id}" if self.key else "console"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """What became of an attempt to sign in."""

    person: Person | None = None
    """Who it is; None where it was refused."""
    token: str = ""
    """The session's token, for the cookie."""
    wait: float = 0.0
    """For how many seconds nobody may try again; 0: at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A person with a session, and the new token that it has from now on; empty: the old one."""

    person: Person
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRules:
    """How long a session holds without being used, and at most."""

    idle_seconds: float
    most_seconds: float


def account_name(text: str) -> str:
    """The name of an account; ConfigError where it cannot be one."""
    if not _NAME.fullmatch(text):
        raise ConfigError(
            f"{text[:60]!r} is no name of a user; a small letter, then at most 39 small letters, "
            "digits, '.', '_' or '-'"
        )
    return text


def checked_password(text: str, name: str) -> str:
    """A password that may be chosen; ConfigError says why it may not, without it."""
    if not SHORTEST_PASSWORD <= len(text) <= LONGEST_PASSWORD:
        raise ConfigError(
            f"the password has {len(text)} characters; choose {SHORTEST_PASSWORD} to "
            f"{LONGEST_PASSWORD}"
        )
    if len(set(text)) < SHORTEST_PASSWORD // 2 or name in text.casefold():
        raise ConfigError("the password is too easy to guess; choose other characters")
    return text


def lock_seconds(failures: int) -> float:
    """For how long nobody may try an account after so many wrong passwords in a row."""
    over = failures - FREE_FAILURES
    return 0.0 if over < 0 else min(FIRST_LOCK * 2.0 ** min(over, 20), LONGEST_LOCK)


def later(moment: str, seconds: float) -> str:
    """The moment so many seconds after another."""
    moved = datetime.fromisoformat(moment) + timedelta(seconds=seconds)
    return moved.isoformat(timespec="microseconds")


def is_over(session: Session, now: str, rules: SessionRules) -> bool:
    """Whether a session holds no more: unused for too long, or too old."""
    idle = later(session.seen, rules.idle_seconds)
    return now >= idle or now >= later(session.made, rules.most_seconds)


def holds(key: ApiKey, now: str) -> bool:
    """Whether a key may be used."""
    return not key.revoked and now < key.expires


def may(account: Account, scopes: tuple[Permission, ...] | None = None) -> frozenset[Permission]:
    """What an account may do; with a key, no more than the key's scopes."""
    granted = permitted(account.roles)
    return granted if scopes is None else granted & frozenset(scopes)
