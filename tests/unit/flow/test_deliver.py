"""Deliveries on fakes: gates, switch, soak, rollback, approvals, the queue, overrides."""

from dataclasses import replace

import pytest

from tests.docks import QUICK, World, service
from twinsmith.core.errors import ConfigError, HostError, Waiting
from twinsmith.core.events import Json
from twinsmith.core.operating.action import Queued
from twinsmith.core.operating.inspected import Inspected
from twinsmith.core.operating.instance import Image
from twinsmith.core.operating.source import Source
from twinsmith.core.people.approval import Decision, message_of
from twinsmith.core.people.override import Override
from twinsmith.core.probe import Probe
from twinsmith.flow.deliver.gates import batches

HELD = Override(scope="shop", kind="pause", reason="look", by="user:bob", at="2026-01-01")

YES: Json = {"said": "approve", "by": "user:bob", "at": "x"}


def states(world: World) -> list[str]:
    return [each.state for each in world.releases.listed("shop")]


async def test_a_first_release_serves_and_is_good_after_its_soak() -> None:
    world = World()
    outcome = await world.deploy("1")
    assert (outcome.done, outcome.release) == (True, 1)
    assert outcome.url == "http://127.0.0.1:8100"
    app = world.apps.get("shop")
    assert app is not None
    assert (app.serving, app.good) == (1, 1)
    assert world.running() == await world.routed() == ["shop-1"]
    assert world.host.standing["shop-1"].secrets == {"SECRET_KEY": "key-of-pohs"}
    assert list(world.volumes.held) == ["shop"]


async def test_a_second_release_replaces_the_first() -> None:
    world = World()
    await world.deploy("1")
    assert (await world.deploy("2")).release == 2
    assert states(world) == ["replaced", "serving"]
    assert world.running() == await world.routed() == ["shop-2"]
    assert world.releases.listed("shop")[1].parent == 1


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("smoke", "smoke: works: failed: it was told to fail"),
        ("ready", "not ready after 2 s: GET / gives 500"),
        ("scan", "the scan found high secret: a key; mend it"),
        ("canary", "GET / gave 200 before and gives 500 now"),
        ("build", "does not compile"),
    ],
)
async def test_a_gate_that_says_no_leaves_the_old_version(part: str, says: str) -> None:
    world = World()
    await world.deploy("1")
    match part:
        case "smoke":
            world.examiner.failing["shop-2-trial"] = "works"
        case "ready":
            world.visitor.statuses["shop-2-trial"] = 500
        case "scan":
            found = Inspected(blocking=("high secret: a key",), risk="high")
            world.scanner.found[service("2").source.digest] = found
        case "canary":
            # It is ready once, and fails afterwards.
            world.visitor.statuses["shop-2/"] = 500
            world.visitor.good_first["shop-2/"] = 1
        case _:
            world.images.made = _does_not_compile  # type: ignore[method-assign,assignment]
    outcome = await world.deploy("2")
    assert not outcome.done
    assert says in outcome.reason
    assert outcome.release == 1
    assert world.running() == await world.routed() == ["shop-1"]
    assert "shop-2-trial" not in world.volumes.held
    assert [each.state for each in world.queue.listed(over=True)] == ["done", "refused"]


async def _does_not_compile(_source: Source, _package: object) -> Image:
    raise ConfigError("the program does not compile: line 1")


async def test_a_release_that_crashes_in_its_soak_is_rolled_back() -> None:
    world = World()
    await world.deploy("1")
    sleep = world.clock.sleep

    async def crashing(seconds: float) -> None:
        if seconds == 0.5:  # the soak looks so often
            await world.host.end("shop-2", "exit code 1")
        await sleep(seconds)

    world.clock.sleep = crashing  # type: ignore[method-assign]
    outcome = await world.deploy("2")
    assert not outcome.done
    assert outcome.reason == "it did not last 2 s: exit code 1; release 1 serves again"
    app = world.apps.get("shop")
    assert app is not None
    assert (app.serving, app.good) == (1, 1)
    assert states(world) == ["serving", "rolled back"]
    assert world.running() == await world.routed() == ["shop-1"]


async def test_versions_that_cannot_share_data_are_refused_and_replaced_only_when_told() -> None:
    world = World(needed=("schema_change",))
    await world.deploy("1")
    # The old version does not start on what the new one left.
    world.visitor.statuses["shop-1-trial"] = 500
    outcome = await world.deploy("2")
    assert "release 1 does not run on its data any more" in outcome.reason
    assert "deploy --replace" in outcome.reason
    action = world.action("deploy", "3", replace=True)
    with pytest.raises(Waiting, match="for a person's word"):
        await world.do(action)
    await world.durable.send(action.run, f"{action.run}.a1", YES)
    assert (await world.do(action)).release == 3
    # What was there before can be brought back.
    assert "shop-before-3" in world.volumes.held


async def test_a_rollback_starts_an_earlier_release_without_any_gate() -> None:
    world = World()
    await world.deploy("1")
    await world.deploy("2")
    world.examiner.failing["shop"] = "works"
    assert (await world.do(world.action("rollback"))).release == 1
    assert world.running() == await world.routed() == ["shop-1"]
    assert (await world.do(world.action("rollback", to=2))).release == 2
    refused = await world.do(world.action("rollback", to=9))
    assert "no release 9 that could serve" in refused.reason
    assert world.running() == ["shop-2"]


