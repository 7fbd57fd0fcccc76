"""What was learned as people look at it: insights, and the things that hang together with them."""

from twinsmith.core.knowing.graph import EDGE_KINDS, Edge, Neighbour, Node, NodeRef
from twinsmith.core.knowing.insight import ref_of
from twinsmith.runs.book import Book

MOST_NODES = 40
MOST_INSIGHTS = 12
MOST_INCIDENTS = 4
MOST_AROUND = 400


async def insight_map(book: Book) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """The most helpful insights and the latest incidents with what is around them, not too much."""
    from twinsmith.flow.insights import insights
    from twinsmith.wiring.graph import opened_graph

    async with opened_graph(book.settings) as graph:
        best = await insights(graph, limit=MOST_INSIGHTS)
        incidents = await graph.find("Incident", (), {}, MOST_INCIDENTS)
        refs = [*(ref_of(each.key) for each in best), *(each.ref for each in incidents)]
        known = {
            each.key: Node(
                kind="Insight", key=each.key, properties={"text": each.text, "kind": each.kind}
            )
            for each in best
        }
        around = await graph.neighbours(refs, EDGE_KINDS, "both", MOST_AROUND)
        further = [each.node.ref for each in around if each.node.ref not in refs]
        wider = await graph.neighbours(
            list(dict.fromkeys(further)), EDGE_KINDS, "both", MOST_AROUND
        )
    return chosen((*known.values(), *incidents), (*around, *wider))


def chosen(
    first: tuple[Node, ...], around: tuple[Neighbour, ...]
) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """The nodes that come first and as many around them as have room, with the edges between."""
    nodes: dict[NodeRef, Node] = {each.ref: each for each in first[:MOST_NODES]}
    for each in around:
        # An insight or a task that stands only two steps away says little about the first.
        near = each.of in nodes and each.node.kind != "Insight"
        if near and each.node.ref not in nodes and len(nodes) < MOST_NODES:
            nodes[each.node.ref] = each.node
    edges: dict[tuple[str, NodeRef, NodeRef], Edge] = {}
    for each in around:
        edge = each.edge
        if edge.source in nodes and edge.target in nodes:
            edges[edge.kind, edge.source, edge.target] = edge
    return tuple(nodes.values()), tuple(edges.values())
