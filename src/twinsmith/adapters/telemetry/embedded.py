"""Telemetry kept in the database that all processes share, and handed on to collectors.

What is told waits in memory for a second or two and is kept at once with all else. Nobody who tells
waits for it, and nobody is broken by it: what cannot be kept is counted and dropped. What a kill
takes is what a process told in its last second. Only what the database did not know before is
handed on, so that no collector gets a span twice.
"""

import atexit
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from twinsmith.adapters.telemetry.table import TelemetryTable
from twinsmith.core.errors import TwinsmithError
from twinsmith.core.measures import DROPPED, Measure, Part, parts_of
from twinsmith.core.telemetry import Span

EVERY_SECONDS = 1.0
FORGET_SECONDS = 60.0
MOST_WAITING = 20_000


class Onward(Protocol):
    """Takes what is kept further."""

    def tell(self, span: Span) -> None:
        """Take a span."""
        ...

    def observe(self, measure: Measure, value: float = 1.0, **labels: str) -> None:
        """Take a value of a figure."""
        ...

    def flush(self) -> None:
        """Return once all is sent, or cannot be."""
        ...


class EmbeddedTelemetry:
    """Keeps spans and figures for some hours in a table."""

    def __init__(
        self,
        table: TelemetryTable,
        *,
        hours: float,
        onward: Onward | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._table = table
        self._hours = hours
        self._onward = onward
        self._now = now
        self._lock = threading.Lock()
        self._keeping = threading.Lock()
        self._spans: list[Span] = []
        self._numbers: Counter[Part] = Counter()
        self._timer: threading.Timer | None = None
        self._forgot = 0.0
        self._leaves = False

    def tell(self, span: Span) -> None:
        """Keep a span soon."""
        with self._lock:
            if len(self._spans) < MOST_WAITING:
                self._spans.append(span)
            else:
                self._count(DROPPED, 1.0, sort="span")
            self._soon()

    def observe(self, measure: Measure, value: float = 1.0, **labels: str) -> None:
        """Add a value to a figure soon."""
        if self._onward is not None:
            self._onward.observe(measure, value, **labels)
        with self._lock:
            self._count(measure, value, **labels)
            self._soon()

    def flush(self) -> None:
        """Keep everything now."""
        # One at a time: whoever waits here finds what it told kept, by whichever of both.
        with self._keeping:
            with self._lock:
                spans, self._spans = self._spans, []
                numbers, self._numbers = self._numbers, Counter()
                timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
            if spans or numbers:
                self._keep(spans, numbers)
            if self._onward is not None:
                self._onward.flush()

    def _keep(self, spans: list[Span], numbers: Counter[Part]) -> None:
        now = self._now()
        try:
            fresh = self._table.keep(spans, numbers, now)
            if now - self._forgot >= FORGET_SECONDS:
                self._forgot = now
                self._table.forget(now - self._hours * 3600)
        except TwinsmithError:
            # Nobody's run waits for a database that is away. Figures are sums: they come later.
            with self._lock:
                if len(self._numbers) < MOST_WAITING:
                    self._numbers.update(numbers)
                self._count(DROPPED, float(len(spans)), sort="span")
            return
        if self._onward is not None:
            for each in fresh:
                self._onward.tell(each)

    def _count(self, measure: Measure, value: float, **labels: str) -> None:
        for part, more in parts_of(measure, value, labels).items():
            self._numbers[part] += more  # type: ignore[assignment]  # a Counter of floats adds up

    def _soon(self) -> None:
        """Have it kept in a while; what comes until then is kept with it."""
        if self._timer is None:
            if not self._leaves:
                self._leaves = True
                atexit.register(self.flush)
            self._timer = threading.Timer(EVERY_SECONDS, self.flush)
            self._timer.daemon = True
            self._timer.start()
