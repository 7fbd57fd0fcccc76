"""Traces and figures as people look at them: of one run, and of the last hours."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil

from twinsmith.core import measures
from twinsmith.core.errors import Unknown
from twinsmith.core.measures import Measure, Part, quantile
from twinsmith.core.waterfall import Waterfall, waterfall
from twinsmith.runs.book import Book

Numbers = Mapping[Part, float]
Figures = tuple[str, list[float | None], str]
"""A figure: its name, a value for each step, and its unit."""
MOST_POINTS = 240
P95 = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Figures over a span of time: a value of each for every step, None where nothing happened."""

    since: float
    until: float
    step: int
    """The seconds that each value stands for."""
    times: tuple[float, ...]
    figures: tuple[Figures, ...]


def trace_of(book: Book, run: str) -> Waterfall:
    """The trace that a run is in; Unknown where none is kept of it."""
    from twinsmith.wiring.telemetry import table_of

    table, name = table_of(book.settings), book.find(run)
    trace = table.trace_of(name)
    if not trace:
        hours = book.settings.values.telemetry.keep_hours
        kept = f"for {hours:g} hours" if hours else "nowhere: telemetry.keep_hours is 0"
        raise Unknown(f"no trace of run {name} is kept here; traces are kept {kept}")
    return waterfall(trace, name, table.spans(trace), time.time())


def past(book: Book, seconds: float) -> Past:
    """What all processes of the database counted in the last seconds."""
    from twinsmith.wiring.telemetry import table_of

    step = max(60, ceil(seconds / MOST_POINTS / 60) * 60)
    until = ceil(time.time() / step) * step
    since = until - ceil(seconds / step) * step
    steps: dict[int, Counter[Part]] = {}
    for minute, numbers in table_of(book.settings).minutes(since).items():
        steps.setdefault(minute // step * step, Counter()).update(numbers)
    times = tuple(range(since, until, step))
    figures = tuple(
        (name, [read(steps[at], step) if at in steps else None for at in times], unit)
        for name, unit, read in _SHOWN
    )
    return Past(
        since=since, until=until, step=step, times=tuple(map(float, times)), figures=figures
    )


def _sum(measure: Measure, part: str = measures.ONLY, holding: str = "") -> Callable[..., float]:
    def read(numbers: Numbers, _step: int) -> float:
        return sum(
            value
            for each, value in numbers.items()
            if (each.family, each.part) == (measure.family, part) and holding in each.labels
        )

    return read


def _by_minute(read: Callable[..., float]) -> Callable[[Numbers, int], float | None]:
    return lambda numbers, step: read(numbers, step) * 60 / step


def _p95(measure: Measure, scale: float = 1.0) -> Callable[[Numbers, int], float | None]:
    def read(numbers: Numbers, _step: int) -> float | None:
        buckets: Counter[str] = Counter()
        for each, value in numbers.items():
            if each.family == measure.family and each.part not in (measures.SUM, measures.COUNT):
                buckets[each.part] += value  # type: ignore[assignment]  # a Counter of floats
        found = quantile(buckets, P95)
        return None if found is None else found * scale

    return read


def _hits(numbers: Numbers, step: int) -> float | None:
    hits = _sum(measures.MODEL_CACHE, holding='result="hit"')(numbers, step)
    whole = _sum(measures.MODEL_CACHE)(numbers, step)
    return 100 * hits / whole if whole else None


_SHOWN: tuple[tuple[str, str, Callable[[Numbers, int], float | None]], ...] = (
    ("requests", "/min", _by_minute(_sum(measures.HTTP_REQUESTS))),
    ("failed requests", "/min", _by_minute(_sum(measures.HTTP_REQUESTS, holding='status="5'))),
    ("request p95", "ms", _p95(measures.HTTP_SECONDS, 1000)),
    ("runs ended", "/min", _by_minute(_sum(measures.RUN_SECONDS, measures.COUNT))),
    ("wait in queue p95", "s", _p95(measures.QUEUE_WAIT)),
    ("answers of models", "/min", _by_minute(_sum(measures.MODEL_SECONDS, measures.COUNT))),
    ("answer p95", "s", _p95(measures.MODEL_SECONDS)),
    ("unanswered", "/min", _by_minute(_sum(measures.MODEL_ERRORS))),
    ("tokens", "/min", _by_minute(_sum(measures.MODEL_TOKENS))),
    ("cost", "USD/min", _by_minute(_sum(measures.MODEL_COST))),
    ("from the cache", "%", _hits),
    ("sandbox starts", "/min", _by_minute(_sum(measures.SANDBOX_STARTS))),
    ("sandbox p95", "s", _p95(measures.SANDBOX_SECONDS)),
    ("retrieval p95", "ms", _p95(measures.RETRIEVAL_SECONDS, 1000)),
)
