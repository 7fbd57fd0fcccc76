"""The parts that twinsmith is made of, as its architecture draws them, and the ways between."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

PartName = Literal[
    "slow1",
    "coder1",
    "critic1",
    "execution1",
    "slow2",
    "coder2",
    "critic2",
    "execution2",
    "models",
    "manager",
    "retriever",
    "vectors",
    "graph",
    "log",
    "behaviour",
    "containers",
    "monitor",
    "healer",
    "approvals",
    "override",
    "queue",
]
PART_NAMES: tuple[PartName, ...] = get_args(PartName)
Kind = Literal["slow", "coder", "critic", "execution"]
ENSEMBLES = (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part: its name, and in one sentence what it does."""

    name: PartName
    title: str
    short: str
    """A title for where there is little room."""
    does: str
    page: str
    """The page of the console that shows it."""


@dataclass(frozen=True, slots=True, order=True)
class Way:
    """The way by which something passes from one part to another."""

    source: PartName
    target: PartName


def of(kind: Kind, ensemble: int) -> PartName:
    """The part of a kind in an ensemble, 1 or 2."""
    return PART_NAMES[(ensemble - 1) * 4 + ("slow", "coder", "critic", "execution").index(kind)]


def _ensemble(number: int) -> Iterator[Part]:
    other = 3 - number
    told: tuple[tuple[Kind, str, str, str], ...] = (
        (
            "slow",
            "Slow thinker",
            "Slow thinker",
            f"The large model that reads the task, plans, and learns what ensemble {other} found.",
        ),
        (
            "coder",
            "Fast coder",
            "Fast coder",
            "The smaller model that writes candidates by the plan and mends them.",
        ),
        (
            "critic",
            "Actor-critic",
            "Actor-critic",
            "The smaller model that proposes checks and judges what candidates gave.",
        ),
        (
            "execution",
            "Execution environment",
            "Execution",
            "The sandbox that runs every candidate against all checks, without a network.",
        ),
    )
    for kind, title, short, does in told:
        name = of(kind, number)
        yield Part(name=name, title=f"{title} {number}", short=short, does=does, page="/runs")


PARTS: dict[PartName, Part] = {
    part.name: part
    for part in (
        *_ensemble(1),
        *_ensemble(2),
        Part(
            name="models",
            title="Language models",
            short="Models",
            does="The frontier models, local servers or the embedded model that answer.",
            page="/models",
        ),
        Part(
            name="manager",
            title="Model query manager",
            short="Gateway",
            does="The one gateway to all models: it routes, repeats, caches and counts the cost.",
            page="/models",
        ),
        Part(
            name="retriever",
            title="Retriever and embedder",
            short="Retriever",
            does="Turns a question into a vector and brings back the passages that answer it.",
            page="/knowledge",
        ),
        Part(
            name="vectors",
            title="FAISS vectors",
            short="FAISS",
            does="The index of all passages: documentation, taught texts and programs that worked.",
            page="/knowledge#sources",
        ),
        Part(
            name="graph",
            title="Knowledge graph",
            short="Insights",
            does="Remembers what runs learned, and whether it helped the next ones.",
            page="/knowledge#insights",
        ),
        Part(
            name="log",
            title="Execution log",
            short="Log",
            does="Keeps every event in chains of hashes, so that no change goes unseen.",
            page="/journal",
        ),
        Part(
            name="behaviour",
            title="Model behaviour",
            short="Behaviour",
            does="Tells from the log how each model does: speed, cost, what became of its code.",
            page="/models#behaviour",
        ),
        Part(
            name="containers",
            title="Container deployment",
            short="Containers",
            does="Packs, tries and releases programs in Docker, Podman or its own walls.",
            page="/apps",
        ),
        Part(
            name="monitor",
            title="Deployment monitor",
            short="Monitor",
            does="Looks after every app each second and raises an alarm when one is in trouble.",
            page="/apps",
        ),
        Part(
            name="healer",
            title="Self-healing agent",
            short="Self-healing",
            does="Restarts, rolls back or mends an app in trouble, and calls a person if it fails.",
            page="/incidents",
        ),
        Part(
            name="approvals",
            title="Approval requests",
            short="Approvals",
            does="Asks a person before anything risky happens, and for what only a person knows.",
            page="/approvals",
        ),
        Part(
            name="override",
            title="Override console",
            short="Override",
            does="Where people approve, reject, and stop everything that is automatic.",
            page="/approvals#override",
        ),
        Part(
            name="queue",
            title="Execution queue",
            short="Queue",
            does="Holds actions that were approved, and does them one after the other for an app.",
            page="/approvals#queue",
        ),
    )
}


def _ways() -> Iterator[tuple[PartName, PartName, str]]:
    """Every way of the architecture, and what passes by it."""
    for number in ENSEMBLES:
        slow, coder = of("slow", number), of("coder", number)
        critic, execution = of("critic", number), of("execution", number)
        yield slow, coder, "guidance"
        yield slow, critic, "feedback"
        yield coder, execution, "code"
        yield critic, execution, "evaluations"
        yield execution, critic, "results"
        yield execution, coder, "requests to refine"
        yield slow, "retriever", "questions for context"
        yield coder, "retriever", "questions for code samples"
        yield slow, "manager", "clarification requests"
        yield coder, "manager", "best-practice lookups"
        yield critic, "manager", "questions about results"
        yield execution, "log", "executions"
        yield execution, "containers", "code to deploy"
        yield execution, of("slow", 3 - number), "insights"
    yield "manager", "models", "queries"
    yield "models", "manager", "responses"
    yield "retriever", "vectors", "queries"
    yield "vectors", "retriever", "relevant data"
    yield "retriever", "graph", "what was learned"
    yield "graph", "retriever", "insights"
    yield "log", "behaviour", "calls and results"
    yield "containers", "monitor", "deployment status"
    yield "monitor", "healer", "detected failures"
    yield "healer", "containers", "retried deployments"
    yield "healer", "approvals", "escalations"
    yield "approvals", "override", "requests for approval"
    yield "override", "queue", "approvals and rejections"
    yield "queue", "containers", "approved requests"


WAYS: dict[Way, str] = {Way(source, target): what for source, target, what in _ways()}
"""Every way, and what passes by it."""
