"""Figures over time as a picture of small multiples: lines and words, whatever draws them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import inf

WIDTH, ROW, LEFT, RIGHT, TOP = 900, 72, 90, 20, 30
INK, FAINT, MARKED = "#1f2937", "#9ca3af", "#b91c1c"
Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Values of one thing over time; None: it was not looked at."""

    name: str
    unit: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A moment at which something was done."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A span of time from left to right."""

    first: float
    last: float
    left: float = LEFT
    right: float = WIDTH - RIGHT

    def across(self, at: float) -> float:
        """The place of a moment; one outside of the span stands at its end."""
        shown = min(max(at, self.first), self.last)
        share = (shown - self.first) / max(self.last - self.first, 1e-9)
        return self.left + share * (self.right - self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line through some points."""

    points: tuple[Point, ...]
    colour: str = INK
    thick: float = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A text whose left end stands on a point."""

    at: Point
    text: str
    colour: str = INK


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Lines and words on a white ground."""

    width: int
    height: int
    shapes: tuple[Stroke | Words, ...]


def picture(
    title: str, times: Sequence[float], rows: Sequence[Series], marks: Sequence[Mark]
) -> Picture:
    """Every series in a row of its own over one axis of time; marks are numbered, and told below.

    A series without any value has no row.
    """
    shown = [row for row in rows if any(value is not None for value in row.values)]
    axis = Axis(first=min(times), last=max(times)) if times else Axis(first=0.0, last=1.0)
    bottom = TOP + ROW * len(shown)
    height = bottom + 30 + 18 * len(marks)
    shapes: list[Stroke | Words] = [Words(at=(LEFT, 18), text=title)]
    for number, row in enumerate(shown):
        shapes += _row(row, times, axis, TOP + ROW * number)
    for number, mark in enumerate(marks, 1):
        x = axis.across(mark.at)
        shapes.append(Stroke(points=((x, TOP), (x, bottom)), colour=MARKED, thick=1.0))
        shapes.append(Words(at=(x + 2, TOP + 10), text=str(number), colour=MARKED))
        after = f"{number}  {mark.at - axis.first:+.0f} s  {mark.text}"[:120]
        shapes.append(Words(at=(LEFT, bottom + 10 + 18 * number), text=after))
    return Picture(width=WIDTH, height=height, shapes=tuple(shapes))


def traces(
    times: Sequence[float],
    values: Sequence[float | None],
    axis: Axis,
    *,
    base: float,
    height: float,
    gap: float = inf,
) -> tuple[tuple[Point, ...], ...]:
    """The lines through values from 0 on `base` up to the greatest; a longer gap begins another."""
    seen = [(at, value) for at, value in zip(times, values, strict=True) if value is not None]
    most = max((value for _, value in seen), default=0.0)
    lines: list[list[Point]] = []
    before = -inf
    for at, value in seen:
        if not lines or at - before > gap:
            lines.append([])
        lines[-1].append((axis.across(at), base - value / max(most, 1e-9) * height))
        before = at
    return tuple(map(tuple, lines))


def svg(drawn: Picture) -> str:
    """The picture as an SVG document."""
    body = "\n".join(_as_svg(each) for each in drawn.shapes)
    size = f'width="{drawn.width}" height="{drawn.height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">\n'
        f'<rect {size} fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def _as_svg(shape: Stroke | Words) -> str:
    if isinstance(shape, Words):
        x, y = shape.at
        text = escape(shape.text)
        return f'<text x="{x:.1f}" y="{y:.1f}" fill="{shape.colour}">{text}</text>'
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
    return (
        f'<polyline points="{points}" fill="none" stroke="{shape.colour}" '
        f'stroke-width="{shape.thick}"/>'
    )


def _row(row: Series, times: Sequence[float], axis: Axis, top: float) -> Iterator[Stroke | Words]:
    """One series: its name, its line, its highest and its last value."""
    known = [value for value in row.values if value is not None]
    base = top + ROW - 14
    yield Words(at=(4, top + ROW / 2), text=row.name)
    yield Words(at=(4, top + ROW / 2 + 14), text=f"{known[-1]:.4g} {row.unit}", colour=FAINT)
    yield Words(at=(WIDTH - RIGHT - 90, top + 10), text=f"most {max(known):.4g}", colour=FAINT)
    yield Stroke(points=((LEFT, base), (WIDTH - RIGHT, base)), colour=FAINT, thick=0.5)
    for points in traces(times, row.values, axis, base=base, height=ROW - 30):
        yield Stroke(points=points)
