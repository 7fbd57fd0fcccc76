"""Where the parts of the architecture stand in its drawing, and how the lines between them run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from unicodedata import east_asian_width

from twinsmith.core.anatomy import ENSEMBLES, WAYS, Kind, PartName, Way, of

Point = tuple[float, float]
_KINDS: tuple[Kind, ...] = ("slow", "coder", "critic", "execution")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle; `x` and `y` are its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    def at(self, across: float, down: float) -> Point:
        """The point at these shares of its width and height."""
        return self.x + across * self.width, self.y + down * self.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A drawing: the places of parts, frames around some of them, room for lines."""

    name: str
    width: float
    height: float
    boxes: Mapping[PartName, Box]
    frames: tuple[tuple[str, Point, Box], ...]
    """Frames, with their titles and where in them these stand."""
    channel: float
    """Where the lines below the ensembles begin to run."""
    step: float
    """How far lines beside each other are apart."""
    margin: float
    """The room outside of an ensemble's parts in which its own lines run."""
    head: float
    """Half the breadth of an arrow's head."""
    letters: int
    """How many letters a line in a box has room for."""
    lines: int
    """How many lines a box has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line with an arrow's head, as the data of two SVG paths."""

    way: Way
    path: str
    head: str


def broad() -> Layout:
    """The drawing for a screen: ensembles at the sides, what both use between them."""
    size = Box(x=0, y=0, width=184, height=62)
    rows = [34.0 + 92 * row for row in range(4)]
    boxes: dict[PartName, Box] = {}
    for number, x in zip(ENSEMBLES, (48.0, 728.0), strict=True):
        for row, kind in zip(rows, _KINDS, strict=True):
            boxes[of(kind, number)] = replace(size, x=x, y=row)
    middle: tuple[tuple[PartName, float, int], ...] = (
        ("models", 388, 0),
        ("manager", 388, 1),
        ("retriever", 388, 2),
        ("vectors", 290, 3),
        ("graph", 486, 3),
    )
    for name, x, place in middle:
        boxes[name] = replace(size, x=x, y=rows[place])
    below: tuple[tuple[PartName, ...], ...] = (
        ("log", "behaviour", "containers", "monitor", "healer"),
        ("queue", "override", "approvals"),
    )
    for row, first, names in zip((490, 606), (0, 2), below, strict=True):
        for place, name in enumerate(names, first):
            boxes[name] = replace(size, x=196 * place, y=row, width=176)
    return Layout(
        name="broad",
        width=960,
        height=686,
        boxes=boxes,
        frames=(
            ("Ensemble 1", (8, 18), Box(x=0, y=6, width=246, height=384)),
            ("Ensemble 2", (8, 18), Box(x=714, y=6, width=246, height=384)),
            ("Models", (8, 18), Box(x=280, y=6, width=400, height=188)),
            ("Knowledge", (10, 102), Box(x=280, y=202, width=400, height=188)),
            ("Development and self-healing", (206, 18), Box(x=-10, y=462, width=980, height=98)),
            ("People", (8, 18), Box(x=382, y=578, width=588, height=98)),
        ),
        channel=404,
        step=12,
        margin=44,
        head=4,
        letters=23,
        lines=3,
    )


def narrow() -> Layout:
    """The drawing for a phone: three columns, and what is about apps and people in a ring."""
    size = Box(x=0, y=0, width=104, height=44)
    rows = [26 + 64 * row for row in range(5)]
    columns = (20.0, 148.0, 276.0)
    boxes: dict[PartName, Box] = {}
    for number, x in zip(ENSEMBLES, (columns[0], columns[2]), strict=True):
        for row, kind in zip(rows, _KINDS, strict=False):
            boxes[of(kind, number)] = replace(size, x=x, y=row)
    middle: tuple[PartName, ...] = ("models", "manager", "graph", "retriever", "vectors")
    for row, name in zip(rows, middle, strict=True):
        boxes[name] = replace(size, x=columns[1], y=row)
    ring: tuple[tuple[PartName, int, float], ...] = (
        ("log", 0, 404),
        ("behaviour", 2, 404),
        ("queue", 0, 472),
        ("containers", 1, 472),
        ("monitor", 2, 472),
        ("override", 0, 540),
        ("approvals", 1, 540),
        ("healer", 2, 540),
    )
    for name, column, y in ring:
        boxes[name] = replace(size, x=columns[column], y=y)
    return Layout(
        name="narrow",
        width=400,
        height=592,
        boxes=boxes,
        frames=(
            ("Ensemble 1", (8, 18), Box(x=1, y=4, width=130, height=268)),
            ("Ensemble 2", (8, 18), Box(x=269, y=4, width=130, height=268)),
        ),
        channel=346,
        step=8,
        margin=18,
        head=3,
        letters=13,
        lines=2,
    )


def lines(layout: Layout) -> tuple[Line, ...]:
    """Every line of a drawing."""
    return tuple(_line(way, layout) for way in WAYS)


def fitting(text: str, letters: int) -> str:
    """As much of a text as has room; letters of some scripts take the room of two."""
    room = letters
    for place, letter in enumerate(text):
        room -= 2 if east_asian_width(letter) in "WF" else 1
        if room < 0:
            return text[: max(place - 1, 0)].rstrip() + "…"
    return text


def _line(way: Way, layout: Layout) -> Line:
    points = _points(way, layout)
    curved = points is None
    if points is None:
        points = _across(way, layout)
    start, end = points[0], points[-1]
    before = points[-2] if not curved else (start[0], end[1])
    stop = _back(before, end, layout.head)
    if curved:
        half = (start[0] + stop[0]) / 2
        path = f"M{_xy(start)}C{_xy((half, start[1]))} {_xy((half, stop[1]))} {_xy(stop)}"
    else:
        path = "M" + "L".join(_xy(point) for point in (*points[:-1], stop))
    return Line(way=way, path=path, head=_head(before, end, layout.head))


