"""A monitor beside apps: what fails is seen, restarted or rolled back, and a person is told."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.certificates import certificate, in_days
from tests.conftest import until
from tests.delivered import Traffic, Yard, asked, proxies, result, yard
from twinsmith.core.operating.incident import Incident
from twinsmith.settings import load
from twinsmith.wiring.watching import incidents_of

pytestmark = pytest.mark.xdist_group("monitor")
LEAK = """
import threading, time
KEPT = []

def grow():
    while True:
        KEPT.append(bytearray(b"x" * (1 << 20)))
        time.sleep(0.05)

threading.Thread(target=grow, daemon=True).start()
"""
QUICK = {"TWINSMITH_MONITOR_SECONDS": "0.5", "TWINSMITH_MONITOR_STEADY_SECONDS": "3"}


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Yard]:
    with yard(tmp_path / "home", QUICK) as made:
        yield made


@contextmanager
def monitored(made: Yard) -> "Iterator[subprocess.Popen[str]]":
    """A monitor for as long as the block lasts; one that was killed in it is gone already."""
    process = made.command.start("monitor")
    until(lambda: (made.command.home / "monitor").exists() or process.poll() is not None)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def incidents(made: Yard) -> tuple[Incident, ...]:
    """All incidents there ever were."""
    return incidents_of(load(made.command.environment)).listed(over=True)


def leaks(text: str) -> str:
    """A version that takes twenty megabytes a second."""
    return f"{text}\n{LEAK}"


def test_a_leak_is_rolled_back_before_its_limit_and_nobody_notices(
    local: Yard, tmp_path: Path
) -> None:
    local.deploy(result(tmp_path / "v1"))
    with monitored(local) as first, Traffic(local.port) as traffic:
        local.deploy(result(tmp_path / "v2", mark="2", edit=leaks))
        until(lambda: incidents(local))
        # The next monitor goes on with what this one has begun.
        first.kill()
        first.communicate()
        with monitored(local):
            until(lambda: local.app()["serving"] == 1)
            until(lambda: incidents(local)[0].stage == "escalated")
            told = json.loads(local.command("health", "shop", "--json").stdout)
    assert set(traffic.statuses) == {200}
    (seen,) = incidents(local)
    assert (seen.kind, seen.release) == ("memory leak", 2)
    assert "the limit of 512 MB is reached in" in seen.steps[0].did
    # It grows whether anybody asks or not: no request shows it, so nobody claims to mend it.
    assert "it cannot be reproduced" in seen.last
    assert "release 2 is left to a person" in seen.last
    assert told[0]["state"] == "needs a person"
    assert told[0]["reading"]["usage"]["memory"] > 0
    shown = local.command("incidents", seen.id[-4:]).stdout
    assert "rollback shop to 1: memory leak" in shown
    alerts = json.loads(local.command("alerts", "--json").stdout)
    assert any("a person is needed" in json.dumps(each) for each in alerts)
    closed = local.command("incidents", seen.id[-4:], "--close", "mended by hand").stdout
    assert "closed" in closed
    assert "no open incidents" in local.command("incidents").stdout


def test_what_is_gone_is_started_again_unless_a_person_holds_it(
    local: Yard, tmp_path: Path
) -> None:
    local.deploy(result(tmp_path / "v1"))
    owner = local.command.home / "apps" / "instances" / "shop-1" / "lease"
    local.act("override", "pause", "shop", "--reason", "let me look")
    with monitored(local):
        os.kill(int(owner.read_text()), signal.SIGKILL)
        until(lambda: incidents(local))
        assert "monitoring is being done by process" in local.command("monitor", code=4).stderr
        assert asked(local.port) in (0, 502, 503)
        local.act("override", "release", "shop", "--reason", "seen")
        until(lambda: asked(local.port) == 200)
        until(lambda: incidents(local)[0].stage == "closed")
        for pid in proxies(local.command):
            os.kill(pid, signal.SIGKILL)
        until(lambda: asked(local.port) == 200)
    (seen,) = incidents(local)
    assert seen.kind == "down"
    assert "restart shop" in [step.did.partition(":")[0] for step in seen.steps]
    assert "it is well again after restart 1" in seen.last


def test_what_a_person_does_with_an_app_is_no_trouble(local: Yard, tmp_path: Path) -> None:
    local.command.env["TWINSMITH_APPROVALS_NEEDED"] = ""
    local.deploy(result(tmp_path / "v1"))
    with monitored(local):
        local.act("restart", "shop")
        local.deploy(result(tmp_path / "v2", mark="2"), "--replace")
        local.act("stop", "shop")
        local.act("start", "shop")
        time.sleep(3)
    # On busy cores it may be slow besides.
    assert not {"crash", "down", "hang"} & {each.kind for each in incidents(local)}


def test_without_healing_trouble_is_told_and_nothing_is_done(local: Yard, tmp_path: Path) -> None:
    local.command.env["TWINSMITH_MONITOR_HEAL"] = "false"
    local.deploy(result(tmp_path / "v1"))
    owner = local.command.home / "apps" / "instances" / "shop-1" / "lease"
    with monitored(local):
        os.kill(int(owner.read_text()), signal.SIGKILL)
        until(lambda: incidents(local))
        time.sleep(3)
        assert asked(local.port) in (0, 502, 503)
    (seen,) = incidents(local)
    assert (seen.stage, seen.restarts, seen.run) == ("seen", 0, "")


def test_bad_input_is_one_line(local: Yard) -> None:
    for words, says in (
        (("health", "nobody"), "app 'nobody' is not known"),
        (("incidents", "zz"), "incident 'zz' is not known"),
        (("incidents", "--close", "x"), "--close closes one incident; name it"),
        (("restart", "nobody"), "app 'nobody' is not known"),
    ):
        assert says in local.command(*words, code=2).stderr
    assert local.command("health").stdout == "no apps yet; deploy one with: twinsmith deploy RUN\n"
    assert local.command("incidents").stdout == "no open incidents\n"


def test_a_certificate_that_ends_soon_is_told_once(local: Yard, tmp_path: Path) -> None:
    soon = certificate(tmp_path / "shop.pem", in_days(5))
    local.command.env["TWINSMITH_MONITOR_CERTIFICATES"] = f"shop {soon}"
    local.deploy(result(tmp_path / "v1"))
    for _ in range(2):
        with monitored(local):
            until(lambda: [each.stage for each in incidents(local)] == ["closed"])
    (seen,) = incidents(local)
    assert (seen.kind, seen.release) == ("certificate", 1)
    assert f"the certificate of {soon} is over in " in seen.steps[0].did
    told = json.loads(local.command("alerts", "--json").stdout)
    (once,) = [each["alert"]["title"] for each in told]
    assert once.startswith(f"shop: certificate: the certificate of {soon} is over in ")
