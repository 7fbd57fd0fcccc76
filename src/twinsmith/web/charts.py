"""Figures over time as small multiples over one axis of time, laid out; templates draw them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from twinsmith.core.operating.moments import Moment, MomentKind
from twinsmith.core.operating.thinning import DAY
from twinsmith.core.plot import Axis, Point, traces
from twinsmith.runs.health import Course, Figures

WIDE, HIGH = 1000.0, 100.0
"""The ground of a line; it is stretched to whatever room there is, and texts are not."""
ROOM = 82.0
CLOSE = 3.0
"""Marks that are closer, in hundredths of the width, share a label."""
SIGNS: dict[MomentKind, tuple[str, str]] = {
    "release": ("▲", "working"),
    "alarm": ("▼", "bad"),
    "deed": ("◆", "waits"),
    "good": ("✓", "good"),
}
_WORST: tuple[MomentKind, ...] = ("alarm", "deed", "release", "good")
_TICKS = (60, 120, 300, 600, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 432_000)
MOST_TICKS = 8
MOST_MARKS = 30
MOST_ROWS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure over time."""

    name: str
    unit: str
    lines: tuple[str, ...]
    """The points of each unbroken line."""
    last: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text at a place, in hundredths of the width."""

    x: float
    text: str
    kind: str = ""
    lane: int = 0

    @property
    def anchor(self) -> str:
        """Which end of the text stands at the place, so that none is cut off."""
        return "start" if self.x < 4 else "end" if self.x > 96 else "middle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A mark with its number and its place."""

    number: int
    x: float
    sign: str
    kind: str
    moment: Moment

    @property
    def clock(self) -> str:
        """When it was, in UTC, as the axis tells it."""
        return f"{datetime.fromtimestamp(self.moment.at, UTC):%H:%M:%S}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Rows over one axis of time, with marks through all of them."""

    rows: tuple[Row, ...]
    marks: tuple[Told, ...]
    """The newest, oldest first; earlier ones are too many to be told apart."""
    labels: tuple[Label, ...]
    ticks: tuple[Label, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The figures of a course as a chart and as a table."""

    chart: Chart
    names: tuple[tuple[str, str], ...]
    """The name and the unit of each figure."""
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    step: int
    """The seconds that each row of the table stands for."""


def drawn(course: Course, moments: Sequence[Moment]) -> Drawn:
    """A course as people look at it, and as they read it."""
    coarse = course.coarser(MOST_ROWS)
    return Drawn(
        chart=chart(course, moments),
        names=tuple((name, unit) for name, _, unit in course.series()),
        rows=table(coarse),
        step=coarse.step,
    )


def chart(course: Course, moments: Sequence[Moment]) -> Chart:
    """The chart of an app's course."""
    axis = Axis(first=course.since, last=course.until, left=0.0, right=WIDE)
    times = [each.at for each in course.readings]
    rows = (_row(each, times, axis, course.gap) for each in course.series())
    shown = list(enumerate(moments, 1))[-MOST_MARKS:]
    marks = tuple(
        Told(
            number=number,
            x=round(axis.across(each.at) / WIDE * 100, 2),
            sign=SIGNS[each.kind][0],
            kind=SIGNS[each.kind][1],
            moment=each,
        )
        for number, each in shown
    )
    return Chart(
        rows=tuple(row for row in rows if row is not None),
        marks=marks,
        labels=_labels(marks),
        ticks=_ticks(axis),
    )


def plain_chart(figures: Sequence[Figures], times: Sequence[float], step: float) -> Chart:
    """Figures over one axis of time, without marks; each value stands for so many seconds."""
    axis = Axis(first=times[0], last=times[-1] + step, left=0.0, right=WIDE)
    rows = (_row(each, times, axis, 3 * step) for each in figures)
    return Chart(
        rows=tuple(row for row in rows if row is not None), marks=(), labels=(), ticks=_ticks(axis)
    )


def sparkline(times: Sequence[float], values: Sequence[float | None]) -> Row | None:
    """A figure as a small line without axes; None where nothing is known of it."""
    if not times:
        return None
    axis = Axis(first=min(times), last=max(times), left=0.0, right=WIDE)
    return _row(("", list(values), ""), times, axis, float("inf"))


def table(course: Course) -> tuple[tuple[str, tuple[float | None, ...]], ...]:
    """The figures of a course as rows of a table: a time, and a value of each figure."""
    form = "%H:%M:%S" if course.until - course.since < DAY / 2 else "%d %b %H:%M"
    times = [f"{datetime.fromtimestamp(each.at, UTC):{form}}" for each in course.readings]
    columns = [values for _, values, _ in course.series()]
    return tuple(zip(times, zip(*columns, strict=True), strict=True))


def _row(figures: Figures, times: Sequence[float], axis: Axis, gap: float) -> Row | None:
    name, values, unit = figures
    known = [each for each in values if each is not None]
    if not known:
        return None
    lines = traces(times, values, axis, base=HIGH - 4, height=ROOM, gap=gap)
    drawn = tuple(map(_points, lines))
    return Row(name=name, unit=unit, lines=drawn, last=known[-1], most=max(known))


def _points(line: Sequence[Point]) -> str:
    """A line as SVG has it; a single point is a line to itself, whose round end is seen."""
    shown = [*line, *line] if len(line) == 1 else line
    return " ".join(f"{x:.0f},{y:.1f}" for x, y in shown)


def _labels(marks: Sequence[Told]) -> tuple[Label, ...]:
    """A label for each bunch of marks, in two lanes by turns."""
    bunches: list[list[Told]] = []
    for mark in marks:
        if bunches and mark.x - bunches[-1][0].x < CLOSE:
            bunches[-1].append(mark)
        else:
            bunches.append([mark])
    return tuple(_label(bunch, number % 2) for number, bunch in enumerate(bunches))


def _label(bunch: Sequence[Told], lane: int) -> Label:
    first, last = bunch[0], bunch[-1]
    worst = min(bunch, key=lambda each: _WORST.index(each.moment.kind))
    numbers = str(first.number) if first is last else f"{first.number}\N{EN DASH}{last.number}"
    return Label(x=first.x, text=f"{worst.sign}{numbers}", kind=worst.kind, lane=lane)


def _ticks(axis: Axis) -> tuple[Label, ...]:
    """Round times of day along an axis."""
    span = axis.last - axis.first
    step = next((each for each in _TICKS if span / each <= MOST_TICKS), _TICKS[-1])
    form = "%H:%M" if step < 43_200 else "%d %b"
    first = ceil(axis.first / step)
    return tuple(
        Label(
            x=round(axis.across(at * step) / WIDE * 100, 2),
            text=f"{datetime.fromtimestamp(at * step, UTC):{form}}",
        )
        for at in range(first, int(axis.last // step) + 1)
    )
