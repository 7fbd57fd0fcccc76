"""Where deliveries are made: the outside world of an action, and its recorded steps."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Event, Json
from twinsmith.core.operating.app import App
from twinsmith.core.operating.instance import HostName
from twinsmith.core.operating.locked import Pin
from twinsmith.core.people.override import Override, holding
from twinsmith.flow.traced import UNTOLD, Traced
from twinsmith.ports import (
    ActionQueue,
    Approvals,
    Apps,
    Clock,
    Durable,
    Examiner,
    Host,
    Images,
    Inventory,
    Journal,
    Overrides,
    Proxy,
    Releases,
    Scanner,
    SecretBox,
    Telemetry,
    Visitor,
    Volumes,
)

T = TypeVar("T")
LOOK_SECONDS = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosting:
    """One kind of host, with its images and its volumes."""

    images: Images
    host: Host
    volumes: Volumes


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The policy of approvals: for what a person is asked, and for how long."""

    needed: Collection[str] = ()
    seconds: float = 86_400.0
    unanswered: str = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dock:
    """Everything outside that deliveries need."""

    hosting: Callable[[HostName], Hosting]
    proxy: Proxy
    examiner: Examiner
    visitor: Visitor
    scanner: Scanner
    apps: Apps
    releases: Releases
    queue: ActionQueue
    approvals: Approvals
    overrides: Overrides
    secrets: SecretBox
    inventory: Inventory
    pins: Collection[Pin]
    free_port: Callable[[Collection[int]], int]
    """A port that nobody listens at, and that is none of these."""
    asking: Asking
    node: str
    durable: Durable
    journal: Journal
    clock: Clock
    telemetry: Telemetry = UNTOLD


class Refused(Exception):
    """A gate of a release says no; its text is the reason, in words."""


class Held(Exception):
    """A person's override holds the app."""

    def __init__(self, override: Override) -> None:
        super().__init__(override.reason)
        self.override = override


@dataclass
class Note:
    """A line that a stage leaves in the journal."""

    text: str = ""


class Steps:
    """The stages of one action: each step recorded once, none begun while an override holds."""

    def __init__(self, run: str, app: str, dock: Dock, *, trace: str = "") -> None:
        self._run = run
        self._app = app
        self._dock = dock
        self._traced = Traced(run, trace, dock.telemetry, dock.clock)

    async def step(self, name: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Do work once and remember its value; Held where an override comes before or meanwhile.

        What cannot be as a person or a model wants it is a refusal: ConfigError becomes one.
        """

        async def watched() -> T:
            return await self.watched(work)

        try:
            return await self._dock.durable.step(name, self._traced.step(name, watched), kind)
        except ConfigError as error:
            raise Refused(str(error)) from error

    async def watched(self, work: Callable[[], Awaitable[T]]) -> T:
        """The value of work that an override ends at once."""
        self.refuse_held()
        task = asyncio.ensure_future(work())
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=LOOK_SECONDS)
                if not task.done():
                    self.refuse_held()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        return task.result()

    def refuse_held(self) -> None:
        """Held where an override holds the app."""
        found = holding(self._dock.overrides.listed(), self._app)
        if found is not None:
            raise Held(found)

    async def tell(self, kind: str, *, key: str, data: Mapping[str, Json]) -> None:
        """Keep one event in the journal of the run; telling it again changes nothing."""
        event = Event(run=self._run, kind=kind, who="twinsmith", data=data, key=f"{kind}:{key}")
        await self._dock.journal.append(event)

    @asynccontextmanager
    async def stage(self, name: str) -> AsyncIterator[Note]:
        """Journal the beginning and the end of a stage; a refusal is its note."""
        await self.tell("stage.started", key=name, data={"stage": name})
        note = Note()
        try:
            with self._traced.stage(name):
                yield note
        except Refused as no:
            await self.tell("stage.finished", key=name, data={"stage": name, "note": str(no)})
            raise
        await self.tell("stage.finished", key=name, data={"stage": name, "note": note.text})


def known_app(dock: Dock, name: str) -> App:
    """The app of that name; Refused where there is none any more."""
    app = dock.apps.get(name)
    if app is None:
        raise Refused(f"there is no app {name} any more; see: twinsmith apps")
    return app
