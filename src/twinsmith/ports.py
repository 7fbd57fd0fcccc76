"""What the flow needs from the outside world, and nothing more."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from twinsmith.core.events import Event
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


class Desk(Protocol):
    """Asks a person."""

    async def ask(self, question: str, assumed: str) -> str:
        """What the person answers; what is assumed, where nobody does in time."""
        ...


class Journal(Protocol):
    """Remembers what happened."""

    async def append(self, event: Event) -> None:
        """Keep an event for ever; an event whose key the run already has is not kept twice."""
        ...


class Outbox(Protocol):
    """Hands finished work to a person."""

    async def publish(self, run: str, out: str, files: Mapping[str, str]) -> None:
        """Put all files in the folder `out` or none; doing it twice for one run is harmless."""
        ...


class Durable(Protocol):
    """Remembers finished steps, so that a run goes on where it stopped."""

    async def drive(self, run: str, flow: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Run a flow to its end, or give its recorded end; continues one that was interrupted.

        Whatever exception leaves the flow is raised here and is not recorded: the run stays
        open and can be driven again. Raises RunCancelled when a person cancelled it.
        """
        ...

    async def step(self, name: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Do the work once and remember its value; an exception is not remembered.

        Steps are known by the order in which they begin: a flow that goes on has to begin the same
        steps in the same order. Raises EngineError where it does not.
        """
        ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> str:
        """This moment in UTC, ISO 8601 with microseconds."""
        ...

    def seconds(self) -> float:
        """A reading that only grows, for differences."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
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
