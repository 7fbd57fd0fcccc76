"""Insights: what runs learned, how far each is trusted, and how they are kept in a graph."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast, get_args

from twinsmith.core.knowing.graph import Edge, Neighbour, Node, NodeKind, NodeRef, Value

InsightKind = Literal["counterexample", "fix", "plan", "practice"]
INSIGHT_KINDS: tuple[InsightKind, ...] = get_args(InsightKind)

LONGEST_TEXT = 20_000
# What an outcome still counts for when one more has come after it.
FADING = 0.85

# What an insight of this kind was made of, where that is a thing of its own.
_MADE_OF: Mapping[InsightKind, NodeKind] = {"fix": "Fix", "plan": "Plan", "practice": "Practice"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Whether an insight helped one run that was told it, and when."""

    run: str
    helped: bool
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """An insight: something that a run learned and that later runs should be told."""

    text: str
    kind: InsightKind
    language: str
    """The language that the insight is about; empty: it holds in every language."""
    run: str
    """The run that first learned the insight."""
    learned: str
    """The time at which the insight was learned."""
    subject: str = ""
    """The subject of a counterexample; two that say different things about it contradict."""
    error: str = ""
    """The error that a fix mends."""
    key: str = ""
    """A key made from the insight's words when it is recorded: the same insight is kept once."""
    outcomes: tuple[Outcome, ...] = ()
    """The outcomes of the runs that were told the insight, one a run, in the order of time."""
    contradicts: Mapping[str, str] = field(default_factory=dict)
    """Keys of insights that contradict this one, and their texts where they are known."""

    @property
    def helped(self) -> int:
        """The number of runs that the insight helped."""
        return sum(outcome.helped for outcome in self.outcomes)

    @property
    def failed(self) -> int:
        """The number of runs that the insight did not help."""
        return len(self.outcomes) - self.helped


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """An insight of an earlier run, as a later one is told it."""

    key: str
    text: str


def weight(insight: Insight) -> float:
    """How likely an insight is to help the next run, between 0 and 1.

    The mean of a Beta distribution that starts even, (1 + helped) / (2 + helped + failed), where
    an outcome counts FADING times less for each one that came after it. What was never tried
    weighs 0.5, so it is tried before what failed and after what helped; what stops helping falls
    below 0.5 after a few failures, however often it helped long ago.
    """
    helped = failed = 0.0
    for age, outcome in enumerate(reversed(insight.outcomes)):
        if outcome.helped:
            helped += FADING**age
        else:
            failed += FADING**age
    return (1 + helped) / (2 + helped + failed)


def settled(insight: Insight) -> Insight:
    """The insight as it is kept: its text whole characters and not too long, and with its key.

    It comes from programs and models, which must not be able to stop a run by what they print.
    """
    text, subject, error = map(_clean, (insight.text, insight.subject, insight.error))
    told = (insight.kind, insight.language, subject, error, text)
    key = insight.key or _digest(*told)
    return replace(insight, text=text, subject=subject, error=error, key=key)


def nodes_of(insights: Iterable[Insight], task: str, models: Iterable[str]) -> list[Node]:
    """The graph's nodes for the insights of a run, its task and its models."""
    nodes = [Node(kind="Model", key=model, properties={"text": model}) for model in models]
    for insight in insights:
        told = {
            "text": insight.text,
            "kind": insight.kind,
            "language": insight.language,
            "subject": insight.subject,
            "error": insight.error,
        }
        nodes.append(Node(kind="Insight", key=insight.key, properties=told))
        if task:
            about = {"text": _clean(task), "language": insight.language}
            nodes.append(Node(kind="Task", key=insight.run, properties=about))
        if insight.kind in _MADE_OF:
            made_of = {"text": insight.text, "language": insight.language}
            nodes.append(Node(kind=_MADE_OF[insight.kind], key=insight.key, properties=made_of))
        if insight.error:
            what: dict[str, Value] = {"text": insight.error, "language": insight.language}
            nodes.append(Node(kind="Error", key=_error_ref(insight).key, properties=what))
    return nodes