def _points(way: Way, layout: Layout) -> list[Point] | None:
    """The corners of a line; None where it is a curve between the sides of two boxes."""
    source, target = layout.boxes[way.source], layout.boxes[way.target]
    same = _ensemble_of(way.source)
    if same and same == _ensemble_of(way.target):
        return _inside(way, layout, same)
    if way.source.startswith("execution"):
        return _below(way, layout, same)
    if way == Way("healer", "containers"):
        return _again(source, target, layout)
    if same:
        return None
    return _beside(way, source, target)


def _inside(way: Way, layout: Layout, number: int) -> list[Point]:
    """A line between two parts of an ensemble: down between neighbours, else around outside."""
    source, target = layout.boxes[way.source], layout.boxes[way.target]
    kinds = way.source[:-1], way.target[:-1]
    straight = {("slow", "coder"): 0.5, ("critic", "execution"): 0.4, ("execution", "critic"): 0.6}
    if kinds in straight:
        x = source.at(straight[kinds], 0)[0]
        if target.y > source.y:
            return [(x, source.y + source.height), (x, target.y)]
        return [(x, source.y), (x, target.y + target.height)]
    tracks = {("slow", "critic"): 0.2, ("coder", "execution"): 0.4, ("execution", "coder"): 0.6}
    side, away = (0.0, -1) if number == 1 else (1.0, 1)
    x = source.at(side, 0)[0] + away * tracks[kinds] * layout.margin
    down = target.y > source.y
    begin, end = source.at(side, 0.7 if down else 0.3), target.at(side, 0.3 if down else 0.7)
    return [begin, (x, begin[1]), (x, end[1]), end]


def _below(way: Way, layout: Layout, number: int) -> list[Point]:
    """A line from an execution environment: by the room below the ensembles to where it leads."""
    source, target = layout.boxes[way.source], layout.boxes[way.target]

    def mirrored(share: float) -> float:
        return share if number == 1 else 1 - share

    if _ensemble_of(way.target):
        side, away = (1.0, 1) if number == 1 else (0.0, -1)
        y = layout.channel + (number - 1) * layout.step
        x = target.at(side, 0)[0] + away * 0.85 * layout.margin
        begin, end = source.at(mirrored(0.25), 1), target.at(side, 0.4)
        return [begin, (begin[0], y), (x, y), (x, end[1]), end]
    share, level = (0.5, 2) if way.target == "log" else (0.75, 3)
    begin = source.at(mirrored(share), 1)
    end = target.at(0.4 if number == 1 else 0.6, 0)
    if way.target == "log" and number == 1:
        return [begin, (begin[0], end[1])]
    y = layout.channel + level * layout.step
    return [begin, (begin[0], y), (end[0], y), end]


def _again(source: Box, target: Box, layout: Layout) -> list[Point]:
    """The way back from self-healing to containers, past the monitor."""
    begin, end = source.at(0.2, 0), target.at(0.8, 0)
    if source.y > target.y:
        end = target.at(0.8, 1)
    y = (end[1] + begin[1]) / 2 if source.y > target.y else begin[1] - layout.step
    return [begin, (begin[0], y), (end[0], y), end]


def _beside(way: Way, source: Box, target: Box) -> list[Point]:
    """A straight line between two boxes below or beside each other; both ways keep apart."""
    both = Way(way.target, way.source) in WAYS
    share = 0.5 if not both else 0.35 if way.source < way.target else 0.65
    if source.y == target.y:
        y = source.at(0, share)[1]
        if source.x < target.x:
            return [(source.x + source.width, y), (target.x, y)]
        return [(source.x, y), (target.x + target.width, y)]
    left = max(source.x, target.x)
    right = min(source.x + source.width, target.x + target.width)
    x = left + share * (right - left)
    if source.y < target.y:
        return [(x, source.y + source.height), (x, target.y)]
    return [(x, source.y), (x, target.y + target.height)]


def _across(way: Way, layout: Layout) -> list[Point]:
    """The two ends of a curve from an ensemble to what both of them use."""
    source, target = layout.boxes[way.source], layout.boxes[way.target]
    kind, right = way.source[:-1], source.x < target.x
    begin = 0.3 if way.target == "manager" else 0.7
    end = {"slow": 0.25, "coder": 0.5, "critic": 0.75}[kind]
    return [source.at(1.0 if right else 0.0, begin), target.at(0.0 if right else 1.0, end)]


def _ensemble_of(name: PartName) -> int:
    return int(name[-1]) if name[-1].isdigit() else 0


def _xy(point: Point) -> str:
    return f"{point[0]:.4g} {point[1]:.4g}"


def _towards(start: Point, end: Point) -> Point:
    """The direction of a line that runs across or down, of length 1."""
    across, down = end[0] - start[0], end[1] - start[1]
    if abs(across) > abs(down):
        return (1.0 if across > 0 else -1.0), 0.0
    return 0.0, (1.0 if down > 0 else -1.0)


def _back(start: Point, end: Point, size: float) -> Point:
    """Where a line ends so that its arrow's head has room."""
    across, down = _towards(start, end)
    return end[0] - across * size, end[1] - down * size


def _head(start: Point, end: Point, size: float) -> str:
    """The head of the arrow at the end of a line."""
    across, down = _towards(start, end)
    base = end[0] - across * 2 * size, end[1] - down * 2 * size
    left = base[0] - down * size, base[1] + across * size
    right = base[0] + down * size, base[1] - across * size
    return f"M{_xy(end)}L{_xy(left)}L{_xy(right)}Z"
