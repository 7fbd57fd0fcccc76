"""The lines of an instance's log in, errors and messages that are new out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from twinsmith.core.masking import NOTHING_KNOWN
from twinsmith.core.operating.reading import Said

MOST_FRESH = 10
MOST_HEARD = 1000
"""Messages that are remembered; who writes more different ones is told of again."""
LONGEST_LINE = 2000
LONGEST_MESSAGE = 200
TRACEBACK = "Traceback (most recent call last):"
_BETWEEN = (
    "During handling of the above exception",
    "The above exception was the direct cause",
)
_WORD = re.compile(
    r"(?<![A-Za-z])(?i:errors?|exceptions?|panic(?:ked)?|fatal)(?![A-Za-z])"
    r"|[A-Za-z](?:Error|Exception)(?![a-z])"
)
# A line that gives its own level is taken at its word; and "0 errors" tells of none.
_LEVEL = re.compile(r"(?<![A-Za-z])(?:TRACE|DEBUG|INFO|NOTICE)(?![A-Za-z])|level=(?:debug|info)")
_LEVEL_WITHIN = 80
_NONE = re.compile(
    r"\b(?:no|0|zero|without)\s+(?:an?\s+)?(?:errors?|exceptions?)\b"
    r"|\b(?:errors?|exceptions?)[\"']?\s*[:=]\s*(?:0|none|null|false)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_MOMENT = re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?: ?[+-]\d\d:?\d\d|Z)?\]?")
# None of these looks at a character more than a few times: a program writes what it likes.
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\b[0-9a-fA-F-]{8,}|\d[\d.,:]*")


def is_error(line: str) -> bool:
    """Whether a line by itself tells of an error; a traceback tells it in its last line."""
    if _WORD.search(line) is None or _LEVEL.search(line[:_LEVEL_WITHIN]):
        return False
    return _WORD.search(_NONE.sub("", line)) is not None


def message_of(line: str) -> str:
    """What a line says whenever it says it: no moments, numbers, addresses or quoted values."""
    text = _MOMENT.sub("", line[:LONGEST_LINE])
    text = _NUMBER.sub(_unnumbered, _QUOTED.sub("'…'", text))
    if not text.isprintable():
        text = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(text.split())[:LONGEST_MESSAGE]


def _unnumbered(found: re.Match[str]) -> str:
    """What stands for a number; a word of letters that digits can have, too, is none."""
    return "#" if any(each.isdigit() for each in found[0]) else found[0]


@dataclass(slots=True)
class Listener:
    """What was heard of one instance so far: its messages, and whether a traceback is open."""

    heard: dict[str, None] = field(default_factory=dict)
    """Messages, those that were written longest ago first."""
    _inside: bool = False

    def hear(self, lines: Iterable[str]) -> Said:
        """What new lines tell, in the order in which they were written."""
        errors = 0
        fresh: list[str] = []
        for line in lines:
            if not self._tells(line[:LONGEST_LINE]):
                continue
            errors += 1
            message = message_of(line)
            if self._is_new(message) and len(fresh) < MOST_FRESH:
                # It will be kept and shown; a secret may stand beside what was taken out.
                fresh.append(NOTHING_KNOWN.text(message))
        return Said(errors=errors, fresh=tuple(fresh))

    def _tells(self, line: str) -> bool:
        """Whether a line tells of an error; the lines of a traceback above its last do not."""
        # Requests are told in lines of JSON, which the meter reads elsewhere.
        if line.startswith("{"):
            return False
        if line.rstrip().endswith(TRACEBACK):
            self._inside = True
            return False
        if self._inside:
            if not line.strip() or line[0] in " \t|+":
                return False
            self._inside = False
            return True
        return not line.startswith(_BETWEEN) and is_error(line)

    def _is_new(self, message: str) -> bool:
        known = message in self.heard
        self.heard.pop(message, None)
        self.heard[message] = None
        if len(self.heard) > MOST_HEARD:
            del self.heard[next(iter(self.heard))]
        return not known
