"""A graph in dictionaries, for tests and dry runs."""

from collections.abc import Iterator, Mapping, Sequence

from twinsmith.core.knowing.graph import (
    Direction,
    Edge,
    EdgeKind,
    Neighbour,
    Node,
    NodeKind,
    NodeRef,
    check_name,
    hits,
    in_order,
)


class MemoryGraph:
    """Keeps everything as long as the process lives."""

    def __init__(self) -> None:
        self._nodes: dict[NodeRef, Node] = {}
        self._edges: dict[tuple[EdgeKind, NodeRef, NodeRef], Edge] = {}

    async def upsert_nodes(self, nodes: Sequence[Node]) -> None:
        """Keep nodes."""
        self._nodes.update((node.ref, node) for node in nodes)

    async def upsert_edges(self, edges: Sequence[Edge]) -> None:
        """Keep edges."""
        for edge in edges:
            for end in (edge.source, edge.target):
                self._nodes.setdefault(end, Node(kind=end.kind, key=end.key))
            self._edges[edge.kind, edge.source, edge.target] = edge

    async def neighbours(
        self, of: Sequence[NodeRef], kinds: Sequence[EdgeKind], direction: Direction, limit: int
    ) -> tuple[Neighbour, ...]:
        """What hangs together with these nodes."""
        found = [n for n in self._around(set(of), direction) if n.edge.kind in kinds]
        return tuple(sorted(found, key=in_order)[: max(limit, 0)])

    async def find(
        self, kind: NodeKind, words: Sequence[str], where: Mapping[str, str], limit: int
    ) -> tuple[Node, ...]:
        """Nodes of a kind."""
        wanted = {check_name(name): value for name, value in where.items()}
        fitting = [
            (-hits(words, node.properties), node.key, node)
            for node in self._nodes.values()
            if node.kind == kind and wanted.items() <= node.properties.items()
        ]
        best = sorted(row for row in fitting if row[0] or not words)
        return tuple(node for _, _, node in best[: max(limit, 0)])

    def _around(self, of: set[NodeRef], direction: Direction) -> Iterator[Neighbour]:
        for edge in self._edges.values():
            if direction != "in" and edge.source in of:
                yield Neighbour(of=edge.source, edge=edge, node=self._nodes[edge.target])
            # A node that hangs together with itself is its own neighbour once.
            once = direction == "both" and edge.source == edge.target
            if direction != "out" and edge.target in of and not once:
                yield Neighbour(of=edge.target, edge=edge, node=self._nodes[edge.source])
