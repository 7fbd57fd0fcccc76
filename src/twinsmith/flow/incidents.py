"""Incidents in the graph: what caused one, what mended it and what did not, found the next time."""

import hashlib

from twinsmith.core.knowing.graph import Edge, Neighbour, Node, NodeRef, asked_words, hits
from twinsmith.core.knowing.insight import Reminder
from twinsmith.core.operating.incident import Attempt, Incident
from twinsmith.core.operating.trouble import Trouble
from twinsmith.ports import Graph

MOST_LOOKED_AT = 50
MOST_TOLD = 2
MOST_AROUND = 100
LONGEST_FIX, LONGEST_TOLD = 4000, 300


async def learn(incident: Incident, fixes: dict[str, str], graph: Graph) -> None:
    """Keep an incident that is over with its causes, its fixes and the release that ended it.

    `fixes` are what each attempt changed, by its run. Doing it twice is harmless.
    """
    own = NodeRef(kind="Incident", key=incident.id)
    first = incident.alarms[0].evidence if incident.alarms else ""
    said = incident.evidence.said[-1] if incident.evidence.said else ""
    about = {"text": f"{incident.kind}: {first}", "error": said, "subject": incident.app}
    nodes = [Node(kind=own.kind, key=own.key, properties=about)]
    edges: list[Edge] = []
    for attempt in incident.attempts:
        more, between = _of_attempt(own, incident, attempt, fixes.get(attempt.run, ""))
        nodes += more
        edges += between
    await graph.upsert_nodes(nodes)
    await graph.upsert_edges(edges)


def _of_attempt(
    own: NodeRef, incident: Incident, attempt: Attempt, changed: str
) -> tuple[list[Node], list[Edge]]:
    nodes: list[Node] = []
    edges: list[Edge] = []
    if attempt.cause:
        key = hashlib.sha256(attempt.cause.encode()).hexdigest()[:16]
        nodes.append(Node(kind="Error", key=key, properties={"text": attempt.cause}))
        edges.append(Edge(kind="CAUSED", source=nodes[-1].ref, target=own))
    if changed:
        text = {"text": changed[:LONGEST_FIX], "why": attempt.why}
        nodes.append(Node(kind="Fix", key=attempt.run, properties=text))
        fix = nodes[-1].ref
        edges.append(Edge(kind="FIXED_BY" if attempt.helped else "FAILED", source=own, target=fix))
        if attempt.release:
            release = NodeRef(kind="Release", key=f"{incident.app} {attempt.release}")
            nodes.append(Node(kind="Release", key=release.key, properties={"app": incident.app}))
            edges.append(Edge(kind="USED", source=release, target=fix))
    return nodes, edges


async def similar(trouble: Trouble, graph: Graph) -> tuple[Reminder, ...]:
    """What is known of earlier incidents that were told in at least half of the same words."""
    last = trouble.evidence.said[-1] if trouble.evidence.said else ""
    words = asked_words(f"{trouble.kind} {last or trouble.told}")
    nodes = await graph.find("Incident", words, {}, MOST_LOOKED_AT)
    fitting = {node.key: hits(words, node.properties) for node in nodes}
    alike = [n for n in nodes if n.key != trouble.incident and 2 * fitting[n.key] >= len(words)]
    alike.sort(key=lambda node: fitting[node.key], reverse=True)
    told = []
    for node in alike[:MOST_TOLD]:
        around = await graph.neighbours(
            [node.ref], ("CAUSED", "FIXED_BY", "FAILED"), "both", MOST_AROUND
        )
        told.append(Reminder(key=node.key, text=_told(node, around)))
    return tuple(told)


def _told(node: Node, around: tuple[Neighbour, ...]) -> str:
    """An earlier incident in a few lines: its cause, what mended it, what did not."""
    words = {"CAUSED": "caused by", "FIXED_BY": "mended by", "FAILED": "not mended by"}
    lines = [f"earlier incident, {node.properties.get('text', '')}"]
    for each in around:
        text = str(each.node.properties.get("text", ""))[:LONGEST_TOLD]
        if text:
            lines.append(f"{words[each.edge.kind]}: {text}")
    return "\n".join(lines)
