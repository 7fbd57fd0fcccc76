"""A unified diff as people read it: what comes, what goes, the code of both with its syntax."""

import re
from collections.abc import Iterator
from functools import lru_cache

from markupsafe import Markup

from twinsmith.web.words import marked_lines

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", re.ASCII)
_TAGS = {"+": "ins", "-": "del", " ": "span"}


@lru_cache(maxsize=128)
def diffed(text: str) -> Markup:
    """A diff line by line; no markup that stands in it survives."""
    return Markup().join(_told(text.splitlines()))


def _told(lines: list[str]) -> Iterator[Markup]:
    """Every line of a diff in an element that says what it is."""
    name, at = "", 0
    while at < len(lines):
        line = lines[at]
        at += 1
        yield Markup("<b>{}</b>").format(line or " ")
        if line.startswith("+++ "):
            name = line.removeprefix("+++ ")
        elif found := _HUNK.match(line):
            size = _length(lines[at:], *(int(count or "1") for count in found.groups()))
            yield from _hunk(lines[at : at + size], name)
            at += size


def _length(lines: list[str], old: int, new: int) -> int:
    """How many lines a hunk has: its head tells, so that no line of it can pass for another's."""
    for number, line in enumerate(lines):
        if old <= 0 and new <= 0:
            return number
        old -= line[:1] != "+"
        new -= line[:1] != "-"
    return len(lines)


def _hunk(lines: list[str], name: str) -> Iterator[Markup]:
    """The lines of one hunk, each side marked as the code that it is."""
    sides = {
        sign: iter(marked_lines([line[1:] for line in lines if line[:1] in (sign, " ", "")], name))
        for sign in "-+"
    }
    for line in lines:
        sign = line[:1] or " "
        code = Markup()
        for side in "-+":
            if sign in (side, " "):
                code = next(sides[side])
        tag = _TAGS.get(sign, "span")
        yield Markup("<{}>{}{}</{}>").format(Markup(tag), sign, code, Markup(tag))  # noqa: S704
