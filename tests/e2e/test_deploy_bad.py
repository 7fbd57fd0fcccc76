"""What cannot be deployed: each says so in one line, and leaves nothing half-done."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.conftest import DOUBLE, script
from tests.delivered import Traffic, Yard, asked, result, that_ends, yard
from tests.e2e.test_deploy_kills import one_serves
from tests.strictness import elsewhere
from twinsmith.settings import load
from twinsmith.wiring.delivering import queue_of_actions

pytestmark = pytest.mark.xdist_group("deploy bad")
SEVEN = "```python\ndef double(n: int) -> int:\n    return 7\n```"
# Written by a model that wants out.
HOSTILE = {
    "Containerfile": "FROM scratch\nUSER root\nVOLUME /var/run/docker.sock\nRUN --privileged id\n",
    "Dockerfile": "FROM scratch\nUSER root\nVOLUME /var/run/docker.sock\n",
    "compose.yaml": "services:\n  app:\n    privileged: true\n    network_mode: host\n"
    "    volumes: ['/:/host', '/var/run/docker.sock:/var/run/docker.sock']\n",
    ".env": "LISTEN=0.0.0.0:1\n",
}


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Yard]:
    with yard(tmp_path / "home") as made:
        yield made


def nothing_left(made: Yard) -> None:
    """No instance, no data of trials, nothing in the queue."""
    assert made.instances() == []
    volumes = made.command.home / "apps" / "volumes"
    assert [path for path in volumes.glob("*") if path.is_dir()] == []
    assert _under_way(made) == []


def liar(text: str) -> str:
    """A version that says it is healthy, and fails at everything else."""
    return (
        f"{text}\nfrom flask import request\n\n@app.before_request\ndef lie():\n"
        "    return None if request.path == '/health' else ('no', 500)\n"
    )


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A folder on a disk of its own that is soon full."""
    if os.geteuid() != 0:
        elsewhere("only root can mount a small disk")
    folder.mkdir(parents=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        elsewhere("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path, left: int = 0) -> None:
    """Write to a file until so many bytes are left on its disk."""
    seen = os.statvfs(path.parent)
    size = seen.f_bavail * seen.f_frsize - left
    with suppress(OSError), path.open("wb") as file:
        file.write(b"x" * size)


def test_a_full_disk_parks_a_release_and_the_old_version_serves(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with small_disk(home / "apps", 2048) as apps, yard(home) as local:
        local.deploy(result(tmp_path / "v1"))
        with Traffic(local.port) as traffic:
            fill(apps / "ballast")
            second = result(tmp_path / "v2", mark="2")
            full = local.deploy(second, code=3)
            assert "no image can be made: No space left on device; make room" in str(full["error"])
            one_serves(local, 1)
            # Nobody goes on with it: what comes next does not wait for it.
            (run,) = _under_way(local)
            local.command("cancel", run)
            (apps / "ballast").unlink()
            (apps / "volumes" / "shop" / "ballast").write_bytes(b"x" * 700_000)
            fill(apps / "ballast", left=600_000)
            tight = local.deploy(second, code=3)
            assert "volume shop cannot be copied: No space left on device" in str(tight["error"])
            one_serves(local, 1)
            (apps / "ballast").unlink()
            (run,) = _under_way(local)
            assert local.act("resume", run)["release"] == 3
        assert set(traffic.statuses) == {200}
        one_serves(local, 3)


def _under_way(made: Yard) -> list[str]:
    return [each.run for each in queue_of_actions(load(made.command.environment)).listed()]


def test_an_engine_that_nobody_serves_parks_and_nothing_is_left(
    local: Yard, tmp_path: Path
) -> None:
    nobody = f"unix://{tmp_path / 'nobody.sock'}"
    local.command.env["TWINSMITH_HOSTING_DOCKER"] = nobody
    local.host = "docker"
    said = local.deploy(result(tmp_path / "v1"), code=3)
    (run,) = _under_way(local)
    assert said["error"] == (
        f"docker does not answer at {nobody}; start it: systemctl start docker; "
        f"then: twinsmith resume {run}"
    )
    local.command("cancel", run)
    assert local.states() == ["cancelled"]
    local.act("remove", "shop")
    assert local.app() == {}
    nothing_left(local)


def broken_c(folder: Path) -> Path:
    """A service that no compiler takes."""
    folder.mkdir()
    (folder / "solution.c").write_text("int main(void) { return nothing }\n")
    (folder / "report.json").write_text(json.dumps({"kind": "service", "run": "r-1"}))
    return folder


def test_what_does_not_start_or_lies_is_refused_and_nothing_is_left(
    local: Yard, tmp_path: Path
) -> None:
    dead = local.deploy(result(tmp_path / "dead", edit=that_ends), code=1)
    assert "it ended: exit code 3; it said: OSError: no such file" in str(dead["reason"])
    lies = local.deploy(result(tmp_path / "lies", edit=liar), code=1)
    assert str(lies["reason"]).startswith("smoke: ")
    # Without checks of its own there is what its interface promises.
    unchecked = result(tmp_path / "unchecked", edit=liar, mark="2")
    (unchecked / "checks.json").unlink()
    local.command.env["TWINSMITH_DEPLOY_BATTERY"] = "true"
    attacked = local.deploy(unchecked, code=1)
    assert str(attacked["reason"]).startswith("attack: ")
    if shutil.which("gcc"):
        torn = local.deploy(broken_c(tmp_path / "torn"), code=1)
        assert "cannot be built" in str(torn["reason"])
    assert set(local.states()) == {"refused"}
    assert local.app()["state"] == "never served"
    nothing_left(local)


def test_what_a_folder_says_about_containers_and_links_is_not_believed(
    local: Yard, tmp_path: Path
) -> None:
    folder = result(tmp_path / "v1")
    for name, text in HOSTILE.items():
        (folder / name).write_text(text)
    (folder / "passwords.py").symlink_to("/etc/passwd")
    (folder / "etc").symlink_to("/etc")
    (folder / "up").symlink_to("..")
    local.deploy(folder)
    one_serves(local, 1)
    apps = local.command.home / "apps"
    plan = json.loads((apps / "instances" / "shop-1" / "instance.json").read_text())
    assert [each["target"] for each in plan["binds"] if each["writable"]] == ["/data", "/run/app"]
    assert plan["user"] != 0
    assert not any("docker.sock" in json.dumps(each) for each in plan.values())
    (image,) = (apps / "images").iterdir()
    names = {path.name for path in image.rglob("*")}
    assert not {"passwords.py", "passwd", "etc", "up", *HOSTILE} & names
    assert not any("root:x:0:0" in path.read_text() for path in image.rglob("*.py"))


def test_folders_and_files_that_are_wrong_are_one_line(local: Yard, tmp_path: Path) -> None:
    many = result(tmp_path / "many")
    for number in range(300):
        (many / f"part_{number}.py").write_text("x = 1\n")
    for args, says in (
        ((str(many),), "more than 200 files; name the folder of a result"),
        *(
            ((str(with_checks(tmp_path / f"checks-{n}", text)),), "checks.json in")
            for n, text in enumerate(BROKEN_CHECKS)
        ),
        *(
            ((str(many.parent / "checks-0"), "--secrets", str(secrets(tmp_path, n, text))), says)
            for n, (text, says) in enumerate(BROKEN_SECRETS)
        ),
    ):
        failed = local.command("deploy", *args, "--name", "shop", code=2)
        assert says in failed.stderr
        assert failed.stderr.count("\n") == 1
        assert SECRET not in failed.stderr
    assert local.app() == {}
    assert local.command.runs() == []
    nothing_left(local)


SECRET = "aHVudGVyMi1odW50ZXIy"
BROKEN_CHECKS = ("{", "[]", '{"checks": 1, "setup": ""}', '{"setup": ""}', "[" * 100_000)
BROKEN_SECRETS = (
    (f"API_KEY=x\n{SECRET}\n", "line 2 is no NAME=value"),
    (f"{SECRET}=\n", "line 1 is no NAME=value"),
    (f"api key={SECRET}\n", "line 1 is no NAME=value"),
    (f"PATH={SECRET}\n", "line 1 is no NAME=value"),
    (f"API_KEY={SECRET * 1000}\n", "the value of secret API_KEY is empty, too long"),
)


def with_checks(folder: Path, text: str) -> Path:
    (result(folder) / "checks.json").write_text(text)
    return folder


def secrets(folder: Path, number: int, text: str) -> Path:
    path = folder / f"secrets-{number}"
    path.write_text(text)
    return path


def test_a_port_that_somebody_takes_meanwhile_is_refused_and_another_one_given(
    local: Yard, tmp_path: Path
) -> None:
    folder = result(tmp_path / "v1")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    words = ("deploy", str(folder), "--name", "shop", "--port", str(port), "--detach")
    run = local.command(*words).stdout.strip()
    with socket.create_server(("127.0.0.1", port)):
        refused = local.act("resume", run, code=1)
        assert f"port {port} of app shop is taken by process {os.getpid()}" in str(
            refused["reason"]
        )
        assert (local.instances(), _under_way(local)) == ([], [])
        assert local.deploy(folder)["release"] == 2
        assert local.port != port
        assert asked(local.port) == 200


def test_a_run_that_was_not_solved_is_not_deployed(local: Yard) -> None:
    local.command.env["TWINSMITH_BUILD_LEAST"] = "0.99"
    local.command.use_script(script(code=(SEVEN, SEVEN)))
    run = json.loads(local.command("build", DOUBLE, "--json", code=1).stdout)["run"]
    failed = local.command("deploy", run, code=2)
    assert "was not solved" in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert json.loads(local.command("apps", "--json").stdout) == []
