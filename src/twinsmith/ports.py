"""What the flow needs from the outside world, and nothing more."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeVar

from twinsmith.core.events import Event
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program

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
        """Do the work once and remember its value; an exception is not remembered."""
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
