"""What building a program needs from outside: models, sandbox, knowledge."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from twinsmith.core.execution import Execution, Limits
from twinsmith.core.knowing.graph import (
    Direction,
    Edge,
    EdgeKind,
    Neighbour,
    Node,
    NodeKind,
    NodeRef,
)
from twinsmith.core.knowing.knowledge import Built, Channel, Hit
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program
from twinsmith.core.verdict import Finding

T = TypeVar("T")


class Model(Protocol):
    """Answers questions."""

    async def ask(self, prompt: Prompt) -> Reply:
        """One answer of at most `max_tokens`; asked again with the same key it is not billed again.

        Raises ModelUnavailable when nobody can answer.
        """
        ...


class Sandbox(Protocol):
    """Runs what a model wrote."""

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        """Run every probe on the program; whatever the program does is a result.

        Raises SandboxError only when the sandbox itself is broken.
        """
        ...


class Reviewer(Protocol):
    """Reads what a model wrote."""

    async def review(self, program: Program) -> tuple[Finding, ...]:
        """What can be seen without running the program, what blocks it first.

        Raises SandboxError only when the sandbox itself is broken.
        """
        ...


class Retriever(Protocol):
    """Finds what is known, and keeps what was made."""

    async def search(
        self, query: str, k: int, language: str = "", channel: Channel | None = None
    ) -> tuple[Hit, ...]:
        """The passages that answer a question, best first; nothing where there is only noise.

        Without a channel, the one that suits the question.
        """
        ...

    async def keep(self, made: Built) -> str:
        """Keep a verified program, once for each run; in words, what became of it.

        Raises EngineError, ConfigError or ModelUnavailable when it cannot be kept now.
        """
        ...


class Graph(Protocol):
    """Remembers what was learned, as things and how they hang together."""

    async def upsert_nodes(self, nodes: Sequence[Node]) -> None:
        """Keep nodes, all or none; one that is known has these properties from now on.

        Raises EngineError, as all of these do, when the graph cannot be used.
        """
        ...

    async def upsert_edges(self, edges: Sequence[Edge]) -> None:
        """Keep edges, all or none, with their nodes: one that is not known has no properties."""
        ...

    async def neighbours(
        self, of: Sequence[NodeRef], kinds: Sequence[EdgeKind], direction: Direction, limit: int
    ) -> tuple[Neighbour, ...]:
        """What edges of these kinds lead to, or come from; always in the same order."""
        ...

    async def find(
        self, kind: NodeKind, words: Sequence[str], where: Mapping[str, str], limit: int
    ) -> tuple[Node, ...]:
        """Nodes with exactly these properties and any of these words, most words first.

        Words are such as `asked_words` makes of a question; without any, they do not matter.
        """
        ...
