"""Anchors: the length and the last hash of a journal's chain at one moment, kept outside of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from twinsmith.core.events import Broken

MARK = "twinsmith-anchor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The length of a journal's chain in lines, and the hash of its last line."""

    lines: int
    head: str


def written(anchor: Anchor, at: str) -> str:
    """An anchor as one line that a person can store elsewhere; `at` is the time."""
    return f"{MARK} {at} {anchor.lines} {anchor.head}"


def anchors_in(text: str) -> tuple[Anchor, ...]:
    """The anchors of a text, one a line; ValueError where there is none or one cannot be read."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if not rows:
        raise ValueError("it is empty")
    return tuple(map(_anchor, rows))


def missed(anchor: Anchor, lines: Sequence[str], who: str) -> Broken | None:
    """The first line at which a chain differs from what `who` knows of it; None where none does."""
    if anchor.lines < 1:
        return None
    if len(lines) < anchor.lines:
        what = "is missing" if lines else "is missing: the whole file was emptied or removed"
        return Broken(line=len(lines) + 1, reason=f"{what}; {who} knows of {anchor.lines} lines")
    if not lines[anchor.lines - 1].endswith(f'"hash":"{anchor.head}"}}'):
        return Broken(line=anchor.lines, reason=f"was replaced: {who} knows another hash")
    return None


def _anchor(words: list[str]) -> Anchor:
    if len(words) != 4 or words[0] != MARK or not words[2].isdigit() or len(words[3]) != 64:
        raise ValueError(f"{' '.join(words)[:80]!r} is no anchor")
    return Anchor(lines=int(words[2]), head=words[3])
