"""The whole loop: trouble is seen, rolled back, reproduced, mended by models, released, proven."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import until
from tests.delivered import Yard, result, yard
from tests.e2e.test_deploy_containers import fleet
from tests.e2e.test_monitor import QUICK, incidents, monitored
from tests.sandboxes import ENGINE_MARKS
from tests.service_scripts import PIECES, cart_script
from tests.shoppers import DIVIDES, Shopper, divides, keeps
from twinsmith.adapters.hosting.engine_args import Engine
from twinsmith.core.operating.incident import Incident
from twinsmith.settings import load
from twinsmith.wiring.graph import opened_graph

pytestmark = pytest.mark.xdist_group("heal")
FREE = {"TWINSMITH_APPROVALS_NEEDED": ""}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Yard]:
    with yard(tmp_path / "home", {**QUICK, **FREE}) as made:
        yield made


async def learned(made: Yard) -> str:
    """What the graph says mended the only incident of the app."""
    async with opened_graph(load(made.command.environment)) as graph:
        (node,) = await graph.find("Incident", (), {"subject": "shop"}, 10)
        (fixed,) = await graph.neighbours([node.ref], ("FIXED_BY",), "out", 10)
    return str(fixed.node.properties["text"])


def staged(made: Yard, *stages: str) -> Incident | None:
    """The last incident, once it is in one of these stages."""
    found = incidents(made)
    return found[-1] if found and found[-1].stage in stages else None


def staged_of(made: Yard, app: str, *stages: str, kind: str = "errors") -> bool:
    """Whether an app has an incident of a kind that is in one of these stages."""
    found = [each for each in incidents(made) if (each.app, each.kind) == (app, kind)]
    return bool(found) and found[-1].stage in stages


def test_an_input_that_breaks_a_release_is_found_and_mended(local: Yard, tmp_path: Path) -> None:
    local.command.use_script(cart_script())
    local.deploy(result(tmp_path / "v1"))
    with Shopper(local.port) as shopper:
        with monitored(local) as first:
            local.deploy(result(tmp_path / "v2", mark="2", edit=divides))
            until(lambda: staged(local, "fixing"))
            # The next monitor goes on, and nothing is paid twice.
            first.kill()
            first.communicate()
        back = time.time()
        with monitored(local):
            until(lambda: staged(local, "closed"), seconds=180)
    (seen,) = incidents(local)
    assert (seen.mended, seen.release, local.app()["serving"]) == (2, 3, 3)
    assert seen.evidence.requests[0] == "GET /cart/total"
    assert "ZeroDivisionError" in seen.evidence.said[-1]
    (attempt,) = seen.attempts
    assert (attempt.release, attempt.helped) == (3, True)
    assert "release 3 mended it" in seen.last
    # From the rollback on nobody noticed anything.
    assert shopper.bad(since=back) == []
    asked = local.command.bill()
    assert len(asked) == len(set(asked))
    kept = json.loads(
        (local.command.home / "runs" / attempt.run / "result" / "checks.json").read_text()
    )
    assert any("never_stumbles" in each["source"] for each in kept["checks"])
    assert "-    1 / len" in asyncio.run(learned(local))


def test_what_cannot_be_mended_is_tried_three_times_and_a_person_decides(
    local: Yard, tmp_path: Path
) -> None:
    local.command.use_script(cart_script({**PIECES, "see_total": DIVIDES}))
    local.deploy(result(tmp_path / "v1"))
    with Shopper(local.port) as shopper, monitored(local):
        local.deploy(result(tmp_path / "v2", mark="2", edit=divides))
        until(lambda: staged(local, "rolling back", "fixing"))
        back = time.time() + 2
        until(lambda: staged(local, "escalated"), seconds=180)
        (seen,) = incidents(local)
        assert [each.helped for each in seen.attempts] == [False] * 3
        assert all("no version passes" in each.why for each in seen.attempts)
        folder = local.command.home / "incidents" / seen.id
        assert (folder / "readings.png").read_bytes().startswith(PNG)
        assert "<polyline" in (folder / "readings.svg").read_text()
        assert "attempt 3" in (folder / "story.md").read_text()
        (request,) = json.loads(local.command("approvals", "--json").stdout)
        assert request["dossier"]["occasions"] == ["escalation"]
        assert str(folder) in " ".join(request["dossier"]["evidence"])
        assert "ZeroDivisionError" in local.command("approvals", request["id"]).stdout
        local.command("approve", request["id"], "--note", "version 1 will do")
        until(lambda: staged(local, "closed"))
    assert shopper.bad(since=back) == []
    assert local.app()["serving"] == 1
    assert "a person decided; release 1 serves" in incidents(local)[0].last


def test_two_apps_are_mended_at_once_through_more_trouble_and_a_persons_word(
    local: Yard, tmp_path: Path
) -> None:
    # Long enough to be met in the middle of a fix.
    local.command.use_script(cart_script(delay=3.0))
    ports = {}
    for name in ("shop", "stall"):
        told = local.act("deploy", str(result(tmp_path / name)), "--name", name, "--host", "local")
        ports[name] = int(str(told["url"]).rpartition(":")[2])
    owner = local.command.home / "apps" / "instances" / "shop-1" / "lease"
    with Shopper(ports["shop"]) as shop, Shopper(ports["stall"]) as stall, monitored(local):
        for name in ports:
            folder = result(tmp_path / f"{name}-2", mark="2", edit=divides)
            local.act("deploy", str(folder), "--name", name, "--host", "local")
        until(lambda: staged_of(local, "shop", "fixing"), seconds=120)
        until(lambda: staged_of(local, "stall", "fixing"), seconds=120)
        local.act("override", "pause", "stall", "--reason", "not while we sell")
        # Trouble of the release that serves meanwhile is another incident, mended meanwhile.
        os.kill(int(owner.read_text()), signal.SIGKILL)
        until(lambda: staged_of(local, "shop", "closed", kind="down"), seconds=120)
        until(lambda: staged_of(local, "shop", "closed"), seconds=180)
        assert staged_of(local, "stall", "fixing")
        assert local.app("stall")["serving"] == 1
        local.act("override", "release", "stall", "--reason", "we closed")
        until(lambda: staged_of(local, "stall", "closed"), seconds=180)
    assert [local.app(name)["serving"] for name in ports] == [3, 3]
    assert sorted((each.app, each.kind) for each in incidents(local)) == [
        ("shop", "down"),
        ("shop", "errors"),
        ("stall", "errors"),
    ]
    bill = local.command.bill()
    assert len(bill) == len(set(bill))
    assert [each.statuses[-1][1] for each in (shop, stall)] == [200, 200]


@pytest.mark.parametrize("engine", [pytest.param("docker", marks=ENGINE_MARKS)])
def test_a_leak_in_a_container_is_rolled_back_mended_and_released(
    engine: Engine, tmp_path: Path
) -> None:
    with fleet(engine, tmp_path / "home") as made:
        local = made.yard
        local.command.env |= QUICK
        local.command.use_script(cart_script())
        local.deploy(result(tmp_path / "v1"))
        with Shopper(local.port) as shopper, monitored(local):
            local.deploy(result(tmp_path / "v2", mark="2", edit=keeps))
            until(lambda: staged(local, "closed", "escalated"), seconds=300)
        made.one_serves(3)
        (seen,) = incidents(local)
        assert (seen.kind, seen.stage, seen.attempts[-1].helped) == ("memory leak", "closed", True)
        assert seen.evidence.growth > 100_000
        assert shopper.bad() == []
