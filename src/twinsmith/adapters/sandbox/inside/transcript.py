"""The answers of a program during one check, in order, so that programs can be compared."""

from __future__ import annotations

import _thread

MOST_ENTRIES = 60
LONGEST_WORD = 2_000
LONGEST = 20_000
LEFT_OUT = "['…']"


class Transcript:
    """A transcript: a list of entries as its `repr`, of a bounded length that no program decides.

    Each entry is a list of literals: what was asked, then what was answered. `last` says the last
    answer in words, for whoever reads why a check failed.
    """

    def __init__(self) -> None:
        self.last = ""
        self._entries: list[str] = []
        self._left = LONGEST - len(f"[{LEFT_OUT}]")
        self._is_full = False
        # A check may ask from several threads.
        self._lock = _thread.allocate_lock()

    def add(self, *words: object) -> None:
        """Add one answer; after one that does not fit, none is added."""
        entry = repr([_cut(word) for word in words])
        with self._lock:
            self._left -= len(entry) + len(", ")
            self._is_full |= self._left < 0 or len(self._entries) == MOST_ENTRIES
            if not self._is_full:
                self._entries.append(entry)

    def __str__(self) -> str:
        return f"[{', '.join(self._entries + [LEFT_OUT] * self._is_full)}]"


def _cut(word: object) -> object:
    if isinstance(word, list):
        return [_cut(each) for each in word]
    return word[:LONGEST_WORD] if isinstance(word, str) else word


def placeless(text: str) -> str:
    """A text without the addresses of objects in it, which differ in every run."""
    first, *rest = text.split(" at 0x")
    return first + "".join(part.lstrip("0123456789abcdef") for part in rest)
