"""The hands of the self-healing agent: what is kept, begun and told for every deed."""

from dataclasses import dataclass, field, replace

import pytest

from tests.unit.core.test_remedy import SHOP, alarm, incident, situation
from twinsmith.adapters.deliveries.incidents import MemoryIncidents
from twinsmith.core.operating.action import Action, ActionKind
from twinsmith.core.operating.alarm import Severity
from twinsmith.core.operating.incident import Incident, moved
from twinsmith.flow.operate.heal import Ward, heal


@dataclass
class Told:
    """A ward that writes down what it is asked for."""

    incidents: MemoryIncidents = field(default_factory=MemoryIncidents)
    begun: list[Action] = field(default_factory=list)
    said: list[tuple[Severity, str]] = field(default_factory=list)
    kept_first: list[str] = field(default_factory=list)
    dies: bool = False

    @property
    def ward(self) -> Ward:
        return Ward(incidents=self.incidents, act=self.act, begin=self.begin, tell=self.tell)

    def act(self, about: Incident, kind: ActionKind, to: int) -> Action:
        return Action(run=f"r-{len(self.begun) + 1}", kind=kind, app=about.app, to=to)

    async def begin(self, action: Action) -> None:
        known = self.incidents.get("i-1")
        self.kept_first.append(known.run if known else "")
        if self.dies:
            raise KeyboardInterrupt
        self.begun.append(action)

    async def tell(self, _about: Incident, severity: Severity, text: str) -> None:
        self.said.append((severity, text))


async def test_a_rollback_is_kept_before_it_is_begun() -> None:
    world = Told()
    after = await heal(incident("memory leak"), situation(alarm("memory leak")), world.ward)
    assert (after.stage, after.run) == ("rolling back", "r-1")
    assert [(each.kind, each.to) for each in world.begun] == [("rollback", 1)]
    assert world.kept_first == ["r-1"]
    assert world.incidents.get("i-1") == after
    assert world.said == [("warning", "rollback shop to 1: memory leak: seen")]


async def test_a_restart_is_counted() -> None:
    world = Told()
    after = await heal(incident("hang"), situation(alarm("hang")), world.ward)
    assert (after.stage, after.restarts, world.begun[0].kind) == ("restarted", 1, "restart")


async def test_a_kill_between_keeping_and_beginning_is_made_up_for() -> None:
    world = Told(dies=True)
    with pytest.raises(KeyboardInterrupt):
        await heal(incident("memory leak"), situation(alarm("memory leak")), world.ward)
    kept = world.incidents.get("i-1")
    assert kept is not None
    world.dies = False
    await heal(kept, situation(), world.ward)
    assert [each.kind for each in world.begun] == ["rollback"]


async def test_waiting_changes_nothing() -> None:
    world = Told()
    held = situation(alarm("hang"), held="pause by ann")
    assert await heal(incident("hang"), held, world.ward) == incident("hang")
    assert (world.begun, world.said, world.incidents.listed(over=True)) == ([], [], ())


async def test_the_end_is_told_quietly_and_a_call_for_a_person_is_not() -> None:
    world = Told()
    back = moved(incident("errors"), "rolling back", "x", 100.0, run="r")
    served = situation(app=replace(SHOP, serving=1), now=140.0)
    assert (await heal(back, served, world.ward)).stage == "escalated"
    ended = await heal(incident("crash"), situation(now=140.0), world.ward)
    assert ended.stage == "closed"
    assert [severity for severity, _ in world.said] == ["critical", "info"]