def edges_of(insights: Iterable[Insight], models: Iterable[str]) -> list[Edge]:
    """The graph's edges between the insights of a run, its task and its models."""
    edges: list[Edge] = []
    used = [NodeRef(kind="Model", key=model) for model in models]
    for insight in insights:
        own, task = ref_of(insight.key), NodeRef(kind="Task", key=insight.run)
        at = {"at": insight.learned}
        edges.append(Edge(kind="LEARNED_FROM", source=own, target=task, properties=at))
        edges += [Edge(kind="USED", source=task, target=model) for model in used]
        edges += [
            Edge(kind="CONTRADICTS", source=own, target=ref_of(other))
            for other in insight.contradicts
        ]
        made_of = _MADE_OF.get(insight.kind)
        if made_of is not None:
            thing = NodeRef(kind=made_of, key=insight.key)
            edges.append(Edge(kind="LEARNED_FROM", source=own, target=thing))
            edges.append(Edge(kind="USED", source=task, target=thing))
        if insight.error:
            error = _error_ref(insight)
            edges.append(Edge(kind="CAUSED", source=task, target=error))
            if made_of == "Fix":
                edges.append(Edge(kind="FIXED_BY", source=error, target=thing))
    return edges


def outcome_edge(key: str, outcome: Outcome) -> Edge:
    """The outcome of a run as an edge between the insight and that run."""
    return Edge(
        kind="HELPED" if outcome.helped else "FAILED",
        source=ref_of(key),
        target=NodeRef(kind="Task", key=outcome.run),
        properties={"at": outcome.at},
    )


def insights_from(nodes: Iterable[Node], neighbours: Iterable[Neighbour]) -> tuple[Insight, ...]:
    """The insights that nodes and edges hold, with their outcomes; empty nodes are left out.

    The first run that learned an insight is named; of a run that told two outcomes the later one
    counts.
    """
    around: dict[str, list[Neighbour]] = {}
    for neighbour in neighbours:
        around.setdefault(neighbour.of.key, []).append(neighbour)
    return tuple(
        _insight(node, around.get(node.key, ()))
        for node in nodes
        if node.properties.get("kind") in INSIGHT_KINDS
    )


def contradicted(insight: Insight, known: Iterable[Node]) -> Insight:
    """The insight with the counterexamples that say something else about the same subject."""
    if insight.kind != "counterexample" or not insight.subject:
        return insight
    about = (insight.kind, insight.language, insight.subject)
    others = {
        node.key: _text(node, "text")
        for node in known
        if about == tuple(_text(node, name) for name in ("kind", "language", "subject"))
        and _text(node, "text") != insight.text
        # Itself, with a secret masked in its text.
        and node.key != insight.key
    }
    return replace(insight, contradicts={**insight.contradicts, **others})


def ref_of(key: str) -> NodeRef:
    """The name of an insight's node."""
    return NodeRef(kind="Insight", key=key)


def _insight(node: Node, around: Sequence[Neighbour]) -> Insight:
    runs: list[tuple[str, str]] = []
    last: dict[str, Outcome] = {}
    contradicts: dict[str, str] = {}
    for neighbour in sorted(around, key=lambda n: _at(n.edge)):
        edge, other = neighbour.edge, neighbour.node
        if edge.kind == "CONTRADICTS":
            contradicts[other.key] = _text(other, "text")
        elif edge.kind == "LEARNED_FROM" and other.kind == "Task":
            runs.append((_at(edge), other.key))
        elif edge.kind in ("HELPED", "FAILED"):
            helped = edge.kind == "HELPED"
            # Taken out first: the order of the dictionary is the order of time.
            last.pop(other.key, None)
            last[other.key] = Outcome(run=other.key, helped=helped, at=_at(edge))
    learned, run = runs[0] if runs else ("", "")
    return Insight(
        key=node.key,
        text=_text(node, "text"),
        kind=cast("InsightKind", _text(node, "kind")),
        language=_text(node, "language"),
        subject=_text(node, "subject"),
        error=_text(node, "error"),
        run=run,
        learned=learned,
        outcomes=tuple(last.values()),
        contradicts=contradicts,
    )


def _error_ref(insight: Insight) -> NodeRef:
    return NodeRef(kind="Error", key=_digest(insight.language, insight.error))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _clean(text: str) -> str:
    return text[:LONGEST_TEXT].encode(errors="replace").decode()


def _text(node: Node, name: str) -> str:
    return str(node.properties.get(name, ""))


def _at(edge: Edge) -> str:
    return str(edge.properties.get("at", ""))
