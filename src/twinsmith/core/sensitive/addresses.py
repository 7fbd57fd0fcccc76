"""Secrets in addresses: a password behind a user, a token that stands for a user."""

import re
from collections.abc import Iterator

from twinsmith.core.sensitive.places import MASK, Place
from twinsmith.core.sensitive.plausible import is_placeholder, is_strong

# As long as tokens are, and with digits among letters: no name of a person or an account.
_SHORTEST = 3
_TOKEN = re.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[\w.~+\-]{16,}|[A-Za-z]{24,}")
_LOGIN = re.compile(
    # An address with a port but no user also has a colon: what follows it is a number. A password
    # may hold every sign of an address: it ends at the last @ that can end it.
    r"://(?P<who>(?P<user>[^\s:/@\"'`<>\\\[]{0,256}):(?!\d{1,5}(?:[/?#]|\Z))"
    r"(?P<password>[^\s?#\"'`<>\\]{0,999}|[^\s@\"'`<>\\]{1,999}))@(?=[^\s@\"'`<>])"
    r"|jdbc:oracle:\w+:(?P<oracle>\w+/[^\s/@\"'`]+)@"
    r"|(?i:%3a%2f%2f)(?P<quoted>[^\s&/@:]{0,256}?(?i:%3a)[^\s&/@:]{1,999}?)%40"
)
_USER = re.compile(r"://(?P<user>[^\s:/@\"'`<>?#\\]{16,})@(?=[A-Za-z0-9\[])")
_BETWEEN = re.compile(r"[/:@?&=#,\s]+")


def parts_of_address(address: str) -> tuple[str, ...]:
    """An address that is a secret as a whole, and those parts of it that are secrets alone."""
    parts = _BETWEEN.split(address)
    return (address, *(part for part in parts if is_strong(part) or _TOKEN.fullmatch(part)))


def logins_in(text: str, *, strong: bool = False) -> Iterator[Place]:
    """The places of passwords in addresses, and of tokens that stand for a user.

    With `strong`, only passwords count that could be nothing else: tests are full of addresses.
    """
    if "@" not in text and "%40" not in text:
        return
    is_secret = is_strong if strong else _is_password
    for match in _LOGIN.finditer(text):
        who = next(name for name in ("who", "oracle", "quoted") if match[name] is not None)
        password = match["password"] if who == "who" else match[who]
        if MASK in match[who]:
            continue
        if is_secret(password):
            yield match.span(who)
        elif who == "who" and _TOKEN.fullmatch(match["user"]):
            yield match.span("user")
    for match in _USER.finditer(text):
        if _TOKEN.fullmatch(match["user"]):
            yield match.span("user")


def _is_password(value: str) -> bool:
    return len(value) >= _SHORTEST and not is_placeholder(value)
