"""Licences of packages: SPDX expressions, and whether a policy allows them."""

import re
from collections.abc import Collection

_WORDS = re.compile(r"[()]|\b(?:AND|OR|WITH)\b|(?:(?!\b(?:AND|OR|WITH)\b)[^()\s])+")
_STRONG = re.compile(r"A?GPL(?:\b|v\d)|.*\b(?:Affero|GNU General Public)\b", re.IGNORECASE)
_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
_LONGEST_NAME = 60
USUAL = frozenset(
    {"0BSD", "Apache-2.0", "BSD License", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT"}
    | {"MIT-0", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib"}
)
"""Licences that ask for little more than to be named; `BSD License` says not which of them."""


def licence_told(expression: str, name: str, classifiers: Collection[str]) -> str:
    """The licence of a package by its metadata, as SPDX where it can be; empty where none is told.

    `BSD License` and the like stay words: which of its versions is meant nobody told.
    """
    plain = name.strip()
    if expression.strip():
        return expression.strip()
    if plain and "\n" not in plain and len(plain) <= _LONGEST_NAME and plain != "UNKNOWN":
        return plain
    told = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: ")]
    return " AND ".join(_CLASSIFIERS.get(each, each) for each in sorted(told))


def is_allowed(licence: str, allowed: Collection[str]) -> bool:
    """Whether a licence, which may be an expression with AND and OR, is allowed."""
    known = frozenset(each.casefold() for each in allowed)
    value, rest = _either(_WORDS.findall(licence), known)
    return value and not rest


def is_strong_copyleft(licence: str) -> bool:
    """Whether a licence is, or names among others, one that reaches for the whole program."""
    return any(_STRONG.match(word) for word in (licence, *_WORDS.findall(licence)))


def _either(words: list[str], known: frozenset[str]) -> tuple[bool, list[str]]:
    value, rest = _both(words, known)
    while rest[:1] == ["OR"]:
        other, rest = _both(rest[1:], known)
        value = value or other
    return value, rest


def _both(words: list[str], known: frozenset[str]) -> tuple[bool, list[str]]:
    value, rest = _one(words, known)
    while rest[:1] == ["AND"]:
        other, rest = _one(rest[1:], known)
        value = value and other
    return value, rest


def _one(words: list[str], known: frozenset[str]) -> tuple[bool, list[str]]:
    if words[:1] == ["("]:
        value, rest = _either(words[1:], known)
        return (value, rest[1:]) if rest[:1] == [")"] else (False, words)
    if not words or words[0] in ("AND", "OR", "WITH", ")"):
        return False, words
    named = 1
    # A name of words, as classifiers have it: `BSD License`.
    while named < len(words) and words[named] not in ("AND", "OR", "WITH", "(", ")"):
        named += 1
    name, rest = " ".join(words[:named]).casefold(), words[named:]
    # An exception only gives more than the licence does.
    rest = rest[2:] if rest[:1] == ["WITH"] else rest
    return name.removesuffix("+") in known, rest
