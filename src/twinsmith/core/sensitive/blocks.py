"""Private keys as blocks of text: PEM, OpenSSH, PGP, PuTTY, JSON web keys, wallets' phrases."""

import base64
import re
from collections.abc import Iterator

from twinsmith.core.sensitive.places import Place

_ARMOUR = re.compile(
    r"-{4,5} ?BEGIN (?P<label>[A-Z0-9 ]{0,40}?(?:PRIVATE KEY(?: BLOCK)?|PGP MESSAGE)) ?-{4,5}"
    r"(?P<body>(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|x-[\w-]+):"
    r" ?[^\r\n\\\"']*|[A-Za-z0-9+/=]|[\s\\\"'+,|>#*])*+)"
    r"(?P<end>-{4,5} ?END [A-Z0-9 ]+ ?-{4,5})?"
)
# A program that only looks for the first line of a key has no key behind it.
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}|\bMI[A-Z]{1,2}\b|%[23][BFDbfd]")
# A block that was encoded once more, as it stands in settings of clusters.
_ENCODED_BEGIN = "LS0tLS1CRUdJTi"
_ENCODED = re.compile(rf"{_ENCODED_BEGIN}[A-Za-z0-9+/]{{60,}}=*")
_PUTTY = re.compile(r"Private-Lines: \d+(?:\s|\\+[nr])+((?:[A-Za-z0-9+/=]{4,}(?:\s|\\+[nr])*)+)")
_JSON_KEY = re.compile(r"\\*\"(?:d|p|q|dp|dq|qi|k)\\*\"\s*:\s*\\*\"([\w\-]{16,})")
_PHRASES = ("mnemonic", "seed phrase", "seed words", "recovery phrase", "wallet")
_PHRASE = re.compile(
    r"(?i:mnemonic|seed (?:phrase|words)|recovery phrase|wallet)\b[^\n]{0,24}?[:=\"'\s]"
    r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b"
)


def blocks_in(text: str) -> Iterator[Place]:
    """The places of private keys; one that was cut off reaches as far as its lines do."""
    if _ENCODED_BEGIN in text:
        yield from (match.span() for match in _ENCODED.finditer(text) if _is_key(match[0]))
    if "BEGIN " in text:
        for match in _ARMOUR.finditer(text):
            yield from _armoured(match)
    if "Private-Lines" in text:
        yield from (match.span(1) for match in _PUTTY.finditer(text))
    if '"kty' in text or 'kty\\"' in text:
        yield from (match.span(1) for match in _JSON_KEY.finditer(text))
    small = text.lower()
    if any(word in small for word in _PHRASES):
        yield from (match.span(1) for match in _PHRASE.finditer(text))


def _is_key(encoded: str) -> bool:
    """Whether a block in base64 is a private key, as its first line tells."""
    return b"PRIVATE KEY" in base64.b64decode(encoded[:80] + "=" * (-len(encoded[:80]) % 4))


def _armoured(match: re.Match[str]) -> Iterator[Place]:
    lines = list(_KEY_TEXT.finditer(match["body"]))
    # However short: what stands between both lines, and is no program's way to put them together.
    between = match["end"] and re.search(r"(?:\n|\\n)\s*\w{4}", match["body"])
    if between and not set("\"'") & set(match["body"]):
        yield match.span()
    elif lines:
        cut = match.start("body") + lines[-1].end()
        yield match.start(), match.end() if match["end"] else cut
