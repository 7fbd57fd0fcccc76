"""A graph that no secret reaches: what is one, or looks like one, is masked before it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from twinsmith.core.knowing.graph import (
    Direction,
    Edge,
    EdgeKind,
    Neighbour,
    Node,
    NodeKind,
    NodeRef,
    Value,
)
from twinsmith.core.masking import Masking
from twinsmith.ports import Graph


class MaskedGraph:
    """Another graph, behind a mask."""

    def __init__(self, graph: Graph, masking: Masking) -> None:
        self._graph = graph
        self._masking = masking

    async def upsert_nodes(self, nodes: Sequence[Node]) -> None:
        """Keep nodes without secrets."""
        masked = [replace(node, properties=self._masked(node.properties)) for node in nodes]
        await self._graph.upsert_nodes(masked)

    async def upsert_edges(self, edges: Sequence[Edge]) -> None:
        """Keep edges without secrets."""
        masked = [replace(edge, properties=self._masked(edge.properties)) for edge in edges]
        await self._graph.upsert_edges(masked)

    async def neighbours(
        self, of: Sequence[NodeRef], kinds: Sequence[EdgeKind], direction: Direction, limit: int
    ) -> tuple[Neighbour, ...]:
        """What hangs together with these nodes."""
        return await self._graph.neighbours(of, kinds, direction, limit)

    async def find(
        self, kind: NodeKind, words: Sequence[str], where: Mapping[str, str], limit: int
    ) -> tuple[Node, ...]:
        """Nodes of a kind."""
        return await self._graph.find(kind, words, where, limit)

    def _masked(self, properties: Mapping[str, Value]) -> dict[str, Value]:
        return {
            name: self._masking.text(value) if isinstance(value, str) else value
            for name, value in properties.items()
        }
