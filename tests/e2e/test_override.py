"""A person's override: at once, whoever is at work, until it is lifted."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import until
from tests.delivered import Traffic, Yard, asked, result, yard
from tests.e2e.test_deploy_kills import begun, one_serves, reached

pytestmark = pytest.mark.xdist_group("deploy")


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Yard]:
    slow = {"TWINSMITH_DEPLOY_CANARY_SECONDS": "60"}
    with yard(tmp_path / "home", slow) as made:
        yield made


def test_a_pause_stops_a_release_in_its_canary_and_release_lets_it_go_on(
    local: Yard, tmp_path: Path
) -> None:
    local.deploy(result(tmp_path / "v1"))
    with Traffic(local.port) as traffic:
        process, run = begun(local, result(tmp_path / "v2", mark="2"))
        until(lambda: reached(local, run, "canary"))
        said = local.act("override", "pause", "shop", "--reason", "let me look")
        assert "shop is held" in str(said["done"])
        out, _ = process.communicate(timeout=20)
        assert process.returncode == 6
        assert "holds shop" in out
        one_serves(local, 1)
        assert "let me look" in local.command("apps").stdout
        # Nothing else begins either, as long as it holds.
        assert "holds shop" in str(local.act("rollback", "shop", "--to", "1", code=6)["error"])
        assert local.act("override", "release", "shop", "--reason", "seen")["done"]
        for each in json.loads(local.command("queue", "--json").stdout)[1:]:
            local.command("cancel", str(each["run"]))
        local.command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"] = "0.5"
        local.command("cancel", run)
        assert local.deploy(result(tmp_path / "v3", mark="3"))["release"] == 3
    assert set(traffic.statuses) == {200}


def test_a_rollback_beats_a_worker_that_hangs(local: Yard, tmp_path: Path) -> None:
    local.command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"] = "0.5"
    local.deploy(result(tmp_path / "v1"))
    local.deploy(result(tmp_path / "v2", mark="2"))
    local.command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"] = "60"
    process, run = begun(local, result(tmp_path / "v3", mark="3"))
    until(lambda: reached(local, run, "canary"))
    os.kill(process.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        said = local.act("override", "rollback", "shop", "--reason", "it burns")
        assert "release 1 serves" in str(said["done"])
        took = time.monotonic() - began
        assert asked(local.port) == 200
        assert local.app()["serving"] == 1
        print(f"override took {took:.1f} s with the command's own start")
    finally:
        os.kill(process.pid, signal.SIGCONT)
        process.communicate(timeout=30)
    # Whoever was shut out does nothing when it wakes.
    one_serves(local, 1)
    assert local.states()[-1] == "cancelled"


def test_everything_is_held_and_every_word_is_kept(local: Yard, tmp_path: Path) -> None:
    local.command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"] = "0.5"
    folder = result(tmp_path / "v1")
    local.act("override", "pause", "all", "--reason", "maintenance")
    assert "holds everything" in str(local.deploy(folder, code=6)["error"])
    assert local.act("override", "resume", "all", "--reason", "over")["done"]
    run = json.loads(local.command("queue", "--json").stdout)[0]["run"]
    assert local.act("resume", run)["release"] == 1
    for words, says in (
        (("pause", "nobody", "--reason", "x"), "app 'nobody' is not known"),
        (("stop", "all", "--reason", "x"), "override 'stop' is not known"),
        (("pause", "all", "--reason", " "), "needs a reason"),
        (("rollback", "shop", "--reason", "x"), "has nothing to go back to"),
    ):
        assert says in local.command("override", *words, code=2).stderr
    log = local.command("log", "--json").stdout.splitlines()
    told = [e for e in map(json.loads, log) if e["kind"] == "override.commanded"]
    assert [(e["data"]["command"], e["data"]["reason"]) for e in told] == [
        ("pause", "maintenance"),
        ("resume", "over"),
    ]
