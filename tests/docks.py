"""The outside world of deliveries on fakes, each part to be looked at and broken."""

from dataclasses import dataclass, field

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.deliveries.canned_examiner import CannedExaminer, CannedScanner
from twinsmith.adapters.deliveries.memory import (
    CannedVisitor,
    MemoryActions,
    MemoryApprovals,
    MemoryApps,
    MemoryOverrides,
    MemoryReleases,
    MemorySecrets,
)
from twinsmith.adapters.durable.memory import MemoryDurable
from twinsmith.adapters.hosting.memory import MemoryHost, MemoryImages, MemoryVolumes
from twinsmith.adapters.journal.memory import MemoryJournal
from twinsmith.adapters.proxy.memory import MemoryProxy
from twinsmith.core.events import Json
from twinsmith.core.operating.action import Action, ActionKind, ActionOutcome, Terms
from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.source import Source
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program
from twinsmith.flow.deliver.deliver import deliver
from twinsmith.flow.deliver.dock import Asking, Dock, Hosting
from twinsmith.wiring.packaging import inventory, pinned

QUICK = Terms(ready_seconds=2.0, canary_seconds=1.0, soak_seconds=2.0, drain_seconds=1.0)
CHECK = Probe(name="works", origin="plan", source="assert True")


def service(mark: str = "1", *, packages: tuple[str, ...] = ()) -> Deliverable:
    """A service whose versions differ by a mark."""
    program = Program(source=f"print({mark!r})\n", kind="service")
    source = Source(program=program, run="r-0", task="a shop", packages=packages)
    return Deliverable(source=source, probes=Probes(checks=(CHECK,)))


@dataclass
class World:
    """Everything outside, each part to be looked at and broken."""

    needed: tuple[str, ...] = ()
    proxy: MemoryProxy = field(default_factory=MemoryProxy)
    examiner: CannedExaminer = field(default_factory=CannedExaminer)
    visitor: CannedVisitor = field(default_factory=CannedVisitor)
    scanner: CannedScanner = field(default_factory=CannedScanner)
    releases: MemoryReleases = field(default_factory=MemoryReleases)
    queue: MemoryActions = field(default_factory=MemoryActions)
    approvals: MemoryApprovals = field(default_factory=MemoryApprovals)
    overrides: MemoryOverrides = field(default_factory=MemoryOverrides)
    images: MemoryImages = field(default_factory=MemoryImages)
    volumes: MemoryVolumes = field(default_factory=MemoryVolumes)
    clock: ManualClock = field(default_factory=ManualClock)
    records: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.journal = MemoryJournal(self.clock)
        self.apps = MemoryApps(self.releases)
        self.host = MemoryHost(self.images, self.volumes)
        self.durable = MemoryDurable(self.clock, self.records)
        self._runs = 0

    @property
    def dock(self) -> Dock:
        """The world as deliveries see it."""
        hosting = Hosting(images=self.images, host=self.host, volumes=self.volumes)
        return Dock(
            hosting=lambda _name: hosting,
            proxy=self.proxy,
            examiner=self.examiner,
            visitor=self.visitor,
            scanner=self.scanner,
            apps=self.apps,
            releases=self.releases,
            queue=self.queue,
            approvals=self.approvals,
            overrides=self.overrides,
            secrets=MemorySecrets(),
            inventory=inventory(),
            pins=pinned(),
            free_port=lambda taken: max([8099, *taken]) + 1,
            asking=Asking(needed=self.needed, seconds=60.0),
            node="",
            durable=self.durable,
            journal=self.journal,
            clock=self.clock,
        )

    def action(
        self, kind: ActionKind = "deploy", mark: str = "", *, terms: Terms = QUICK, **more: object
    ) -> Action:
        """An action with the app `shop`."""
        self._runs += 1
        return Action(
            run=f"run-{self._runs}",
            kind=kind,
            app="shop",
            deliverable=service(mark) if mark else None,
            by="user:ann",
            terms=terms,
            **more,  # type: ignore[arg-type]
        )

    async def do(self, action: Action) -> ActionOutcome:
        """Drive an action to its end, or on from where it stopped."""

        async def workflow(_run: str, given: Json) -> Json:
            return to_json(await deliver(from_json(given, Action), self.dock), ActionOutcome)

        await self.durable.open({"deliver": workflow})
        return from_json(
            await self.durable.drive("deliver", action.run, to_json(action, Action)), ActionOutcome
        )

    async def deploy(self, mark: str, **more: object) -> ActionOutcome:
        """Deploy a version of the service."""
        return await self.do(self.action("deploy", mark, **more))  # type: ignore[arg-type]

    def running(self) -> list[str]:
        """The instances that run."""
        return sorted(n for n, s in self.host.standing.items() if s.status.state == "running")

    async def routed(self) -> list[str]:
        """The instances that requests go to."""
        return [
            upstream.address.split("/")[-2]
            for route in await self.proxy.current()
            for upstream in route.upstreams
        ]
