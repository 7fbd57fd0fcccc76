"""Insights of runs: recorded once, weighed by what became of them, found again by words."""

from collections.abc import Sequence

from twinsmith.core.knowing.graph import EdgeKind, Node, asked_words, hits
from twinsmith.core.knowing.insight import (
    Insight,
    Outcome,
    contradicted,
    edges_of,
    insights_from,
    nodes_of,
    outcome_edge,
    ref_of,
    settled,
    weight,
)
from twinsmith.ports import Graph

# So many insights and relations of theirs are looked at to answer one question.
MOST_INSIGHTS = 10_000
MOST_RELATIONS = 200_000
# Insights that are looked up by their subject to see what they contradict.
MOST_RIVALS = 100
_AROUND: tuple[EdgeKind, ...] = ("LEARNED_FROM", "HELPED", "FAILED", "CONTRADICTS")


async def record(
    graph: Graph, learned: Sequence[Insight], *, task: str = "", models: Sequence[str] = ()
) -> tuple[Insight, ...]:
    """Keep what a run learned, with its task and models; doing it twice is harmless.

    Gives the insights with their keys, by which their outcomes are told later.
    """
    new = [settled(insight) for insight in learned]
    rivals = nodes_of(new, "", ())
    for subject in {insight.subject for insight in new if insight.subject}:
        rivals += await graph.find("Insight", (), {"subject": subject}, MOST_RIVALS)
    kept = tuple(contradicted(insight, rivals) for insight in new)
    await graph.upsert_nodes(nodes_of(kept, task, models))
    await graph.upsert_edges(edges_of(kept, models))
    return kept


async def tell_outcomes(graph: Graph, keys: Sequence[str], outcome: Outcome) -> None:
    """Remember what became of a run that was given these insights; twice counts once."""
    await graph.upsert_edges([outcome_edge(key, outcome) for key in keys])


async def insights(
    graph: Graph, *, about: str = "", language: str = "", limit: int = 20
) -> tuple[Insight, ...]:
    """The insights that have half of the words asked about, those that help most first.

    Insights that hold in every language belong to each.
    """
    words = asked_words(about)
    if about.strip() and not words:
        return ()
    nodes: list[Node] = []
    for of in (language, "") if language else ("",):
        where = {"language": of} if language else {}
        nodes += await graph.find("Insight", words, where, MOST_INSIGHTS)
    fitting = {n.key: hits(words, n.properties) for n in nodes}
    nodes = [node for node in nodes if 2 * fitting[node.key] >= len(words)]
    refs = [ref_of(node.key) for node in nodes]
    around = await graph.neighbours(refs, _AROUND, "both", MOST_RELATIONS)
    found = list(insights_from(nodes, around))
    found.sort(key=lambda insight: insight.learned, reverse=True)
    found.sort(key=lambda insight: (fitting[insight.key] or 1) * weight(insight), reverse=True)
    return tuple(found[: max(limit, 0)])