async def test_stop_start_and_remove() -> None:
    world = World()
    await world.deploy("1")
    await world.do(world.action("stop"))
    assert (world.running(), await world.routed()) == ([], [])
    await world.do(world.action("start"))
    assert world.running() == await world.routed() == ["shop-1"]
    await world.do(world.action("remove"))
    assert (world.running(), await world.routed(), world.apps.listed()) == ([], [], ())
    assert "shop" in world.volumes.held
    assert world.images.sources == {}
    gone = await world.do(world.action("stop"))
    assert "there is no app shop any more" in gone.reason


async def test_removing_data_asks_first_and_takes_it_then() -> None:
    world = World(needed=("data_touched",))
    await world.deploy("1")
    action = world.action("remove", data=True)
    with pytest.raises(Waiting):
        await world.do(action)
    assert world.running() == ["shop-1"]
    await world.durable.send(action.run, f"{action.run}.a1", YES)
    assert (await world.do(action)).done
    assert world.volumes.held == {}


async def test_a_request_shows_everything_and_expires_safely() -> None:
    world = World(needed=("every_deploy", "risk_medium"))
    found = Inspected(findings=("medium licence: who knows",), risk="medium")
    world.scanner.found[service("1").source.digest] = found
    action = world.action("deploy", "1")
    with pytest.raises(Waiting):
        await world.do(action)
    (request,) = world.approvals.listed()
    assert request.dossier.occasions == ("every_deploy", "risk")
    assert request.dossier.findings == found.findings
    assert "+print('1')" in request.dossier.diff
    assert request.dossier.evidence == ("built by run r-0: a shop", "accepted by: works")
    assert world.queue.listed()[0].state == "asking"
    world.clock.advance(61.0)
    outcome = await world.do(action)
    assert outcome.reason == "rejected by twinsmith: nobody answered in time"
    assert world.apps.listed() == ()


async def test_what_a_person_modified_goes_through_the_gates_again() -> None:
    world = World(needed=("every_deploy",))
    action = world.action("deploy", "1")
    with pytest.raises(Waiting):
        await world.do(action)
    files = {"solution.py": "print('by hand')\n", "openapi.json": "{}"}
    said = Decision(said="modify", by="user:bob", at="x", files=files, terms={"memory_mb": 256})
    await world.durable.send(action.run, f"{action.run}.a1", message_of(said))
    with pytest.raises(Waiting):
        await world.do(action)
    assert "+print('by hand')" in world.approvals.listed()[1].dossier.diff
    await world.durable.send(action.run, f"{action.run}.a2", YES)
    assert (await world.do(action)).release == 1
    assert world.host.standing["shop-1"].instance.memory_mb == 256
    assert (
        world.releases.listed("shop")[0].deliverable.source.program.source == files["solution.py"]
    )


async def test_an_action_waits_for_those_before_it() -> None:
    world = World()
    world.queue.put(Queued(run="other", app="shop", kind="deploy", state="asking"))
    world.queue.admit("other")
    action = world.action("deploy", "1")
    with pytest.raises(Waiting, match="waits for its turn behind deploy"):
        await world.do(action)
    assert world.running() == []
    world.queue.change("other", "cancelled")
    assert (await world.do(action)).release == 1


async def test_an_override_stops_a_release_and_lets_it_go_on_when_it_is_lifted() -> None:
    world = World()
    await world.deploy("1")
    sleep = world.clock.sleep

    async def held(seconds: float) -> None:
        if "shop-2" in world.running() and not world.overrides.listed():
            world.overrides.put(HELD)
        await sleep(seconds)

    world.clock.sleep = held  # type: ignore[method-assign]
    slow = replace(QUICK, canary_seconds=1e9)
    action = world.action("deploy", "2", terms=slow)
    with pytest.raises(Waiting, match="bob holds shop"):
        await world.do(action)
    assert world.running() == await world.routed() == ["shop-1"]
    world.overrides.lift("shop", "now")
    world.records[f"{action.run}:given"][1]["terms"]["canary_seconds"] = 0.1  # type: ignore[index,call-overload]
    assert (await world.do(action)).release == 2
    assert world.running() == await world.routed() == ["shop-2"]


async def test_a_host_that_is_broken_parks_the_run_and_it_goes_on_later() -> None:
    world = World()
    start = world.host.start

    async def broken(*_: object) -> str:
        raise HostError("the engine is away; start it")

    world.host.start = broken  # type: ignore[method-assign,assignment]
    action = world.action("deploy", "1")
    with pytest.raises(HostError):
        await world.do(action)
    world.host.start = start  # type: ignore[method-assign]
    assert (await world.do(action)).release == 1


def test_checks_that_want_a_fresh_service_get_one_each() -> None:
    a, b, c = (Probe(name=n, origin="plan", source="", fresh=n == "b") for n in "abc")
    assert batches((a, b, c)) == ((a, c), (replace(b, fresh=False),))
    assert batches(()) == ()
