"""From a result to a service that serves: gates, a switch, a rollback, people's words."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.delivered import Traffic, Yard, asked, result, that_ends, without_register, yard
from tests.service_scripts import CART, cart_script

pytestmark = pytest.mark.xdist_group("deploy")


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Yard]:
    with yard(tmp_path / "home") as made:
        yield made


def test_a_release_is_refused_or_switched_and_nobody_notices(local: Yard, tmp_path: Path) -> None:
    first = local.deploy(result(tmp_path / "v1"))
    assert (first["done"], first["release"]) == (True, 1)
    port = local.port
    assert asked(port) == 200
    assert (
        asked(port, "/register", method="POST", body={"username": "a", "password": "pw-1"}) == 201
    )
    with Traffic(port) as traffic:
        broken = local.deploy(result(tmp_path / "v2", mark="2", edit=without_register), code=1)
        assert not broken["done"]
        assert "smoke: registers a new user" in str(broken["reason"])
        assert broken["release"] == 1
        dead = local.deploy(result(tmp_path / "v3", mark="3", edit=that_ends), code=1)
        assert "it ended: exit code 3" in str(dead["reason"])
        assert "it said: OSError: no such file: settings.ini" in str(dead["reason"])
        assert local.deploy(result(tmp_path / "v4", mark="4"))["release"] == 4
        assert local.act("rollback", "shop")["release"] == 1
        assert local.act("rollback", "shop", "--to", "4")["release"] == 4
    assert set(traffic.statuses) == {200}
    assert len(traffic.statuses) > 50
    # Data volumes survive releases: the name is taken.
    assert (
        asked(port, "/register", method="POST", body={"username": "a", "password": "pw-1"}) == 409
    )
    assert local.states() == ["rolled back", "refused", "refused", "serving"]
    assert local.instances() == ["shop-4"]


def test_an_app_is_stopped_started_and_removed_and_its_data_stays(
    local: Yard, tmp_path: Path
) -> None:
    local.deploy(result(tmp_path / "v1"))
    port = local.port
    local.act("stop", "shop")
    assert (asked(port), local.app()["state"], local.instances()) == (0, "stopped", [])
    local.act("start", "shop")
    assert (asked(port), local.app()["state"]) == (200, "running")
    said = local.act("remove", "shop")
    assert "data volume shop stays" in str(said["reason"])
    assert asked(port) == 0
    assert local.app() == {}
    volumes = local.command.home / "apps" / "volumes"
    assert [path.name for path in volumes.iterdir() if path.is_dir()] == ["shop"]


def test_secrets_reach_the_service_and_nothing_else(local: Yard, tmp_path: Path) -> None:
    def telling(text: str) -> str:
        return text + (
            "\n@app.get('/told')\ndef told():\n"
            "    print('key', os.environ['API_KEY'], flush=True)\n"
            "    return jsonify(size=len(os.environ['API_KEY']))\n"
        )

    secret = "hunter2-hunter2-hunter2"
    local.command.env["API_KEY"] = secret
    local.deploy(result(tmp_path / "v1", edit=telling), "--secret", "API_KEY")
    assert asked(local.port, "/told") == 200
    logged = local.command("logs", "shop").stdout
    assert "key ***" in logged
    keeper = local.command.home / "apps" / "secrets" / "shop.json"
    assert secret in keeper.read_text()
    assert keeper.stat().st_mode & 0o077 == 0
    for path in local.command.home.rglob("*"):
        if path.is_file() and path != keeper:
            assert secret.encode() not in path.read_bytes(), path


def test_a_secret_in_the_source_is_found_and_nobody_releases_it(
    local: Yard, tmp_path: Path
) -> None:
    def careless(text: str) -> str:
        return f"{text}\nDB_PASSWORD = 'Tr0ub4dor-and-3-horses'\n"

    refused = local.deploy(result(tmp_path / "v1", edit=careless), code=1)
    assert "the scan found high secret" in str(refused["reason"])
    assert "Tr0ub4dor" not in str(refused["reason"])
    assert local.app() == {}


def test_bad_input_is_one_line_and_leaves_nothing(local: Yard, tmp_path: Path) -> None:
    service = result(tmp_path / "v1")
    tool = tmp_path / "tool"
    tool.mkdir()
    (tool / "solution.py").write_text("print(1)\n")
    for args, says in (
        ((str(tool),), "holds a cli, and only services are deployed"),
        (("nope",), "run 'nope' is not known"),
        ((str(service), "--name", "Shop!"), "cannot be the name of an app"),
        ((str(service), "--name", "shop", "--host", "moon"), "host 'moon' is not known"),
        ((str(service), "--name", "shop", "--port", "80"), "port 80 cannot be used"),
        ((str(service), "--name", "shop", "--secret", "NOPE"), "--secret NOPE is not set"),
    ):
        failed = local.command("deploy", *args, code=2)
        assert says in failed.stderr
        assert failed.stderr.count("\n") == 1
    for word in ("rollback", "stop", "logs", "releases"):
        told = local.command(word, "shop", code=2).stderr
        assert "app 'shop' is not known; there is none yet" in told
    assert local.app() == {}
    assert not (local.command.home / "apps" / "instances").exists()


def test_a_port_that_is_taken_is_refused_before_anything_runs(local: Yard, tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        folder = result(tmp_path / "v1")
        words = ("deploy", str(folder), "--name", "shop", "--port", str(taken))
        assert f"port {taken} is taken by another program" in local.command(*words, code=2).stderr


def test_a_build_that_is_solved_is_deployed(local: Yard) -> None:
    local.command.use_script(cart_script())
    done = local.command("build", CART, "--deploy", "--name", "cart")
    assert "serves at http://127.0.0.1:" in done.stdout
    assert asked(int(str(local.app("cart")["port"])), "/health") == 200


def trapped(text: str) -> str:
    """A version whose total crashes for whoever has nothing in the cart."""
    whole = 'return 200, {"total": sum('
    assert whole in text
    return text.replace(whole, f"1 / len(rows)\n    {whole}")


def test_a_deployed_service_is_mended_by_a_check_that_fails_on_it(
    local: Yard, tmp_path: Path
) -> None:
    local.command.use_script(cart_script())
    local.deploy(result(tmp_path / "v1", edit=trapped))
    tests = tmp_path / "crash.py"
    tests.write_text("def test_nothing():\n    assert see_total('zoe')['total'] == 0\n")
    done = local.command("fix", "shop", "--tests", str(tests), "--deploy")
    assert "release 2 serves at" in done.stdout
    assert local.states() == ["replaced", "serving"]
    for words, says in (
        (("nobody", "--tests", str(tests)), "app 'nobody' is not known"),
        (("shop", "--tests", str(tmp_path / "none.py")), "none.py"),
        (("shop", "--tests", str(tests), "--release", "9"), "shop has no release 9; there are: 1"),
    ):
        assert says in local.command("fix", *words, code=2).stderr


def _request(made: Yard) -> str:
    (request,) = json.loads(made.command("approvals", "--json").stdout)
    return str(request["id"])


def test_an_approval_is_rejected_modified_approved_and_expires(tmp_path: Path) -> None:
    env = {"TWINSMITH_APPROVALS_NEEDED": "first_deploy,every_deploy"}
    with yard(tmp_path / "home", env) as made:
        folder = result(tmp_path / "v1")
        made.deploy(folder, code=6)
        name = _request(made)
        whole = made.command("approvals", name).stdout
        assert "because of: first_deploy, every_deploy" in whole
        assert "+from contract import OPENAPI" in whole
        assert json.loads(made.command("queue", "--json").stdout)[0]["state"] == "asking"
        said = made.act("reject", name, "--reason", "not today", code=1)
        assert "rejected by" in str(said["reason"])
        assert made.app() == {}
        assert "is decided already: reject by" in made.command("approve", name, code=2).stderr

        made.deploy(folder, code=6)
        edited = result(tmp_path / "edited", mark="edited by a person")
        made.act(
            "modify", _request(made), "--source", str(edited), "--set", "canary_share=0", code=6
        )
        again = _request(made)
        assert again.endswith(".a2")
        assert "+# version edited by a person" in made.command("approvals", again).stdout
        assert made.act("approve", again, "--note", "seen")["release"] == 1
        assert asked(made.port) == 200
        kept = json.loads(made.command("approvals", "--all", "--json").stdout)
        assert [each["decision"]["said"] for each in kept] == ["reject", "modify", "approve"]

        made.command.env["TWINSMITH_APPROVALS_WAIT_SECONDS"] = "0.5"
        waiting = made.deploy(result(tmp_path / "v2", mark="2"), code=6)
        assert "waits until" in str(waiting["error"])
        time.sleep(0.6)
        run = json.loads(made.command("queue", "--json").stdout)[0]["run"]
        ended = made.act("resume", run, code=1)
        assert "rejected by twinsmith: nobody answered in time" in str(ended["reason"])
        assert made.states() == ["serving"]


def test_somebody_who_may_not_decide_is_told_so(tmp_path: Path) -> None:
    env = {"TWINSMITH_APPROVALS_NEEDED": "first_deploy", "TWINSMITH_APPROVALS_BY": "ann,bob"}
    with yard(tmp_path / "home", env) as made:
        made.deploy(result(tmp_path / "v1"), code=6)
        refused = made.command("approve", _request(made), code=2)
        assert "may not decide this; approvals.by names ann, bob" in refused.stderr
        made.command.env["TWINSMITH_APPROVALS_BY"] = ""
        made.command.env["TWINSMITH_APPROVALS_OWN"] = "false"
        assert "forbids deciding" in made.command("approve", _request(made), code=2).stderr


def test_the_command_is_found_by_its_help(command: Command) -> None:
    shown = command("--help").stdout
    for word in ("deploy", "rollback", "releases", "approve", "override", "queue"):
        assert word in shown
