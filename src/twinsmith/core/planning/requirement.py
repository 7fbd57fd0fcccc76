"""The requirements of a task, one thing at a time, each in the task's own words."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from twinsmith.core.errors import BadReply
from twinsmith.core.replies.reply_json import object_in, object_schema, words

MOST_REQUIREMENTS = 8
SAME = 0.6
"""The share of the shorter quote's words from which on two requirements count as the same."""
_WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_EMPTY_WORDS = (
    "a an the and or of in on at to for from with by as is are be it its this that these "
    "those which who one all each every can should must will has have do does so than then "
    "into"
)
_ABOUT_THE_PROGRAM = (
    "create write build make implement develop simple small tiny basic web http rest restful "
    "api server service microservice backend application app program tool command line cli "
    "library module package class function endpoint endpoints python perl rust go golang c "
    "cpp flask code please want need"
)
"""Words that only say what kind of program is wanted, and so make no requirement."""
_WHOLE_PROGRAMS = "api server service microservice backend application app library module package"
_CLAUSE = re.compile(r"(?<=[.;:!?])\s+|\n+|\s+—\s+")
_ITEM = re.compile(r"[,.;:!?\n]|\s(?:and|or|then)\s")
"""The places between the items of a list in a sentence."""
LEAST_OF_A_CLAUSE = 4
"""The number of uncovered words from which on a clause is a requirement of its own."""
SCHEMA = json.dumps(
    object_schema(
        {
            "requirements": {
                "type": "array",
                "minItems": 1,
                "maxItems": 9,
                "items": object_schema(
                    {
                        "what": {"type": "string", "maxLength": 160},
                        "quote": {"type": "string", "maxLength": 200},
                        "refuses": {"type": "boolean"},
                    }
                ),
            },
        }
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that somebody can do or see, and the words of the task that ask for it."""

    number: int
    what: str
    quote: str
    refuses: bool = False
    """Whether the requirement says what must not be possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """All requirements of a task; `login` repeats the words that ask users to prove themselves."""

    each: tuple[Requirement, ...] = ()
    login: str = ""

    def uncovered(self, task: str) -> tuple[str, ...]:
        """The words of the task that no requirement covers, in its order."""
        covered = set(words_of(self.login))
        for one in self.each:
            covered |= set(words_of(one.quote)) | set(words_of(one.what))
        covered |= _PROGRAM_WORDS
        return tuple(dict.fromkeys(word for word in words_of(task) if word not in covered))


NOTHING_REQUIRED = Requirements()


def words_of(text: str) -> list[str]:
    """The words of a text that mean something, in small letters and without endings."""
    found = (word.lower() for word in _WORD.findall(text))
    return [_stem(word) for word in found if word not in _EMPTY]


def read_requirements(text: str, task: str) -> Requirements:
    """The requirements in a reply; those whose words do not stand in the task are left out."""
    raw = object_in(text, "the answer")
    listed = raw.get("requirements")
    said: list[Requirement] = []
    for each in listed if isinstance(listed, list) else []:
        if not isinstance(each, dict):
            continue
        quote = quoted(words(each, "quote"), task)
        if says_more(quote) or is_item(quote, task):
            what = words(each, "what") or quote
            refuses = each.get("refuses") is True
            said.append(Requirement(number=0, what=what, quote=quote, refuses=refuses))
    if not said:
        raise BadReply("no requirement repeats words of the task; quote them exactly")
    return _different(said)


def without_headline(found: Requirements, task: str) -> Requirements:
    """The requirements without those that only repeat the words before the task's first colon."""
    head, colon, rest = task.partition(":")
    if not colon or len(rest.split()) < len(head.split()) or "\n" in head:
        return found
    first = set(words_of(head))
    kept = [each for each in found.each if not set(words_of(each.quote)) <= first]
    if not kept:
        return found
    return replace(found, each=tuple(replace(e, number=n) for n, e in enumerate(kept, 1)))


def with_clauses(found: Requirements, task: str) -> Requirements:
    """The requirements, and one more for each clause of the task that none of them covers."""
    each = list(found.each)
    for clause in filter(None, map(str.strip, _CLAUSE.split(task))):
        left = set(Requirements(each=tuple(each), login=found.login).uncovered(clause))
        if len(left) >= LEAST_OF_A_CLAUSE and len(each) < MOST_REQUIREMENTS:
            quote = clause.rstrip(".;:!?, ")
            each.append(Requirement(number=len(each) + 1, what=quote, quote=quote))
    return replace(found, each=tuple(each))


def with_more(found: Requirements, quotes: Iterable[str]) -> Requirements:
    """The requirements and some more, in words that are not the task's own."""
    each = list(found.each)
    for quote in quotes:
        each.append(Requirement(number=len(each) + 1, what=quote, quote=quote))
    return replace(found, each=tuple(each))


def merged(one: Requirements, other: Requirements) -> Requirements:
    """The requirements that either of two slow thinkers saw; what both saw is there once."""
    return _different((*one.each, *other.each))


def says_more(quote: str) -> bool:
    """Whether a quote says more than that a program is wanted, and is no mere fragment."""
    said = [word for word in words_of(quote) if not word[0].isdigit()]
    return len(said) > 1 and bool(set(said) - _PROGRAM_WORDS)


def is_item(quote: str, task: str) -> bool:
    """Whether a quote is one word that stands for itself in a list of things: `…, listed, …`."""
    said = words_of(quote)
    if len(said) != 1 or said[0] in _PROGRAM_WORDS or said[0][0].isdigit():
        return False
    return any(words_of(item) == said for item in _ITEM.split(task))


def introduces(quote: str) -> bool:
    """Whether a quote names the program as a whole instead of a part of it."""
    return bool(set(words_of(quote)) & _WHOLES)


def quoted(quote: str, task: str) -> str:
    """A quote in the task's own spelling; empty where its words do not stand in the task."""
    wanted, there = words_of(quote), words_of(task)
    if not wanted:
        return ""
    held = sum(word in there for word in wanted)
    if held < 0.6 * len(wanted):
        return ""
    plain, exact = " ".join(task.split()), " ".join(quote.split())
    place = plain.lower().find(exact.lower())
    return quote if place < 0 else plain[place : place + len(exact)]


def same(one: str, other: str) -> bool:
    """Whether two quotes ask for the same thing."""
    first, second = set(words_of(one)), set(words_of(other))
    if not first or not second:
        return False
    return len(first & second) >= SAME * min(len(first), len(second))


def _different(said: Iterable[Requirement]) -> Requirements:
    """Requirements without those that say the same as one before, numbered anew.

    Single words come last: one that stands in the words of any other requirement is part of that.
    """
    found: list[Requirement] = []
    for each in sorted(said, key=lambda one: len(words_of(one.quote)) == 1):
        if not any(same(each.quote, other.quote) for other in found):
            found.append(replace(each, number=len(found) + 1))
    return Requirements(each=tuple(found[:MOST_REQUIREMENTS]))


def _stem(word: str) -> str:
    for ending in ("ings", "ing", "ies", "ied", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("ei")
    return word.rstrip("e") if len(word) > 4 else word


_EMPTY = frozenset(_EMPTY_WORDS.split())
_WHOLES = frozenset(map(_stem, _WHOLE_PROGRAMS.split()))
_PROGRAM_WORDS = frozenset(map(_stem, _ABOUT_THE_PROGRAM.split()))
