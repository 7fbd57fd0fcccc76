"""Where gauges find their figures: control groups, processes, volumes, and logs of engines."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from twinsmith.adapters.hosting.counters import Counters, counters
from twinsmith.adapters.hosting.engine_args import LOG_BYTES
from twinsmith.adapters.hosting.engine_gauge import _Written, log_path, plain_lines
from twinsmith.adapters.hosting.life import Life, descendants, life_of
from twinsmith.adapters.hosting.local_gauge import LocalGauge
from twinsmith.adapters.hosting.volume_size import VolumeSize, size_of
from twinsmith.adapters.tail import Tail
from twinsmith.core.operating.reading import Said, Usage
from twinsmith.settings.loading import load
from twinsmith.wiring.delivering import sockets_of
from twinsmith.wiring.watching import gauge_of, meter_of, readings_of

V1 = (
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)
V2 = "41 31 0:38 /kubepods/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n29 1 0:1 / /x rw - ext4 a rw\n"


def test_groups_are_found_in_both_versions() -> None:
    own = "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n"
    assert counters(V1, own) == Counters(
        memory="/sys/fs/cgroup/memory/docker/abc",
        cpu="/sys/fs/cgroup/cpuacct/docker/abc",
        unified=False,
    )
    place = "/sys/fs/cgroup/docker/abc"
    inside = counters(V2, "0::/kubepods/x/docker/abc\n")
    assert inside == Counters(memory=place, cpu=place, unified=True)
    assert counters(V2, "0::/docker/abc\n") == inside
    assert counters("29 1 0:1 / /x rw - ext4 a rw\n", own) is None


def test_files_of_the_second_version(tmp_path: Path) -> None:
    group = Counters(memory=str(tmp_path), cpu=str(tmp_path), unified=True)
    (tmp_path / "memory.current").write_text("5000\n")
    (tmp_path / "memory.stat").write_text("anon 7\ninactive_file 1000\nactive_file 9\n")
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    assert (group.memory_bytes(), group.cpu_seconds()) == (4000, 2.5)
    assert group.memory_limit() is None
    figures = Life(pid=os.getpid(), counters=group, outer=1).figures()
    assert figures
    assert (figures.memory, figures.cpu_seconds, figures.processes) == (4000, 2.5, 1)
    assert Life(pid=2, counters=group).figures() is None


def test_files_of_the_first_version(tmp_path: Path) -> None:
    group = Counters(memory=str(tmp_path), cpu="", unified=False)
    (tmp_path / "memory.usage_in_bytes").write_text("5000\n")
    (tmp_path / "memory.stat").write_text("inactive_file 7\ntotal_inactive_file 1500\n")
    (tmp_path / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert (group.memory_bytes(), group.cpu_seconds(), group.memory_limit()) == (3500, None, None)
    (tmp_path / "memory.limit_in_bytes").write_text("167772160\n")
    assert group.memory_limit() == 167772160


def test_without_groups_processes_are_added_up() -> None:
    held = "import sys; x = b'x' * (32 << 20); print(flush=True); sys.stdin.read()"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {held!r}])"
    child = subprocess.Popen(
        [sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout
        child.stdout.readline()
        life = life_of(child.pid, counted=False)
        assert life
        assert len(descendants(child.pid)) == 2
        figures = life.figures()
        assert figures
        assert figures.memory
        assert figures.memory > 32 << 20
        assert figures.cpu_seconds
        assert figures.descriptors
        assert figures.descriptors >= 3
        assert (figures.processes, life.memory_limit) == (2, None)
        child.communicate(b"")
    assert life.figures() is None
    assert life_of(child.pid) is None
    assert life_of(os.getpid(), mark="no such container") is None


async def test_a_volume_is_its_files_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(os.urandom(100_000))
    (tmp_path / "link").symlink_to("/usr")
    size = size_of(str(tmp_path))
    assert size is not None
    assert 100_000 <= size < 200_000
    assert await VolumeSize(str(tmp_path)).look() == size
    assert size_of(str(tmp_path / "none")) is None
    assert await VolumeSize().look() is None


def test_only_so_many_files_of_a_volume_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinsmith.adapters.hosting.volume_size.MOST_FILES", 3)
    for number in range(9):
        (tmp_path / str(number)).write_text("x")
    assert size_of(str(tmp_path)) == 3 * 4096


def test_what_engines_keep_of_a_log_is_what_was_written() -> None:
    docker = [
        b'{"log":"one\\n","stream":"stdout"}',
        b'{"log":"tw"}',
        b'{"log":"o\\n"}',
        b"{",
        b"[]",
    ]
    assert list(plain_lines("docker", docker)) == ["one", "two"]
    at = b"2026-11-18T10:00:00.0+00:00 stdout "
    podman = [at + b"F one", at + b"P t", at + b"F wo", b"x", at + b"F ", at + b"P thr"]
    assert list(plain_lines("podman", podman)) == ["one", "two", "", "thr"]
    assert log_path({"LogPath": "/a"}) == "/a"
    assert log_path({"HostConfig": {"LogConfig": {"Path": "/b"}}}) == "/b"
    assert log_path({}) == ""


async def test_what_nobody_can_read_is_absent(tmp_path: Path) -> None:
    (tmp_path / "shop-1").mkdir()
    (tmp_path / "shop-1" / "status.json").write_text("{")
    assert await LocalGauge(tmp_path).read("shop-1") == Usage(state="absent")
    assert await LocalGauge(tmp_path).said("shop-1") == Said()


async def test_settings_lead_to_what_watching_needs(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = load({"TWINSMITH_HOME": str(tmp_path), "HOME": str(tmp_path)})
    request.addfinalizer(sockets_of(settings).rmdir)
    assert await gauge_of(settings, "local").read("nobody-1") == Usage(state="absent")
    assert type(gauge_of(settings, "docker")).__name__ == "EngineGauge"
    assert (await meter_of(settings).read("nobody")).requests == 0
    assert readings_of(settings).listed("nobody", 0, 1) == ()


def test_a_log_that_is_rolled_counts_on(tmp_path: Path) -> None:
    log = tmp_path / "c-json.log"
    written = _Written(str(log), Tail(log))
    assert written.bytes() is None
    log.write_bytes(b"x" * 600_000)
    assert written.bytes() == 600_000
    # It is full, and rolled; what came before that is in the file that is kept.
    log.write_bytes(b"x" * LOG_BYTES)
    log.rename(f"{log}.1")
    log.write_bytes(b"x" * 5_000)
    assert written.bytes() == LOG_BYTES + 5_000
    # Rolled twice since the last look: the one in between is what is kept now.
    middle = tmp_path / "middle"
    middle.write_bytes(b"x" * LOG_BYTES)
    middle.rename(f"{log}.1")
    fresh = tmp_path / "fresh"
    fresh.write_bytes(b"x" * 7_000)
    fresh.rename(log)
    assert written.bytes() == 3 * LOG_BYTES + 7_000


def test_a_log_of_which_nothing_is_kept_was_full_when_it_was_rolled(tmp_path: Path) -> None:
    log, fresh = tmp_path / "ctr.log", tmp_path / "ctr.log.tmp"
    written = _Written(str(log), Tail(log))
    log.write_bytes(b"x" * 100)
    assert written.bytes() == 100
    fresh.write_bytes(b"x" * 10)
    fresh.rename(log)
    assert written.bytes() == LOG_BYTES + 10
