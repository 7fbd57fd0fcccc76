"""Releases on real Docker and Podman: gates, a switch under traffic, engines that die meanwhile."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import hosts
from tests.conftest import until
from tests.delivered import Traffic, Yard, asked, result, without_register, yard
from tests.e2e.test_deploy_bad import HOSTILE
from tests.e2e.test_deploy_kills import begun, reached
from tests.engines import (
    absent,
    another_of,
    containers,
    inspected,
    killed_and_back,
    refuse_shared,
    serving,
    volumes,
)
from tests.sandboxes import ENGINE_MARKS
from twinsmith.adapters.hosting.engine_args import Engine, container_name, mark_of, volume_name
from twinsmith.settings import load
from twinsmith.wiring.delivering import sockets_of

ANN = {"username": "ann", "password": "pw-of-ann-1"}


@dataclass
class Fleet:
    """A yard whose apps are containers of a real engine, at `address`."""

    yard: Yard
    engine: Engine
    address: str

    @property
    def mark(self) -> str:
        return mark_of(str(self.yard.command.home))

    def running(self) -> list[str]:
        """The containers of the app, running or not."""
        prefix = container_name(self.mark, "")
        found = containers(self.engine, self.address, prefix)
        return sorted(name.removeprefix(prefix) for name in found)

    def volumes(self) -> list[str]:
        prefix = volume_name(self.mark, "")
        found = volumes(self.engine, self.address, prefix)
        return sorted(name.removeprefix(prefix) for name in found)

    def images(self) -> list[str]:
        """The images of all releases that are there."""
        rows = json.loads(self.yard.command("releases", "shop", "--json").stdout)
        return self.there(str(row["image"]) for row in rows if row["image"])

    def there(self, images: "Iterator[str] | list[str]") -> list[str]:
        """Those of the images that the engine has."""
        return [each for each in images if inspected(self.engine, self.address, "image", each)]

    def one_serves(self, number: int) -> None:
        """Exactly this release serves, and nothing else of the app is there."""
        until(lambda: asked(self.yard.port) == 200)
        assert self.yard.app()["serving"] == number
        assert self.running() == [f"shop-{number}"]
        assert self.yard.states().count("serving") == 1
        assert self.volumes() == ["shop"]

    def walled(self, name: str) -> None:
        """A container has all its walls, whatever a model wrote about it."""
        told = inspected(self.engine, self.address, "container", container_name(self.mark, name))
        config, walls, mounts = told["Config"], told["HostConfig"], told["Mounts"]
        assert isinstance(config, dict)
        assert isinstance(walls, dict)
        assert isinstance(mounts, list)
        assert config["User"] == "10001:10001"
        assert (walls["Privileged"], walls["NetworkMode"]) == (False, "none")
        assert (walls["ReadonlyRootfs"], walls["Devices"] or []) == (True, [])
        assert any(str(each).startswith("seccomp=") for each in walls["SecurityOpt"])
        assert "no-new-privileges" in walls["SecurityOpt"]
        # Podman names each that was dropped, and tells what is left.
        assert walls["CapDrop"] == ["ALL"] or told["EffectiveCaps"] in (None, [])
        assert sorted(each["Destination"] for each in mounts) == ["/data", "/run/app"]
        assert walls["PidsLimit"] > 0
        assert walls["Memory"] > 0


@contextmanager
def fleet(engine: Engine, home: Path) -> Iterator[Fleet]:
    """A yard on an engine, without anything left on that afterwards."""
    why = absent(engine)
    if why:
        pytest.skip(why)
    # Made once for all tests of this machine: the product finds it on the engine.
    asyncio.run(hosts.base(engine).ready("python"))
    with serving(engine) as address:
        env = {"TWINSMITH_APPROVALS_NEEDED": ""}
        if address:
            env["TWINSMITH_HOSTING_DOCKER"] = address
        with yard(home, env, host=engine) as made:
            try:
                yield Fleet(made, engine, address)
            finally:
                made.command("override", "release", "all", "--reason", "over", code=None)
                for row in json.loads(made.command("queue", "--json").stdout):
                    made.command("cancel", str(row["run"]), code=None)
                made.command("remove", "shop", "--data", code=None)
                for pid in services(made):
                    os.kill(pid, signal.SIGKILL)


def services(made: Yard) -> list[int]:
    """The processes of Podman's service that a data folder has started."""
    place = str(sockets_of(load(made.command.environment)) / "engine").encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if place in path.read_bytes():
                found.append(int(path.parent.name))
    return found


