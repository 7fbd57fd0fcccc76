"""The journal as people look things up in it: filtered, in pages, whole, verified."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import SYSTEM, Entry
from twinsmith.runs.book import Book

if TYPE_CHECKING:
    from twinsmith.adapters.journal.checking import Checked as Found

Checked = tuple[str, int, str, str]
"""A chain, its length, where it is broken, and a remark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which entries somebody wants to see; what is empty does not matter."""

    run: str = ""
    kind: str = ""
    """The beginning of their kind: `approval.` is all about approvals."""
    who: str = ""
    since: str = ""
    until: str = ""

    def fits(self, entry: Entry) -> bool:
        """Whether an entry is one of them."""
        event = entry.event
        return (
            event.kind.startswith(self.kind)
            and self.who in ("", event.who, event.who.removeprefix("user:"))
            and (not self.since or entry.at >= self.since)
            and (not self.until or entry.at < self.until)
        )


def chain_of(book: Book, name: str) -> str:
    """The chain that a person means: the system's own where none is named."""
    return SYSTEM if name in ("", SYSTEM) else book.find(name)


def latest(book: Book, wanted: Wanted, *, before: int, most: int) -> tuple[list[Entry], int]:
    """The latest entries of a chain below a number, newest first; where older ones are, or 0."""
    entries = book.journal.entries(chain_of(book, wanted.run))
    older = [each for each in reversed(entries) if not before or each.seq < before]
    fitting = [each for each in older if wanted.fits(each)]
    shown = fitting[:most]
    return shown, shown[-1].seq if len(fitting) > most else 0


def every(book: Book, wanted: Wanted) -> Iterator[Entry]:
    """All entries that are wanted, chain by chain: of one where one is named, else of all."""
    chains = [chain_of(book, wanted.run)] if wanted.run else [SYSTEM, *book.journal.runs()]
    for chain in chains:
        yield from filter(wanted.fits, book.journal.entries(chain))


def verified(book: Book, run: str = "") -> list[Checked]:
    """Chains followed from their beginnings: what is broken about each, and what is to be known."""
    return [
        (
            each.run,
            each.lines,
            f"line {each.broken.line} {each.broken.reason}" if each.broken else "",
            each.note,
        )
        for each in followed(book, run)
    ]


def followed(book: Book, run: str = "") -> "list[Found]":
    """What was found in chains that were followed: in one where one is named, else in all."""
    return [book.journal.check(chain_of(book, run))] if run else book.journal.check_all()


def moment(text: str, name: str) -> str:
    """A time that somebody gave, as entries carry it; ConfigError where it is none."""
    from datetime import UTC, datetime

    if not text:
        return ""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"{name} {text[:40]!r} is no time; write it as 2026-11-18 or 2026-11-18T10:15:00Z"
        ) from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
