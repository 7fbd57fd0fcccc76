"""What telling of traces and figures needs from outside, and what reads them back."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from twinsmith.core.measures import Measure, Part
from twinsmith.core.telemetry import Span


class Telemetry(Protocol):
    """Is told what took how long, and how often what happened; never breaks who tells it."""

    def tell(self, span: Span) -> None:
        """Keep a span that began, or that ended; the first end that is told of one holds."""
        ...

    def observe(self, measure: Measure, value: float = 1.0, **labels: str) -> None:
        """Add a value to a figure."""
        ...

    def flush(self) -> None:
        """Return once everything that was told is where it belongs, or cannot be kept."""
        ...


class Told(Protocol):
    """Reads back what all processes of a database told."""

    def spans(self, trace: str) -> Sequence[Span]:
        """The spans of a trace, in the order in which they began."""
        ...

    def trace_of(self, run: str) -> str:
        """The trace that a run is in; empty where none is kept."""
        ...

    def totals(self) -> Mapping[Part, float]:
        """All numbers of counted figures, from the beginning on."""
        ...

    def minutes(self, since: float) -> Mapping[int, Mapping[Part, float]]:
        """What was counted in each minute, by its first second, from a moment on."""
        ...
