"""Labelled series of the Numenta Anomaly Benchmark as readings, and two simple rules."""

import csv
import io
import json
import math
import statistics
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.detectors_series import LONGEST, START
from twinsmith.core.operating.detect import alarms
from twinsmith.core.operating.reading import Reading, Traffic, Usage
from twinsmith.core.operating.watch import MB, Watch
from twinsmith.core.operating.window import middle

GAP = 5.0
"""Seconds between two of our readings; NAB's are five minutes apart."""
PROBATION = 0.15
"""NAB's own rule: the first 15 % of a series are there to learn from, nothing there counts."""
SAME = 12
"""Alarms at most so many readings apart are one: an hour in NAB."""
Rule = Callable[[Sequence[float]], set[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One metric of one machine, and where people saw anomalies in it."""

    name: str
    values: Sequence[float]
    windows: Sequence[tuple[int, int]]
    """First and last index of each anomaly."""

    @property
    def learned(self) -> int:
        """The first index that counts."""
        return int(len(self.values) * PROBATION)

    @property
    def limited(self) -> bool:
        """Whether it is a share of a processor, which ends at 100: only then growth has a limit."""
        return "cpu_utilization" in self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How a rule did on a series."""

    caught: int
    """Anomalies within which it raised an alarm."""
    outside: int
    """Alarms anywhere else."""


def series_in(archive: Path, labels: Path, more: Path | None) -> Iterator[Series]:
    """All series of an archive, by name, and those of a folder, which have no anomaly."""
    known = json.loads(labels.read_text())
    with tarfile.open(archive) as files:
        for name in sorted(each for each in files.getnames() if each.endswith(".csv")):
            file = files.extractfile(name)
            assert file is not None
            yield _series(name, file.read().decode(), known.get(name, []))
    for path in sorted(more.glob("*.csv")) if more else []:
        yield _series(f"artificialNoAnomaly/{path.name}", path.read_text(), [])


def ours(series: Series, watch: Watch) -> set[int]:
    """Where our detectors alarm: the value is a time of answers, and memory where it has a limit.

    Ratios need a zero: a series that goes below it is lifted by the lowest value of its probation.
    """
    probation = series.values[: series.learned]
    lift = -min(0.0, *probation)
    usual = middle(value + lift for value in probation) or statistics.fmean(probation) or 1.0
    readings = [
        Reading(
            app="nab",
            release=1,
            at=START + GAP * index,
            usage=Usage(
                state="running",
                memory=int(value * MB) if series.limited else None,
                memory_limit=100 * MB,
            ),
            traffic=Traffic(requests=1, median=max(0.0, 0.1 * (value + lift) / usual)),
        )
        for index, value in enumerate(series.values)
    ]
    ends = range(series.learned + 1, len(readings) + 1)
    return {end - 1 for end in ends if alarms(readings[max(0, end - LONGEST) : end], watch)}


def three_sigma(values: Sequence[float]) -> set[int]:
    """Where a value is three deviations off the mean of as many values before as we look at."""
    found = set()
    total, squares = sum(values[:LONGEST]), sum(value * value for value in values[:LONGEST])
    for index in range(LONGEST, len(values)):
        mean = total / LONGEST
        deviation = math.sqrt(max(0.0, squares / LONGEST - mean * mean))
        if abs(values[index] - mean) > 3 * deviation + 1e-9:
            found.add(index)
        total += values[index] - values[index - LONGEST]
        squares += values[index] ** 2 - values[index - LONGEST] ** 2
    return found


def ewma(values: Sequence[float], weight: float = 0.1) -> set[int]:
    """Where a value is three deviations off an exponentially weighted mean."""
    mean, variance, found = values[0], 0.0, set()
    for index, value in enumerate(values):
        off = value - mean
        if abs(off) > 3 * math.sqrt(variance) + 1e-9:
            found.add(index)
        mean += weight * off
        variance = (1 - weight) * (variance + weight * off * off)
    return found


def score(series: Series, found: set[int]) -> Score:
    """Anomalies that were caught, and alarms that were none of one, after the probation."""
    counted = sorted(index for index in found if index >= series.learned)
    inside = [sum(first <= index <= last for index in counted) for first, last in series.windows]
    stray = [
        index
        for index in counted
        if not any(first <= index <= last for first, last in series.windows)
    ]
    begun = [
        at for at, before in zip(stray, [-SAME - 1, *stray], strict=False) if at - before > SAME
    ]
    return Score(caught=sum(count > 0 for count in inside), outside=len(begun))


def _series(name: str, text: str, windows: Sequence[Sequence[str]]) -> Series:
    rows = list(csv.DictReader(io.StringIO(text)))
    times = [_time(row["timestamp"]) for row in rows]
    spans = [(_time(first), _time(last)) for first, last in windows]
    return Series(
        name=name,
        values=[float(row["value"]) for row in rows],
        windows=[
            (
                next(index for index, time in enumerate(times) if time >= first),
                max(index for index, time in enumerate(times) if time <= last),
            )
            for first, last in spans
        ],
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
