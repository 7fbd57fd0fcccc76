"""What a run needs to last: steps that are remembered, a journal, an outbox, a clock."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeVar

from twinsmith.core.events import Event
from twinsmith.core.run_record import RunRecord

T = TypeVar("T")


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


class Runs(Protocol):
    """Keeps the records of runs, for every process that begins them or goes on with them."""

    def save(self, record: RunRecord) -> None:
        """Keep a record; one of the same run is replaced."""
        ...

    def get(self, run: str) -> RunRecord | None:
        """The record of a run."""
        ...

    def listed(self) -> tuple[RunRecord, ...]:
        """Every record, oldest first."""
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
