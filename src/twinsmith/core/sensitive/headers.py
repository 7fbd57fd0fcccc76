"""Secrets in headers of HTTP: authorization, keys, cookies."""

import base64
import binascii
import re
from collections.abc import Iterator

from twinsmith.core.sensitive.places import Place, lowered
from twinsmith.core.sensitive.plausible import is_placeholder, is_strong

_KEYS = ("authorization", "-key", "-token", "-secret", "-auth", "-signature")
_HEADER = re.compile(
    r"(?i)(?:(?:proxy-)?authorization|x-[\w-]*(?:token|key|auth|secret|signature)|(?:api|auth"
    r"|access|private|ocp-apim-subscription)-(?:key|token))\\*[\"']?"
    r"(?:[ \t]*:[ \t]*\\*[\"']?|\]?[ \t]*=[ \t]*\\*[\"'])(?P<scheme>[A-Za-z][\w-]*[ \t]+)?"
    r"(?P<value>[^\s\"'`<>\\,]{6,})(?P<more>[^\r\n\"'`\\]*)"
)
# Digest username=…, AWS4-HMAC-SHA256 Credential=…: everything behind the scheme belongs together.
_PARAMETER = re.compile(r"[A-Za-z]\w*=[^=]")
_BEARER = re.compile(r"(?i:\bbearer)[ \t]+(?P<value>[A-Za-z0-9._~+/\-]{16,}=*)")
_BASIC = re.compile(
    r"(?:(?i:\bbasic)[ \t]+|\\*\"_?auth\\*\"\s*:\s*\\*\"|\b_auth\s*=\s*)"
    r"(?P<value>[A-Za-z0-9+/_\-]{6,}={0,2})"
)
_COOKIES = re.compile(
    r"(?i)(?<![\w-])(?:set-)?cookie\\*[\"']?\s*:\s*\\*[\"']?(?P<all>[^\r\n\"'\\]+)"
)
_COOKIE = re.compile(r"(?P<name>[\w.\-]+)=(?P<value>[^;\s]{8,})")
_COOKIE_PARTS = ("domain", "path", "expires", "max-age", "samesite")
_CODE = re.compile(r"[(\[]")
_UNBROKEN = re.compile(r"[A-Za-z0-9]{16}")


def headers_in(text: str) -> Iterator[Place]:
    """The places of secrets in headers of HTTP."""
    small = lowered(text)
    if any(word in small for word in _KEYS):
        yield from _keys(text)
    if "bearer" in small:
        for match in _BEARER.finditer(text):
            if is_strong(match["value"]) or _UNBROKEN.search(match["value"]):
                yield match.span("value")
    if "basic " in small or '"auth' in small or "_auth" in small:
        yield from _logins(text)
    if "cookie" in small:
        yield from _cookies(text)


def _keys(text: str) -> Iterator[Place]:
    for match in _HEADER.finditer(text):
        if match["scheme"] and _PARAMETER.match(match["value"]):
            yield match.start("value"), match.end("more")
        elif is_strong(match["value"].rstrip("}])")) and not _CODE.search(match["value"]):
            yield match.span("value")


def _logins(text: str) -> Iterator[Place]:
    for match in _BASIC.finditer(text):
        user, colon, password = _decoded(match["value"]).partition(":")
        if colon and not is_placeholder(password or user):
            yield match.span("value")


def _cookies(text: str) -> Iterator[Place]:
    for header in _COOKIES.finditer(text):
        for match in _COOKIE.finditer(text, *header.span("all")):
            if match["name"].lower() not in _COOKIE_PARTS and is_strong(match["value"]):
                yield match.span("value")


def _decoded(value: str) -> str:
    """The text that was encoded as base64; empty where it is no text."""
    padded = value.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        text = base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return text if text.isprintable() else ""
