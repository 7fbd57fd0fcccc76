"""kill -9 of twinsmith, of the proxy and of what runs the app, at every stage of a release."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import until
from tests.delivered import Traffic, Yard, asked, proxies, result, without_register, yard

pytestmark = pytest.mark.xdist_group("deploy kills")
STAGES = ("scan", "image", "try", "rehearse", "canary", "switch", "drain", "soak")


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Yard]:
    with yard(tmp_path / "home") as made:
        yield made


def begun(made: Yard, folder: Path) -> "tuple[subprocess.Popen[str], str]":
    """A deployment that has just begun, and the name of its run."""
    before = set(made.command.runs())
    process = made.command.start("deploy", str(folder), "--name", "shop", "--json")
    until(lambda: set(made.command.runs()) - before)
    (run,) = set(made.command.runs()) - before
    return process, run


def reached(made: Yard, run: str, stage: str) -> bool:
    """Whether a run has begun a stage."""
    return any(
        event["kind"] == "stage.started" and event["key"] == f"stage.started:{stage}"
        for event in made.command.events(run)
    )


def one_serves(made: Yard, number: int) -> None:
    """Exactly this release serves, and nothing else of the app runs."""
    assert asked(made.port) == 200
    assert made.app()["serving"] == number
    assert made.instances() == [f"shop-{number}"]
    assert made.states().count("serving") == 1


def test_twinsmith_is_killed_at_every_stage_and_goes_on(local: Yard, tmp_path: Path) -> None:
    local.deploy(result(tmp_path / "v1"))
    port = local.port
    with Traffic(port) as traffic:
        for number, stage in enumerate(STAGES, 2):
            folder = result(tmp_path / f"v{number}", mark=str(number))
            process, run = begun(local, folder)
            until(lambda stage=stage, run=run: reached(local, run, stage))
            process.kill()
            process.communicate()
            # Whatever was cut off: somebody serves.
            assert asked(port) == 200, stage
            ended = local.act("resume", run)
            assert (ended["done"], ended["release"]) == (True, number), stage
            one_serves(local, number)
    assert set(traffic.statuses) == {200}


def test_a_release_that_is_cancelled_anywhere_leaves_the_old_one(
    local: Yard, tmp_path: Path
) -> None:
    local.deploy(result(tmp_path / "v1"))
    with Traffic(local.port) as traffic:
        for number, stage in enumerate(("try", "canary"), 2):
            folder = result(tmp_path / f"v{number}", mark=str(number))
            process, run = begun(local, folder)
            until(lambda stage=stage, run=run: reached(local, run, stage))
            if stage == "canary":
                process.kill()
                process.communicate()
            local.command("cancel", run)
            with suppress(ProcessLookupError):
                process.kill()
            process.communicate()
            one_serves(local, 1)
    assert set(traffic.statuses) == {200}
    assert local.states() == ["serving", "cancelled", "cancelled"]


def test_the_proxy_is_killed_at_every_stage_and_comes_back(local: Yard, tmp_path: Path) -> None:
    local.deploy(result(tmp_path / "v1"))
    for number, stage in enumerate(("try", "canary", "switch", "drain"), 2):
        process, run = begun(local, result(tmp_path / f"v{number}", mark=str(number)))
        until(lambda stage=stage, run=run: reached(local, run, stage))
        for pid in proxies(local.command):
            os.kill(pid, signal.SIGKILL)
        process.communicate()
        # Where it died after the switch nobody routes any more: starting the app does.
        local.act("start", "shop")
        one_serves(local, number)


def test_the_supervisor_is_killed_and_the_app_is_started_again(local: Yard, tmp_path: Path) -> None:
    local.deploy(result(tmp_path / "v1"))
    owner = local.command.home / "apps" / "instances" / "shop-1" / "lease"
    os.kill(int(owner.read_text()), signal.SIGKILL)
    until(lambda: local.app()["state"] == "down")
    # A release finds it down, and brings it back whatever becomes of the new one.
    folder = result(tmp_path / "v2", mark="2", edit=without_register)
    refused = local.deploy(folder, code=1)
    assert "smoke" in str(refused["reason"])
    one_serves(local, 1)
