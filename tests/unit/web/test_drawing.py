"""The drawings of the architecture and of the insight graph: nothing overlaps or hangs loose."""

import itertools
import re

import pytest

from twinsmith.core.anatomy import PARTS, WAYS, Way
from twinsmith.core.knowing.graph import Edge, Node, NodeRef
from twinsmith.web.drawing import Box, Layout, broad, fitting, lines, narrow
from twinsmith.web.layers import layers

LAYOUTS = (broad(), narrow())


def overlap(one: Box, other: Box) -> bool:
    across = one.x < other.x + other.width and other.x < one.x + one.width
    return across and one.y < other.y + other.height and other.y < one.y + one.height


def points(path: str) -> list[tuple[float, float]]:
    numbers = [float(each) for each in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?", path)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def on_edge(point: tuple[float, float], box: Box, room: float) -> bool:
    x, y = point
    near_x = box.x - room <= x <= box.x + box.width + room
    near_y = box.y - room <= y <= box.y + box.height + room
    inside = box.x < x < box.x + box.width and box.y < y < box.y + box.height
    return near_x and near_y and not inside


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda each: each.name)
def test_every_part_has_a_place_of_its_own_within_the_drawing(layout: Layout) -> None:
    assert set(layout.boxes) == set(PARTS)
    for one, other in itertools.combinations(layout.boxes.values(), 2):
        assert not overlap(one, other)
    for box in layout.boxes.values():
        assert box.x >= 0
        assert box.x + box.width <= layout.width
        assert box.y + box.height <= layout.height


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda each: each.name)
def test_every_way_is_a_line_from_one_part_to_the_other(layout: Layout) -> None:
    drawn = lines(layout)
    assert {each.way for each in drawn} == set(WAYS)
    for each in drawn:
        path, head = points(each.path), points(each.head)
        assert on_edge(path[0], layout.boxes[each.way.source], 0.5), each
        assert on_edge(head[0], layout.boxes[each.way.target], 0.5), each
        for x, y in (*path, *head):
            assert -12 <= x <= layout.width + 12, each
            assert 0 <= y <= layout.height, each


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda each: each.name)
def test_no_two_lines_are_the_same(layout: Layout) -> None:
    drawn = lines(layout)
    assert len({each.path for each in drawn}) == len(drawn)


def test_the_two_ensembles_are_mirrored() -> None:
    layout = broad()
    for kind in ("slow", "coder", "critic", "execution"):
        one = next(box for name, box in layout.boxes.items() if name == f"{kind}1")
        other = next(box for name, box in layout.boxes.items() if name == f"{kind}2")
        assert one.y == other.y
        assert one.x == layout.width - other.x - other.width


def test_insights_cross_outside_of_everything_else() -> None:
    layout = broad()
    crossing = next(each for each in lines(layout) if each.way == Way("execution1", "slow2"))
    assert len(points(crossing.path)) == 5
    assert max(x for x, _ in points(crossing.path)) > layout.boxes["slow2"].at(1, 0)[0]


def test_texts_are_cut_to_the_room_they_have() -> None:
    assert fitting("short", 8) == "short"
    assert fitting("a long sentence", 8) == "a long…"
    assert fitting("四四四四四", 6) == "四四…"
    assert fitting("四", 1) == "…"


def node(kind: str, key: str) -> Node:
    return Node(kind=kind, key=key, properties={"text": key})  # type: ignore[arg-type]


def edge(kind: str, source: Node, target: Node) -> Edge:
    return Edge(kind=kind, source=source.ref, target=target.ref)  # type: ignore[arg-type]


def test_a_graph_stands_in_columns_and_no_box_on_another() -> None:
    model, error, fix = node("Model", "m"), node("Error", "e"), node("Fix", "f")
    tasks = [node("Task", f"t{n}") for n in range(5)]
    insights = [node("Insight", f"i{n}") for n in range(5)]
    edges = [edge("LEARNED_FROM", insights[n], tasks[4 - n]) for n in range(5)]
    edges += [edge("USED", each, model) for each in tasks]
    edges += [edge("FIXED_BY", error, fix), edge("CONTRADICTS", insights[0], insights[1])]
    nodes = [model, error, fix, *tasks, *insights]
    drawn = layers(nodes, edges)
    assert [title for _, title in drawn.titles] == [
        "Models",
        "Tasks",
        "Insights",
        "Errors",
        "Fixes and practices",
    ]
    assert len(drawn.boxes) == len(nodes)
    assert len(drawn.lines) == len(edges)
    for one, other in itertools.combinations(drawn.boxes.values(), 2):
        assert not overlap(one, other)
    order = [drawn.boxes[each.ref].y for each in insights]
    across = [drawn.boxes[tasks[4 - n].ref].y for n in range(5)]
    assert order == across, "what hangs together stands beside each other"
    assert layers(nodes[::-1], edges) == drawn


def test_a_graph_without_nodes_or_with_loose_edges_is_drawn_as_far_as_it_goes() -> None:
    assert layers([], []).boxes == {}
    loose = Edge(
        kind="USED",
        source=NodeRef(kind="Task", key="t"),
        target=NodeRef(kind="Model", key="gone"),
    )
    assert layers([node("Task", "t")], [loose]).lines == ()
