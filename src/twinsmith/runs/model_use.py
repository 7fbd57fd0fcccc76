"""How models were used: calls, tokens, money and time by model, role and ensemble."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from twinsmith.core.events import Entry, Json
from twinsmith.runs.book import Book

Seat = tuple[str, str, int]
"""A model, the role it played, and in which ensemble."""
MOST_RUNS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The calls of one model in one role."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    first_token_seconds: float = 0.0
    usd: float = 0.0
    unpriced: int = 0
    cached: int = 0

    def __add__(self, other: "Use") -> "Use":
        names = Use.__slots__
        return replace(self, **{n: getattr(self, n) + getattr(other, n) for n in names})


class ModelUse:
    """What the journal told of calls so far; all of it can be read anew."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._known: OrderedDict[str, tuple[int, dict[Seat, Use]]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, run: str) -> Mapping[Seat, Use]:
        """The calls of one run."""
        with self._lock:
            offset, uses = self._known.pop(run, (0, {}))
            entries, offset = self._book.journal.entries_since(run, offset)
            uses = added(uses, entries)
            self._known[run] = (offset, uses)
            if len(self._known) > MOST_RUNS:
                self._known.popitem(last=False)
            return uses

    def all(self) -> dict[Seat, Use]:
        """The calls of all runs."""
        found: dict[Seat, Use] = defaultdict(Use)
        for run in self._book.journal.runs()[-MOST_RUNS:]:
            for seat, use in self.of(run).items():
                found[seat] += use
        return dict(sorted(found.items()))


def added(uses: Mapping[Seat, Use], entries: Iterable[Entry]) -> dict[Seat, Use]:
    """The calls after more entries."""
    found = defaultdict(Use, uses)
    for entry in entries:
        data = entry.event.data
        if entry.event.kind == "model.replied":
            found[_seat(data)] += _use(data)
        elif entry.event.kind == "model.failed":
            found[_seat(data)] += Use(calls=1, failed=1)
    return dict(found)


def _seat(data: Mapping[str, Json]) -> Seat:
    ensemble = data.get("ensemble")
    model = str(data.get("model", "") or "nobody")
    return model, str(data.get("role", "")), ensemble if isinstance(ensemble, int) else 0


def _use(data: Mapping[str, Json]) -> Use:
    def number(name: str) -> float:
        value = data.get(name)
        return float(value) if isinstance(value, int | float) else 0.0

    return Use(
        calls=1,
        tokens_in=int(number("tokens_in")),
        tokens_out=int(number("tokens_out")),
        seconds=number("seconds"),
        first_token_seconds=number("first_token_seconds"),
        usd=number("usd"),
        unpriced=int(data.get("usd") is None and not data.get("cached")),
        cached=int(bool(data.get("cached"))),
    )
