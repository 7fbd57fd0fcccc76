"""The hands of the self-healing agent: what is kept, begun and told for every deed."""

from dataclasses import dataclass, field, replace

import pytest

from tests.cart import cart_job
from tests.unit.core.test_remedy import SHOP, alarm, incident, situation
from twinsmith.adapters.deliveries.incidents import MemoryIncidents
from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.action import Action, ActionKind
from twinsmith.core.operating.alarm import Severity
from twinsmith.core.operating.incident import Attempt, Incident, moved
from twinsmith.core.task import Job
from twinsmith.flow.operate.heal import Ward, answered, heal


@dataclass
class Told:
    """A ward that writes down what it is asked for."""

    incidents: MemoryIncidents = field(default_factory=MemoryIncidents)
    begun: list[Action] = field(default_factory=list)
    said: list[tuple[Severity, str]] = field(default_factory=list)
    kept_first: list[str] = field(default_factory=list)
    dies: bool = False
    unfit: str = ""
    """Why nothing can be built or released."""
    mended: list[str] = field(default_factory=list)
    learned: list[Incident] = field(default_factory=list)

    @property
    def ward(self) -> Ward:
        return Ward(
            incidents=self.incidents,
            act=self.act,
            begin=self.begin,
            fixing=self.fixing,
            mend=self.mend,
            learn=self.learn,
            tell=self.tell,
        )

    def act(self, about: Incident, kind: ActionKind, to: int) -> Action:
        if kind == "deploy" and self.unfit:
            raise ConfigError(self.unfit)
        return Action(run=f"r-{len(self.begun) + 1}", kind=kind, app=about.app, to=to)

    async def begin(self, action: Action) -> None:
        known = self.incidents.get("i-1")
        self.kept_first.append(known.run if known else "")
        if self.dies:
            raise KeyboardInterrupt
        self.begun.append(action)

    def fixing(self, about: Incident) -> Job:
        if self.unfit:
            raise ConfigError(self.unfit)
        return replace(cart_job(), run=f"f-{len(about.attempts) + 1}")

    async def mend(self, job: Job) -> None:
        known = self.incidents.get("i-1")
        assert known is not None
        assert known.run == job.run
        self.mended.append(job.run)

    async def learn(self, about: Incident) -> None:
        self.learned.append(about)

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
    assert await heal(kept, situation(), world.ward) == kept
    await heal(kept, situation(lost=True), world.ward)
    assert [each.kind for each in world.begun] == ["rollback"]


async def test_waiting_changes_nothing() -> None:
    world = Told()
    held = situation(alarm("hang"), held="pause by ann")
    assert await heal(incident("hang"), held, world.ward) == incident("hang")
    assert (world.begun, world.said, world.incidents.listed(over=True)) == ([], [], ())


async def test_the_end_is_told_quietly_and_a_call_for_a_person_is_not() -> None:
    world = Told()
    asked = await heal(incident("disk growth"), situation(alarm("disk growth")), world.ward)
    assert (asked.stage, world.begun[0].kind) == ("escalated", "hand over")
    ended = await heal(incident("crash"), situation(now=140.0), world.ward)
    assert ended.stage == "closed"
    assert [severity for severity, _ in world.said] == ["critical", "info"]


BACK = replace(SHOP, serving=1)
ROLLED = moved(incident("errors"), "rolling back", "x", 100.0, run="r")


async def test_a_fix_is_kept_before_it_is_begun_then_released_and_proven() -> None:
    world = Told()
    searching = await heal(ROLLED, situation(app=BACK, now=140.0), world.ward)
    assert (searching.stage, searching.run, searching.mended) == ("fixing", "f-1", 2)
    assert world.mended == ["f-1"]
    out = await heal(searching, situation(app=BACK, over=True), world.ward)
    assert (out.stage, world.begun[0].kind) == ("releasing", "deploy")
    serves = replace(SHOP, serving=3)
    proving = await heal(out, situation(app=serves, over=True, now=200.0), world.ward)
    assert (proving.stage, proving.release, proving.attempts[-1].release) == ("proving", 3, 3)
    over = await heal(proving, situation(app=serves, now=240.0), world.ward)
    assert over.stage == "closed"
    assert (over.attempts[-1].helped, world.learned) == (True, [over])


