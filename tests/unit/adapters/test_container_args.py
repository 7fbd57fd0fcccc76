import io
import json
import os
import tarfile
from dataclasses import replace
from pathlib import Path

from twinsmith.adapters.sandbox.cell import Cell, Mount
from twinsmith.adapters.sandbox.container import kept
from twinsmith.adapters.sandbox.container_args import (
    PATH,
    Ready,
    abandoned,
    engine_args,
    image,
    limited,
    looks_spent,
    lower_args,
    remove_args,
    run_args,
    runtimes,
    version,
)
from twinsmith.core.execution import Limits

CELL = Cell(
    room={},
    job={},
    limits=Limits(memory_mb=100, processes=20, scratch_mb=7, scratch_files=99),
    wall_seconds=3,
    mounts=(Mount(source="/data/python-1", target="/run/layer"),),
    environment={"PYTHONHASHSEED": "0"},
)
DOCKER = Ready(
    engine="docker",
    image="twinsmith-sandbox:1",
    harness="/d/1-harness",
    profile="/d/2-seccomp.json",
    controls=frozenset({"memory", "pids", "cpu"}),
    shown=("/usr",),
)
PODMAN = replace(DOCKER, engine="podman")


def args(ready: Ready, cell: Cell = CELL) -> list[str]:
    return run_args(ready, cell, ["CMD", "word"], name="twinsmith-1-2", user=64003)


def test_docker() -> None:
    scratch = "rw,nosuid,nodev,exec,mode=1777"
    assert args(DOCKER) == [
        *["docker", "run", "--interactive", "--pull=never", "--name=twinsmith-1-2"],
        *["--hostname=sandbox", "--dns=192.0.2.1", "--network=none", "--cap-drop=ALL"],
        *["--security-opt=no-new-privileges", "--security-opt=seccomp=/d/2-seccomp.json"],
        *["--user=64003:64003", "--read-only", "--memory=100m", "--memory-swap=100m"],
        *["--pids-limit=28", "--cpu-shares=256", "--ulimit=core=0:0", "--ulimit=nofile=1024:1024"],
        *["--ulimit=nproc=1024:1024", "--log-driver=none", "--workdir=/tmp", f"--env=PATH={PATH}"],
        *["--env=HOME=/tmp", "--env=PYTHONHASHSEED=0"],
        f"--tmpfs=/tmp:{scratch},size=7m,nr_inodes=99",
        f"--tmpfs=/dev/shm:{scratch},size=16m,nr_inodes=99",
        "--tmpfs=/dev/pts:ro,nosuid,nodev,noexec,mode=0555,size=4k",
        *["--volume=/usr:/usr:ro", "--volume=/data/python-1:/run/layer:ro"],
        *["--volume=/d/1-harness:/run/harness:ro", "twinsmith-sandbox:1", "CMD", "word"],
    ]


def test_podman_adds_nothing_of_its_own_and_counts_no_files() -> None:
    line = args(PODMAN)
    mask = "--security-opt=mask=/proc/cmdline"
    for word in ("--read-only-tmpfs=false", "--http-proxy=false", "--no-hosts", mask):
        assert word in line
    assert "--tmpfs=/tmp:rw,nosuid,nodev,exec,mode=1777,size=7m" in line


def test_everything_that_is_mounted_is_read_only() -> None:
    for line in (args(DOCKER), args(PODMAN)):
        assert all(word.endswith(":ro") for word in line if word.startswith("--volume="))
        assert not any(word.startswith(("--mount", "--privileged", "--device")) for word in line)


def test_a_limit_that_the_engine_cannot_keep_is_not_asked_for() -> None:
    line = args(replace(PODMAN, controls=frozenset()))
    asked = ("--memory", "--pids-limit", "--cpu-shares")
    assert not [word for word in line if word.startswith(asked)]


def test_a_build_has_its_own_memory_until_it_is_over() -> None:
    line = args(DOCKER, replace(CELL, build_mb=2048))
    assert "--memory=2048m" in line
    assert lower_args("n", 100) == ["update", "--memory=100m", "--memory-swap=100m", "n"]


def test_where_the_engine_is_and_what_it_runs_with() -> None:
    host = replace(DOCKER, host="unix:///x.sock", runtime="runsc")
    assert engine_args(host) == ["docker", "--host", "unix:///x.sock"]
    assert args(host)[:4] == ["docker", "--host", "unix:///x.sock", "run"]
    assert "--runtime=runsc" in args(host)
    assert engine_args(replace(PODMAN, runtime="runc")) == ["podman", "--runtime", "runc"]
    assert runtimes("docker") == ("",)
    assert runtimes("podman")[0] == ""


def test_a_container_is_ended_at_once() -> None:
    assert remove_args("docker", "n") == ["rm", "--force", "n"]
    assert remove_args("podman", "n") == ["rm", "--force", "--time=0", "n"]


def test_the_image_holds_folders_and_links_and_the_names_of_the_room() -> None:
    assert image() == image()
    with tarfile.open(fileobj=io.BytesIO(image())) as archive:
        members = {member.name: member for member in archive}
    files = {member.name for member in members.values() if not (member.isdir() or member.issym())}
    assert files == {"etc/hosts", "etc/nsswitch.conf"}
    assert members["tmp"].mode == 0o1777
    assert members["lib64"].linkname == "usr/lib64"


def test_what_an_engine_tells_about_itself() -> None:
    docker = {"ServerVersion": "20.10", "MemoryLimit": True, "PidsLimit": True, "CPUShares": False}
    assert version("docker", docker) == "20.10"
    assert limited("docker", docker) == {"memory", "pids"}
    assert version("docker", {"ServerErrors": ["no"]}) == ""
    podman = {"version": {"Version": "4.3"}, "host": {"cgroupControllers": ["pids", "io"]}}
    assert version("podman", podman) == "4.3"
    assert limited("podman", podman) == {"pids"}
    assert limited("podman", {"host": {"cgroupControllers": None}}) == frozenset()


def test_a_killed_probe_that_held_half_of_the_memory_ran_out_of_it() -> None:
    def out(**row: object) -> bytes:
        return json.dumps({"n": 0, "outcome": "killed", "code": -9, **row}).encode()

    assert looks_spent(out(peak_kb=50 << 10), 100)
    assert not looks_spent(out(peak_kb=49 << 10), 100)
    assert not looks_spent(out(peak_kb=99 << 10, outcome="timed out"), 100)
    assert not looks_spent(b"no row\n[]", 100)


def test_only_containers_of_processes_that_are_gone_are_abandoned() -> None:
    gone = "twinsmith-4194305-1"
    others = ("twinsmith-app-1", "other-4194305-1", "twinsmith-4194305", "twinsmith-x-1")
    assert abandoned([f"twinsmith-{os.getpid()}-1", gone, *others]) == [gone]


def test_a_kept_file_is_named_by_its_content(tmp_path: Path) -> None:
    path = kept(tmp_path / "new", "harness", b"one")
    assert kept(tmp_path / "new", "harness", b"one") == path
    assert kept(tmp_path / "new", "harness", b"two") != path
    assert path.read_bytes() == b"one"
    assert path.stat().st_mode & 0o777 == 0o444
    assert len(list(path.parent.iterdir())) == 2
