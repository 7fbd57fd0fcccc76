"""How models behave, told from the journal of one home; the one place that knows it.

What was read is kept as long as the process lives, and only what is new is read after that. Nothing
is missed by a process that begins anew: it reads the journal from its beginning.
"""

import threading
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from twinsmith.core.behaviour.figures import (
    COMPARED,
    Dimension,
    Read,
    Row,
    View,
    Wanted,
)
from twinsmith.core.behaviour.report import Comparison, Pair, Report
from twinsmith.core.errors import ConfigError
from twinsmith.runs.book import Book

if TYPE_CHECKING:
    from twinsmith.analysis.facts import Facts
    from twinsmith.analysis.figures import Only
    from twinsmith.core.behaviour.drift import Drift
    from twinsmith.core.behaviour.trust import Trust
    from twinsmith.core.blocks import Blocks

MOST_SUBJECTS = 200
USE: tuple[Dimension, ...] = ("model", "role", "ensemble")


class Analysis:
    """What the journal of a book tells of models; for any number of threads."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._lock = threading.Lock()
        self._drifts: dict[tuple[View, str], tuple[int, tuple[tuple[Drift, ...], int]]] = {}

    @cached_property
    def _facts(self) -> "Facts":
        from twinsmith.wiring.analysis import facts_of

        return facts_of()

    @cached_property
    def _blocks(self) -> "Blocks":
        from twinsmith.wiring.analysis import blocks_of

        return blocks_of(self._book.settings)

    def rows(
        self, by: tuple[Dimension, ...], since: str = "", run: str = "", model: str = ""
    ) -> tuple[Row, ...]:
        """The figures of groups of calls; of one run, or of one model, where that is named."""
        from twinsmith.analysis.figures import Only, rows

        named: dict[Dimension, str] = {"run": run, "model": model}
        only = Only(since=since, where={name: value for name, value in named.items() if value})
        with self._lock:
            return rows(self._fresh(), by, only)

    def report(self, wanted: Wanted) -> Report:
        """Everything that a view tells."""
        from twinsmith.analysis.figures import Only, rows, total, trusts

        only = Only(since=wanted.since)
        with self._lock:
            facts = self._fresh()
            drifts, examined = self._drifted(facts, wanted.view, wanted.since)
            return Report(
                view=wanted.view,
                by=wanted.dimensions,
                since=wanted.since,
                rows=rows(facts, wanted.dimensions, only),
                total=total(facts, only),
                trust=trusts(facts, only),
                drifts=drifts,
                examined=examined,
                read=facts.read,
            )

    def drifts(self, view: View, since: str = "") -> "tuple[tuple[Drift, ...], int]":
        """What changed in a view, the latest first; and how many courses were looked at."""
        with self._lock:
            return self._drifted(self._fresh(), view, since)

    def trust(self, since: str = "") -> "tuple[Trust, ...]":
        """How well confidence held."""
        from twinsmith.analysis.figures import Only, trusts

        with self._lock:
            return trusts(self._fresh(), Only(since=since))

    def read(self) -> Read:
        """What was read of the journal."""
        with self._lock:
            return self._fresh().read

    def subjects(self, view: View) -> tuple[str, ...]:
        """What can be held against each other in a view, for example models and their versions."""
        first, second, *more = COMPARED[view]
        found: dict[str, None] = {}
        with self._lock:
            from twinsmith.analysis.figures import values

            facts = self._fresh()
            for one, others in values(facts, first, second):
                found[one] = None
                if view != "runs" and len(others) > 1:
                    found |= {f"{one} {each}": None for each in others if each}
            if view == "runs":
                for name in (second, *more):
                    found |= {one: None for one, _ in values(facts, name, name)}
        return tuple(found)[:MOST_SUBJECTS]

    def compare(self, view: View, a: str, b: str, since: str = "") -> Comparison:
        """Two things side by side, role by role; ConfigError where one of them is not known."""
        from twinsmith.analysis.figures import rows

        with self._lock:
            facts = self._fresh()
            both = [self._only(facts, view, name, since) for name in (a, b)]
            one, other = (
                {row.key[0]: row for row in rows(facts, ("role",), only)} for only in both
            )
            return Comparison(
                view=view,
                since=since,
                a=a,
                b=b,
                pairs=tuple(
                    Pair(role=role, a=one.get(role), b=other.get(role))
                    for role in sorted({*one, *other} - {""})
                ),
                read=facts.read,
            )

    def _only(self, facts: "Facts", view: View, name: str, since: str) -> "Only":
        """The calls that a person means by a name; ConfigError where there are none."""
        from twinsmith.analysis.figures import Only, is_there

        first, second, *more = COMPARED[view]
        ways: list[dict[Dimension, str]] = [{each: name} for each in (first, second, *more)]
        whole, _, part = name.rpartition(" ")
        if whole and view != "runs":
            ways = [ways[0], {first: whole, second: part}]
        elif view != "runs":
            ways = ways[:1]
        for where in ways:
            only = Only(since=since, where=where)
            if is_there(facts, only):
                return only
        told = ", ".join(_subjects_shown(facts, first)) or "there is none yet"
        when = f" from {since} on" if since else ""
        raise ConfigError(f"{name!r} told nothing{when} that can be compared; known: {told}")

    def _drifted(self, facts: "Facts", view: View, since: str) -> "tuple[tuple[Drift, ...], int]":
        """The drifts of a view, looked for again only when lines were added."""
        known = self._drifts.get((view, since))
        if known is not None and known[0] == facts.version:
            return known[1]
        from twinsmith.analysis.changes import drifts_of

        found = drifts_of(facts, view, since)
        self._drifts[view, since] = (facts.version, found)
        return found

    def _fresh(self) -> "Facts":
        facts = self._facts
        facts.take(self._blocks(facts.offsets))
        return facts


def since_in(text: str) -> str:
    """A day such as 2026-11-01, or empty; ConfigError where it is none."""
    if not text:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ConfigError(f"{text!r} is no day; for example 2026-11-01") from None


def _subjects_shown(facts: "Facts", first: Dimension) -> list[str]:
    from twinsmith.analysis.figures import values

    return [one for one, _ in values(facts, first, first)][:10]