async def test_three_attempts_are_written_down_and_a_person_gets_them() -> None:
    world = Told()
    now = await heal(ROLLED, situation(app=BACK, now=140.0), world.ward)
    for number in (1, 2, 3):
        no = situation(app=BACK, over=True, refused=f"none passes, {number}")
        now = await heal(now, no, world.ward)
    assert [each.why for each in now.attempts] == [f"none passes, {n}" for n in (1, 2, 3)]
    assert (now.stage, now.run, world.begun[-1].kind) == ("escalated", "r-1", "hand over")
    assert world.learned == [now]


async def test_an_attempt_that_a_kill_came_before_is_not_counted() -> None:
    world = Told()
    searching = await heal(ROLLED, situation(app=BACK, now=140.0), world.ward)
    again = await heal(searching, situation(app=BACK, lost=True), world.ward)
    assert (again.stage, [each.why for each in again.attempts]) == ("fixing", [""])
    assert world.mended == ["f-1", "f-1"]


async def test_what_nobody_can_mend_goes_to_a_person_at_once() -> None:
    world = Told(unfit="no function can be exchanged")
    after = await heal(ROLLED, situation(app=BACK, now=140.0), world.ward)
    assert (after.stage, after.attempts, world.mended) == ("escalated", (), [])
    assert "no function can be exchanged" in world.said[-1][1]


async def test_a_result_that_cannot_be_released_is_a_failed_attempt() -> None:
    world = Told(unfit="it holds a command")
    searching = replace(
        moved(incident("errors"), "fixing", "x", 100.0, run="f-1"),
        attempts=(Attempt(run="f-1"),),
        mended=2,
    )
    after = await heal(searching, situation(app=BACK, over=True), world.ward)
    assert after.attempts[0].why == "it holds a command"
    assert after.stage == "escalated"


async def test_a_fix_that_a_person_rejected_is_theirs() -> None:
    world = Told()
    out = replace(
        moved(incident("errors"), "releasing", "x", 100.0, run="d"), attempts=(Attempt(run="f"),)
    )
    no = situation(app=BACK, over=True, refused="rejected by ann: not now")
    after = await heal(out, no, world.ward)
    assert (after.stage, world.begun) == ("escalated", [])
    assert "rejected by ann" in after.attempts[0].why


async def test_trouble_after_a_fix_undoes_it_before_the_next_attempt() -> None:
    world = Told()
    proving = replace(
        moved(incident("errors"), "proving", "x", 100.0),
        attempts=(Attempt(run="f-1", release=3),),
        release=3,
        mended=2,
    )
    ill = situation(alarm("errors", release=3), app=replace(SHOP, serving=3))
    undone = await heal(proving, ill, world.ward)
    assert (undone.stage, world.begun[0].kind) == ("rolling back", "rollback")
    assert undone.attempts[0].why.startswith("trouble again")
    after = await heal(undone, situation(app=BACK, now=140.0), world.ward)
    assert (after.stage, [each.run for each in after.attempts]) == ("fixing", ["f-1", "f-2"])


@pytest.mark.parametrize(
    ("refused", "stage"), [("", "closed"), ("rejected by ann: mine", "escalated")]
)
async def test_what_a_person_said_is_gone_on_by(refused: str, stage: str) -> None:
    world = Told()
    asked = moved(incident("errors"), "escalated", "x", 100.0, run="h-1")
    waits = await answered(asked, situation(app=BACK), world.ward)
    assert waits == asked
    after = await answered(asked, situation(app=BACK, over=True, refused=refused), world.ward)
    assert (after.stage, after.run) == (stage, "")
