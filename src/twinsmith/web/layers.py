"""Nodes of a graph in columns by their kinds, with as few crossing lines as is easily had."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinsmith.core.knowing.graph import Edge, Node, NodeKind, NodeRef
from twinsmith.web.drawing import Box

COLUMNS: tuple[tuple[str, tuple[NodeKind, ...]], ...] = (
    ("Models", ("Model",)),
    ("Tasks", ("Task", "Candidate")),
    ("Insights", ("Insight",)),
    ("Errors", ("Error",)),
    ("Fixes and practices", ("Fix", "Plan", "Practice")),
    ("Incidents", ("Incident", "Release")),
)
WIDTH, HEIGHT = 168.0, 28.0
GAP, ROW, TOP = 52.0, 38.0, 24.0
SWEEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Where nodes stand, and how the lines between them run."""

    width: float
    height: float
    titles: tuple[tuple[float, str], ...]
    """The title of each column, and where it begins."""
    boxes: Mapping[NodeRef, Box]
    lines: tuple[tuple[Edge, str], ...]
    """Every edge with the data of its path."""


def layers(nodes: Sequence[Node], edges: Sequence[Edge]) -> Layers:
    """The same nodes and edges always give the same drawing."""
    columns = [
        (title, [each.ref for each in nodes if each.kind in kinds]) for title, kinds in COLUMNS
    ]
    columns = [(title, sorted(refs, key=_name)) for title, refs in columns if refs]
    beside = _beside(edges)
    for _ in range(SWEEPS):
        places = {ref: place for _, refs in columns for place, ref in enumerate(refs)}
        for _, refs in columns:
            refs.sort(key=lambda ref: (_middle(ref, beside, places), _name(ref)))
            places |= {ref: place for place, ref in enumerate(refs)}
    longest = max((len(refs) for _, refs in columns), default=0)
    boxes = {
        ref: Box(
            x=number * (WIDTH + GAP),
            y=TOP + (place + (longest - len(refs)) / 2) * ROW,
            width=WIDTH,
            height=HEIGHT,
        )
        for number, (_, refs) in enumerate(columns)
        for place, ref in enumerate(refs)
    }
    shown = [each for each in edges if each.source in boxes and each.target in boxes]
    return Layers(
        width=max(len(columns) * (WIDTH + GAP) - GAP, WIDTH),
        height=TOP + longest * ROW,
        titles=tuple((number * (WIDTH + GAP), title) for number, (title, _) in enumerate(columns)),
        boxes=boxes,
        lines=tuple((each, _path(boxes[each.source], boxes[each.target])) for each in shown),
    )


def _beside(edges: Sequence[Edge]) -> Mapping[NodeRef, list[NodeRef]]:
    found: dict[NodeRef, list[NodeRef]] = defaultdict(list)
    for edge in edges:
        found[edge.source].append(edge.target)
        found[edge.target].append(edge.source)
    return found


def _middle(
    ref: NodeRef, beside: Mapping[NodeRef, list[NodeRef]], places: Mapping[NodeRef, int]
) -> float:
    """The mean place of the neighbours of a node; its own where it has none."""
    around = [places[each] for each in beside.get(ref, ()) if each in places]
    return sum(around) / len(around) if around else places[ref]


def _path(source: Box, target: Box) -> str:
    """A curve between the facing sides of two boxes; beside them where they share a column."""
    if source.x == target.x:
        x, out = source.x + source.width, source.x + source.width + GAP / 2
        y, end = source.y + source.height / 2, target.y + target.height / 2
        return f"M{x:g} {y:g}C{out:g} {y:g} {out:g} {end:g} {x:g} {end:g}"
    right = source.x < target.x
    x = source.x + (source.width if right else 0)
    end_x = target.x + (0 if right else target.width)
    y, end = source.y + source.height / 2, target.y + target.height / 2
    half = (x + end_x) / 2
    return f"M{x:g} {y:g}C{half:g} {y:g} {half:g} {end:g} {end_x:g} {end:g}"


def _name(ref: NodeRef) -> tuple[str, str]:
    return ref.kind, ref.key
