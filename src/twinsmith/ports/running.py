"""What a run needs to last: an engine, records, leases, messages, a journal, an outbox."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from twinsmith.core.costs.allowance import Bound, Standing
from twinsmith.core.costs.claim import Claim
from twinsmith.core.driving import DrivingState, Priority
from twinsmith.core.events import Event, Json
from twinsmith.core.run_record import RunRecord

T = TypeVar("T")
Workflow = Callable[[str, Json], Awaitable[Json]]
"""A workflow by its name: takes the run and its input, gives its result."""


class Durable(Protocol):
    """Remembers finished steps of workflows, so that a run goes on where it stopped."""

    async def start(
        self, workflow: str, run: str, given: Json, *, priority: Priority = "normal"
    ) -> None:
        """Queue a workflow that workers know by name; one of the same run is not begun twice."""
        ...

    async def step(self, name: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Do the work once and remember its value; an exception is not remembered.

        Steps are known by the order in which they begin: a flow that goes on has to begin the same
        steps in the same order. Raises EngineError where it does not, RunLost where another worker
        has taken the run over.
        """
        ...

    async def send(self, run: str, topic: str, value: Json) -> bool:
        """Give a run a message and let it go on; False where it has one about this topic."""
        ...

    async def receive(self, topic: str, until: str) -> Json:
        """The message about a topic, remembered as a step; None once the time is over without one.

        Raises Waiting where it has not come: the run leaves its process and goes on later.
        """
        ...


class Leases(Protocol):
    """Lets one worker at a time drive a run: every one that takes it gets a higher fence."""

    def claim(self, run: str, worker: str, *, pipeline: str, living: Sequence[str]) -> int:
        """Take a run for a worker; its new fence. RunBusy where one of `living` drives it."""
        ...

    def check(self, run: str, fence: int) -> None:
        """RunLost where somebody else has taken the run since."""
        ...

    def leave(
        self, run: str, fence: int, state: DrivingState, *, topic: str = "", until: str = ""
    ) -> bool:
        """Let go of a run in a state; False where somebody else has taken it since."""
        ...


class Messages(Protocol):
    """Keeps messages to runs; the first one about a topic is the one that counts."""

    def put(self, run: str, topic: str, value: Json) -> bool:
        """Keep a message; False where there is one about this topic already."""
        ...

    def get(self, run: str, topic: str) -> Json:
        """The message about a topic; None where there is none, or it was closed without one."""
        ...

    def delivered(self, wanted: Collection[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Of these runs and topics, those that have a message."""
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


class Purse(Protocol):
    """Keeps what calls took, and what is set aside for those under way, for every process."""

    def set_aside(self, claim: Claim, bounds: Sequence[Bound]) -> tuple[Standing, ...]:
        """Set a claim aside where all hard bounds have room; else how much of each is spent.

        Nothing is given back where there was room. A call that was paid already has room.
        """
        ...

    def pay(self, claim: Claim) -> None:
        """Keep what a call took, in the place of what was set aside; twice is once."""
        ...

    def give_back(self, key: str) -> None:
        """Drop what was set aside for a call that took nothing."""
        ...

    def standings(self, bounds: Sequence[Bound]) -> tuple[Standing, ...]:
        """How much of each bound is spent, and how much is set aside."""
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
