"""The stages of healing as a drawing: boxes and ways, those that an incident went are lit."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

from twinsmith.core.operating.incident import Stage

WIDTH, HEIGHT = 372, 420
_LEFT, _BOX, _TALL, _PITCH, _TOP = 84, 140, 34, 60, 12
_MAIN: tuple[Stage, ...] = (
    "seen",
    "restarted",
    "rolling back",
    "fixing",
    "releasing",
    "proving",
    "closed",
)
_ASIDE_LEFT, _ASIDE_BOX, _ASIDE_ROW = 260, 108, 4
STAGES: tuple[Stage, ...] = get_args(Stage)
MEANING: dict[Stage, str] = {
    "seen": "an alarm: what is wrong is known, nothing was done yet",
    "restarted": "it was started anew; is it well for a while?",
    "rolling back": "the release before serves again",
    "fixing": "both ensembles look for a version that passes what failed",
    "releasing": "a fix goes through all gates",
    "proving": "a fix serves and has to stay well",
    "escalated": "a person has to say what becomes of it",
    "closed": "it is over",
}
USUAL: frozenset[tuple[Stage, Stage]] = frozenset(
    {
        ("seen", "closed"),
        ("seen", "restarted"),
        ("seen", "rolling back"),
        ("seen", "fixing"),
        ("seen", "escalated"),
        ("restarted", "restarted"),
        ("restarted", "closed"),
        ("restarted", "rolling back"),
        ("rolling back", "fixing"),
        ("rolling back", "escalated"),
        ("fixing", "fixing"),
        ("fixing", "releasing"),
        ("fixing", "escalated"),
        ("releasing", "proving"),
        ("releasing", "fixing"),
        ("proving", "closed"),
        ("proving", "rolling back"),
        ("escalated", "closed"),
    }
)
"""The ways of `core/operating/remedy.py`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A stage: where it is drawn, and whether an incident was or is in it."""

    stage: Stage
    x: int
    y: int
    width: int
    times: int
    """How often an incident came into it."""
    here: bool

    @property
    def text(self) -> str:
        """The stage by shape and word."""
        present = {"closed": "✓", "escalated": "▲"}.get(self.stage, "●")
        sign = present if self.here else "✓" if self.times else "○"
        return f"{sign} {self.stage}" + (
            f" \N{MULTIPLICATION SIGN}{self.times}" if self.times > 1 else ""
        )

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return self.y + _TALL / 2

    @property
    def right(self) -> int:
        """Its right side."""
        return self.x + self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way from one stage to another as an SVG path."""

    line: str
    lit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The whole drawing."""

    boxes: tuple[Box, ...]
    ways: tuple[Way, ...]
    """Those that were gone come last: they are drawn over the others."""
    width: int = WIDTH
    height: int = HEIGHT
    tall: int = _TALL


def machine(path: Sequence[Stage]) -> Machine:
    """The drawing for an incident that went through these stages."""
    times, gone = Counter(path), set(pairwise(path))
    boxes = {each: _box(each, times[each], here=each in path[-1:]) for each in STAGES}
    ways = sorted(USUAL | gone, key=lambda pair: (pair in gone, pair))
    return Machine(
        boxes=tuple(boxes.values()),
        ways=tuple(Way(line=_line(boxes[a], boxes[b]), lit=(a, b) in gone) for a, b in ways),
    )


def _box(stage: Stage, times: int, *, here: bool) -> Box:
    aside = stage == "escalated"
    row = _ASIDE_ROW if aside else _MAIN.index(stage)
    return Box(
        stage=stage,
        x=_ASIDE_LEFT if aside else _LEFT,
        y=_TOP + row * _PITCH,
        width=_ASIDE_BOX if aside else _BOX,
        times=times,
        here=here,
    )


def _line(start: Box, end: Box) -> str:
    """A way: straight down to the next stage, else around those between."""
    middle = start.x + start.width / 2
    if start.stage == end.stage:
        away = start.right + 26
        return _curve((start.right, start.middle - 9), away, away, (start.right, start.middle + 9))
    if end.stage == "escalated":
        half = (start.right + end.x) / 2
        return _curve((start.right, start.middle), half, half, (end.x, end.middle))
    if start.stage == "escalated":
        foot = start.y + _TALL
        return f"M{middle},{foot} Q{middle},{end.middle} {end.right},{end.middle}"
    rows = _MAIN.index(end.stage) - _MAIN.index(start.stage)
    if rows == 1:
        return f"M{middle},{start.y + _TALL} L{middle},{end.y}"
    if rows > 1:
        away = start.x - 12 * rows - 8
        return _curve((start.x, start.middle), away, away, (end.x, end.middle))
    away = start.right - 12 * rows + 8
    return _curve((start.right, start.middle), away, away, (end.right, end.middle))


def _curve(
    start: tuple[float, float], leaving: float, coming: float, end: tuple[float, float]
) -> str:
    """A curve that leaves and comes in level, by way of two places across."""
    (x, y), (to_x, to_y) = start, end
    return f"M{x},{y} C{leaving},{y} {coming},{to_y} {to_x},{to_y}"
