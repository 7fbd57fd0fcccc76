"""Telemetry in the memory of one process: the fake."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from twinsmith.core.measures import Measure, Part, parts_of
from twinsmith.core.telemetry import Span


class MemoryTelemetry:
    """Keeps what it is told, and reads it back."""

    def __init__(self) -> None:
        self.told: dict[str, Span] = {}
        self._numbers: Counter[Part] = Counter()

    def tell(self, span: Span) -> None:
        """Keep a span; the first end of it holds."""
        known = self.told.get(span.place.span)
        if known is None:
            self.told[span.place.span] = span
        elif not known.ended and span.ended:
            self.told[span.place.span] = replace(span, began=min(known.began, span.began))

    def observe(self, measure: Measure, value: float = 1.0, **labels: str) -> None:
        """Add a value to a figure."""
        for part, more in parts_of(measure, value, labels).items():
            self._numbers[part] += more  # type: ignore[assignment]  # a Counter of floats adds up

    def flush(self) -> None:
        """Nothing: all is kept at once."""

    def spans(self, trace: str) -> Sequence[Span]:
        """The spans of a trace, in the order in which they began."""
        mine = [each for each in self.told.values() if each.place.trace == trace]
        return sorted(mine, key=lambda each: each.began)

    def trace_of(self, run: str) -> str:
        """The trace that a run is in; empty where none is kept."""
        mine = (each for each in self.told.values() if (each.what, each.run) == ("run", run))
        return next((each.place.trace for each in mine), "")

    def totals(self) -> Mapping[Part, float]:
        """All numbers of counted figures."""
        return dict(self._numbers)

    def minutes(self, since: float) -> Mapping[int, Mapping[Part, float]]:
        """All that was counted, as of one minute: memory knows no times."""
        return {int(since): dict(self._numbers)} if self._numbers else {}
