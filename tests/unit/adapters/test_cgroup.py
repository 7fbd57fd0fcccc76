"""Both versions of control groups, on mount tables as they are found in the wild."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.strictness import elsewhere
from twinsmith.adapters.sandbox import cgroup
from twinsmith.adapters.sandbox.cgroup import Groups, find

OLD = """\
30 24 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory
32 30 0:28 / /sys/fs/cgroup/pids rw,nosuid - cgroup cgroup rw,pids
33 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct
34 30 0:30 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw
"""
OLD_OWN = "4:memory:/jobs/7\n3:pids:/\n2:cpu,cpuacct:/\n0::/\n"
NEW = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
NEW_OWN = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n"
ROOT = Path("/sys/fs/cgroup")


def test_version_one_has_a_folder_for_each_controller_below_our_own() -> None:
    assert find(OLD, OLD_OWN, root=True) == Groups(
        folders={
            "memory": ROOT / "memory/jobs/7/twinsmith",
            "pids": ROOT / "pids/twinsmith",
            "cpu": ROOT / "cpu,cpuacct/twinsmith",
            "cpuacct": ROOT / "cpu,cpuacct/twinsmith",
        },
        unified=False,
    )


def test_groups_that_are_mounted_once_more_elsewhere_are_left_alone() -> None:
    again = OLD.replace("/sys/fs/cgroup", "/srv/other/sys/fs/cgroup")
    assert find(OLD + again, OLD_OWN, root=True) == find(OLD, OLD_OWN, root=True)
    again = NEW.replace("/sys/fs/cgroup", "/srv/other/sys/fs/cgroup")
    assert find(NEW + again, NEW_OWN, root=True) == find(NEW, NEW_OWN, root=True)


def test_version_two_has_one_folder_at_the_top_for_root() -> None:
    assert find(NEW, NEW_OWN, root=True) == Groups(folders={"": ROOT / "twinsmith"}, unified=True)


def test_version_two_has_one_beside_our_own_for_others() -> None:
    """A group with processes of its own may not have groups with limits below it."""
    above = ROOT / "user.slice/user-1000.slice/user@1000.service/app.slice"
    groups = find(NEW, NEW_OWN, root=False)
    assert groups == Groups(folders={"": above / "twinsmith"}, unified=True)


@pytest.mark.parametrize(("mounts", "own"), [("", ""), (OLD.splitlines()[0], OLD_OWN)])
def test_none_where_there_is_none(mounts: str, own: str) -> None:
    assert find(mounts, own, root=True) is None


def test_an_ordinary_user_has_no_place_above_the_top() -> None:
    assert find(NEW, "0::/\n", root=False) is None


def test_what_is_written() -> None:
    assert cgroup.settings(100, 9, unified=True) == {
        "memory.max": "104857600",
        "memory.swap.max": "0",
        "pids.max": "9",
        "cpu.weight": "25",
    }
    old = cgroup.settings(100, 9, unified=False)
    assert old["memory.limit_in_bytes"] == old["memory.memsw.limit_in_bytes"] == "104857600"
    assert (old["pids.max"], old["cpu.shares"]) == ("9", "256")


def test_controllers_that_are_mounted_together_share_one_group(tmp_path: Path) -> None:
    both = tmp_path / "both"
    both.mkdir()
    names = {"memory": tmp_path, "pids": tmp_path, "cpu": both, "cpuacct": both}
    groups = Groups(folders=names, unified=False)
    assert groups.counts_processor
    group = cgroup.make(groups, "7-1", memory_mb=64, processes=8)
    assert group.folders == (tmp_path / "7-1", both / "7-1")
    assert group.used == both / "7-1" / "cpuacct.usage"


class Unified:
    """A folder that looks like version two, as far as reading and writing files goes."""

    def __init__(self, folder: Path) -> None:
        self.groups = Groups(folders={"": folder}, unified=True)
        self.group = cgroup.make(self.groups, "7-1", memory_mb=64, processes=8)

    def read(self, name: str) -> str:
        return (self.group.memory / name).read_text()


def test_a_group_is_made_joined_lowered_read_and_swept(tmp_path: Path) -> None:
    made = Unified(tmp_path)
    assert (made.read("memory.max"), made.read("pids.max")) == ("67108864", "8")
    assert made.group.used == tmp_path / "7-1" / "cpu.stat"
    cgroup.add(made.group, 4711)
    assert made.read("cgroup.procs") == "4711"
    cgroup.lower(made.group, 32)
    assert made.read("memory.max") == str(32 << 20)
    events = made.group.memory / "memory.events"
    events.write_text("low 0\noom 1\noom_kill 0\n")
    assert not cgroup.out_of_memory(made.group)
    events.write_text("low 0\noom 1\noom_kill 2\n")
    assert cgroup.out_of_memory(made.group)


def test_real_groups_leave_nothing() -> None:
    groups = cgroup.here()
    if groups is None:
        elsewhere("no control group can be made here: run as root or in a delegated group")
    group = cgroup.make(groups, f"{os.getpid()}-test", memory_mb=64, processes=8)
    assert all(folder.is_dir() for folder in group.folders)
    assert not cgroup.out_of_memory(group)
    if groups.counts_processor:
        assert group.used is not None
        assert group.used.read_text().split()[0] in ("0", "usage_usec")
    cgroup.remove(group)
    assert not any(folder.exists() for folder in group.folders)


def test_a_limit_of_all_together_stands_above_the_groups(tmp_path: Path) -> None:
    new = Groups(folders={"": tmp_path}, unified=True)
    cgroup.cap(new, memory_mb=64, processors=1.5)
    assert (tmp_path / "memory.max").read_text() == str(64 << 20)
    assert (tmp_path / "cpu.max").read_text() == "150000 100000"
    folders = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
    for folder in folders.values():
        folder.mkdir()
    cgroup.cap(Groups(folders=folders, unified=False), memory_mb=64, processors=0.5)
    assert (folders["memory"] / "memory.limit_in_bytes").read_text() == str(64 << 20)
    assert (folders["cpu"] / "cpu.cfs_quota_us").read_text() == "50000"
    assert cgroup.totals(0, 0, unified=True) == cgroup.totals(0, 0, unified=False) == {}


@pytest.mark.groups
def test_the_kernel_holds_all_groups_together_to_their_limit() -> None:
    groups = cgroup.here()
    assert groups is not None
    # A place of this test's own: what others run here is left alone.
    inner = Groups(
        folders={name: folder / f"{os.getpid()}-all" for name, folder in groups.folders.items()},
        unified=groups.unified,
    )
    for folder in inner.folders.values():
        folder.mkdir(exist_ok=True)
        if groups.unified:
            (folder / "cgroup.subtree_control").write_text("+memory +pids")
    group = None
    try:
        cgroup.cap(inner, memory_mb=32, processors=0)
        # Each may take more than both together.
        group = cgroup.make(inner, f"{os.getpid()}-one", memory_mb=1024, processes=8)
        eats = "import os, sys; sys.stdin.read(1); x = bytearray(os.urandom(1)) * (256 << 20)"
        process = subprocess.Popen([sys.executable, "-c", eats], stdin=subprocess.PIPE)
        cgroup.add(group, process.pid)
        process.communicate(b"x", timeout=60)
        assert process.returncode == -9
        count, held = cgroup.used(inner)
        assert count == 1
        assert held is not None
    finally:
        if group is not None:
            cgroup.remove(group)
        for folder in inner.folders.values():
            with contextlib.suppress(FileNotFoundError):
                folder.rmdir()
