"""A trace as people look at it: who came out of whom, when, and how long each took."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinsmith.core.telemetry import Attribute, Span

TOP = ("run", "incident")
"""What has an axis of time of its own: an incident may come days after its release."""
LEAST_WIDTH = 0.4
SAID = (
    "twinsmith.role",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "twinsmith.passed",
    "twinsmith.found",
    "twinsmith.state",
    "http.response.status_code",
)
"""The attributes that stand beside a span, those that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One span of a waterfall; places are hundredths of the width of its axis."""

    id: str
    parent: str
    what: str
    name: str
    run: str
    depth: int
    begins: bool
    """Whether an axis of time begins with it."""
    at: float
    """Seconds since the trace began."""
    seconds: float | None
    """How long it took; None while it is under way."""
    left: float
    width: float
    problem: str
    link: str
    attributes: Mapping[str, Attribute]

    @property
    def said(self) -> str:
        """Its most telling attributes, in words."""
        shown = {name: self.attributes[name] for name in SAID if name in self.attributes}
        return ", ".join(f"{name.rpartition('.')[2]} {value}" for name, value in shown.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """A whole trace, parents before their children, in the order in which they began."""

    trace: str
    run: str
    bars: tuple[Bar, ...]


def waterfall(trace: str, run: str, spans: Sequence[Span], now: float) -> Waterfall:
    """The waterfall of a trace that somebody looks at for a run."""
    known = {each.place.span: each for each in spans}
    children: dict[str, list[Span]] = {}
    for each in sorted(known.values(), key=lambda span: (span.began, span.what != "submit")):
        # A parent that is not here is outside, or forgotten: its children begin at the top.
        children.setdefault(each.parent if each.parent in known else "", []).append(each)
    first = min((each.began for each in spans), default=0.0)
    bars: list[Bar] = []
    waiting = [(each, 0, "") for each in reversed(children.get("", []))]
    axes: dict[str, tuple[float, float]] = {}
    while waiting:
        span, depth, axis = waiting.pop()
        begins = span.what in TOP or not axis
        if begins:
            axis = span.place.span
            axes[axis] = _extent(span, children, now)
        bars.append(_bar(span, depth, begins=begins, first=first, axis=axes[axis]))
        below = reversed(children.get(span.place.span, []))
        waiting += [(each, depth + 1, axis) for each in below]
    return Waterfall(trace=trace, run=run, bars=tuple(bars))


def _extent(top: Span, children: Mapping[str, Sequence[Span]], now: float) -> tuple[float, float]:
    """When what is drawn on one axis begins and ends."""
    ends, waiting = [top.ended or now], [top]
    while waiting:
        span = waiting.pop()
        ends.append(span.ended or span.began)
        waiting += [each for each in children.get(span.place.span, ()) if each.what not in TOP]
    return top.began, max(ends)


def _bar(span: Span, depth: int, *, begins: bool, first: float, axis: tuple[float, float]) -> Bar:
    begin, end = axis
    whole = max(end - begin, 1e-6)
    left = min(max((span.began - begin) / whole * 100, 0.0), 100.0 - LEAST_WIDTH)
    until = span.ended or end
    width = min(max((until - span.began) / whole * 100, LEAST_WIDTH), 100.0 - left)
    return Bar(
        id=span.place.span,
        parent=span.parent,
        what=span.what,
        name=span.name,
        run=span.run,
        depth=depth,
        begins=begins,
        at=round(span.began - first, 4),
        seconds=round(span.seconds, 4) if span.ended else None,
        left=round(left, 2),
        width=round(width, 2),
        problem=span.problem,
        link=span.link,
        attributes=dict(span.attributes),
    )