@pytest.fixture(params=[pytest.param(name, marks=ENGINE_MARKS) for name in ("docker", "podman")])
def real(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Fleet]:
    with fleet(request.param, tmp_path / "home") as made:
        yield made


@pytest.fixture
def docker(tmp_path: Path) -> Iterator[Fleet]:
    with fleet("docker", tmp_path / "home") as made:
        yield made


@pytest.fixture
def podman(tmp_path: Path) -> Iterator[Fleet]:
    with fleet("podman", tmp_path / "home") as made:
        yield made


def engines(test: object) -> object:
    """The marks of a test that uses one engine."""
    for mark in ENGINE_MARKS:
        test = mark(test)
    return test


def test_a_release_is_refused_switched_rolled_back_and_removed_and_nobody_notices(
    real: Fleet, tmp_path: Path
) -> None:
    made = real.yard
    first = result(tmp_path / "v1", mark="containers")
    for name, text in HOSTILE.items():
        (first / name).write_text(text)
    assert made.deploy(first)["release"] == 1
    real.walled("shop-1")
    port = made.port
    assert asked(port, "/register", method="POST", body=ANN) == 201
    with Traffic(port) as traffic:
        bad = made.deploy(result(tmp_path / "v2", edit=without_register), code=1)
        assert "smoke: registers a new user" in str(bad["reason"])
        assert bad["release"] == 1
        real.one_serves(1)
        assert made.deploy(result(tmp_path / "v3", mark="containers 3"))["release"] == 3
        real.one_serves(3)
        assert made.act("rollback", "shop")["release"] == 1
        real.one_serves(1)
    assert set(traffic.statuses) == {200}
    # Her name is taken: data volumes survive releases.
    assert asked(port, "/register", method="POST", body=ANN) == 409
    images = real.images()
    assert len(images) == 3
    with another_of(real.engine, real.address, images[2]):
        gone = made.act("remove", "shop", "--data")
        assert "data and secrets are gone" in str(gone["reason"])
        assert asked(port) == 0
        # The last image is another data folder's as well, and stays for that.
        assert (real.running(), real.volumes(), real.there(images)) == ([], [], images[2:])
    assert real.there(images) == []


@engines
def test_dockerd_is_killed_in_a_release_and_one_version_serves(
    docker: Fleet, tmp_path: Path
) -> None:
    made = docker.yard
    refuse_shared()
    made.command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"] = "5"
    made.deploy(result(tmp_path / "v1", mark="of docker"))
    for number, stage in enumerate(("image", "canary"), 2):
        process, run = begun(made, result(tmp_path / f"v{number}", mark=f"of docker {number}"))
        until(lambda stage=stage, run=run: reached(made, run, stage))
        with killed_and_back():
            said, _ = process.communicate(timeout=60)
        assert process.returncode == 3, said
        assert "docker" in json.loads(said)["error"]
        assert json.loads(said)["error"].endswith(f"then: twinsmith resume {run}")
        ended = made.act("resume", run)
        assert (ended["done"], ended["release"]) == (True, number)
        docker.one_serves(number)


@engines
def test_podmans_service_is_killed_in_a_release_and_is_started_again(
    podman: Fleet, tmp_path: Path
) -> None:
    made = podman.yard
    made.deploy(result(tmp_path / "v1", mark="killed"))
    for number, stage in enumerate(("image", "canary"), 2):
        process, run = begun(made, result(tmp_path / f"v{number}", mark=f"killed {number}"))
        until(lambda stage=stage, run=run: reached(made, run, stage))
        for pid in services(made):
            os.kill(pid, signal.SIGKILL)
        said, _ = process.communicate(timeout=120)
        # What was being asked when it died is asked again by whoever goes on.
        if process.returncode:
            assert "podman stopped answering" in said
            assert made.act("resume", run)["release"] == number
        podman.one_serves(number)
