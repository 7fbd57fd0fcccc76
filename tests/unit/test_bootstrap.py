"""scripts/bootstrap, on a machine made of a folder of commands: an apt that is told what it has."""

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import ROOT

REAL = ("bash", "env", "grep", "sort", "test", "cat", "chmod", "touch")
# The parts that a folder of commands can lack: by their packages, what each brings.
BRINGS = {
    "bubblewrap": "bwrap",
    "util-linux": "setpriv",
    "cppcheck": "cppcheck",
    "libperl-critic-perl": "perlcritic",
    "podman": "podman",
    "maven": "mvn",
}
OTHERS = (
    *("gcc", "g++", "perl", "go", "dockerd", "runc", "debootstrap", "caddy", "java", "initdb"),
    "chromium",
    "python3",
)
APT = """#!/usr/bin/env bash
echo "$*" >>"$APT_LOG"
[ "$1" = update ] && exit "${UPDATE_FAILS:-0}"
bring() { case "$1" in %s esac; }
for word in "$@"; do
  case " $UNKNOWN " in *" $word "*) echo "E: Unable to locate package $word" >&2; exit 100 ;; esac
done
for word in "$@"; do
  command=$(bring "$word")
  [ -z "$command" ] || { touch "$COMMANDS/$command"; chmod +x "$COMMANDS/$command"; }
done
"""


@dataclass
class Machine:
    """Commands in a folder, among them an apt that knows all packages but some."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def has(self, *commands: str, says: str = "") -> None:
        for command in commands:
            path = self.folder / command
            path.write_text(f"#!/usr/bin/env bash\n{says}\n")
            path.chmod(0o755)

    def lacks(self, *packages: str) -> None:
        for package in packages:
            (self.folder / BRINGS[package]).unlink()

    def bootstrap(self, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.folder / "bash", ROOT / "scripts" / "bootstrap", *words],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def asked(self) -> list[str]:
        """What was asked of apt, without its options."""
        log = Path(self.environment["APT_LOG"])
        lines = log.read_text().splitlines() if log.exists() else []
        return [" ".join(w for w in line.split() if not w.startswith("-")) for line in lines]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One that has everything, whose user is root."""
    for place in ("/usr/bin/python3", "/usr/include/stdio.h"):
        if not Path(place).exists():
            pytest.skip(f"there is no {place}; run: apt-get install -y python3 libc6-dev")
    folder = tmp_path / "commands"
    folder.mkdir()
    for command in REAL:
        (folder / command).symlink_to(shutil.which(command) or "")
    for toolchain in ("rustc", "clippy-driver"):
        path = tmp_path / ".rustup/toolchains/stable/bin" / toolchain
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    environment = {"PATH": str(folder), "HOME": str(tmp_path), "COMMANDS": str(folder)}
    made = Machine(folder, environment | {"APT_LOG": str(tmp_path / "log"), "UNKNOWN": ""})
    made.has(*BRINGS.values(), *OTHERS)
    made.has("ldconfig", says="echo libseccomp.so.2 libgomp.so.1")
    made.has("id", says="echo 0")
    cases = " ".join(f"{package}) echo {command} ;;" for package, command in BRINGS.items())
    (folder / "apt-get").write_text(APT % cases)
    (folder / "apt-get").chmod(0o755)
    return made


def test_nothing_is_asked_where_nothing_is_missing(machine: Machine) -> None:
    done = machine.bootstrap("test", CI="true")
    assert (done.returncode, done.stdout, done.stderr, machine.asked) == (0, "", "", [])


def test_what_is_missing_is_installed_at_once(machine: Machine) -> None:
    machine.lacks("bubblewrap", "podman", "maven")
    done = machine.bootstrap("test", CI="true")
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.asked == ["update", "install bubblewrap podman maven"]


def test_the_product_alone_needs_less(machine: Machine) -> None:
    machine.lacks("bubblewrap", "podman")
    assert machine.bootstrap(CI="true").returncode == 0
    assert machine.asked == ["update", "install bubblewrap"]


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({}, 0),
        ({"CI": "false"}, 0),
        ({"STRICT": "0", "CI": "true"}, 0),
        ({"CI": "true"}, 1),
        ({"STRICT": "1"}, 1),
    ],
    ids=str,
)
def test_what_apt_does_not_know_is_told_and_the_rest_is_installed(
    machine: Machine, environment: dict[str, str], code: int
) -> None:
    machine.lacks("cppcheck", "podman", "maven")
    done = machine.bootstrap("test", UNKNOWN="podman", **environment)
    assert done.returncode == code
    told = [line for line in done.stderr.splitlines() if " is missing; " in line]
    line = "apt-get install -y --no-install-recommends podman"
    assert told == [f"bootstrap: podman is missing; to install it: {line}"]
    assert (machine.folder / "cppcheck").exists()
    assert (machine.folder / "mvn").exists()


def test_lists_that_cannot_be_fetched_may_still_do(machine: Machine) -> None:
    machine.lacks("podman")
    assert machine.bootstrap("test", CI="true", UPDATE_FAILS="100").returncode == 0
    assert (machine.folder / "podman").exists()


@pytest.mark.parametrize(("strict", "code"), [("", 0), ("1", 1)])
def test_who_may_not_install_is_told_the_line(machine: Machine, strict: str, code: int) -> None:
    machine.lacks("podman", "maven")
    machine.has("id", says="echo 1000")
    machine.has("sudo", says="exit 1")
    done = machine.bootstrap("test", STRICT=strict)
    assert done.returncode == code
    assert "sudo apt-get install -y --no-install-recommends podman maven" in done.stderr
    assert "bootstrap: podman is missing" in done.stderr
    assert "bootstrap: maven is missing" in done.stderr
    assert machine.asked == []


def test_sudo_is_used_where_it_asks_for_no_password(machine: Machine) -> None:
    machine.lacks("podman")
    machine.has("id", says="echo 1000")
    machine.has("sudo", says='[ "$1" = -n ] || exec "$@"')
    assert machine.bootstrap("test", STRICT="1").returncode == 0
    assert machine.asked == ["update", "install podman"]


@pytest.mark.parametrize(("strict", "code"), [("", 0), ("1", 1)])
def test_another_distribution_is_told_what_is_missing(
    machine: Machine, strict: str, code: int
) -> None:
    machine.lacks("podman")
    (machine.folder / "apt-get").unlink()
    done = machine.bootstrap("test", STRICT=strict)
    assert done.returncode == code
    assert "there is no apt-get here" in done.stderr
    assert "bootstrap: podman is missing" in done.stderr


@pytest.mark.parametrize(("words", "code"), [([], 0), (["STRICT=1"], 2)], ids=str)
def test_make_hands_on_that_nothing_may_be_missing(
    machine: Machine, words: list[str], code: int
) -> None:
    machine.lacks("podman")
    made = ".venv/.installed-dev"
    done = subprocess.run(
        [shutil.which("make") or "make", "-C", ROOT, "-o", made, "setup-dev", *words],
        env=machine.environment | {"UNKNOWN": "podman"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "bootstrap: podman is missing" in done.stderr
