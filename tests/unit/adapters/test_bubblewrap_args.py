from dataclasses import replace
from pathlib import Path

import pytest

from twinsmith.adapters.sandbox import bubblewrap_args
from twinsmith.adapters.sandbox.bubblewrap_args import (
    Open,
    Way,
    in_chroot,
    open_to_all,
    sandbox_args,
)
from twinsmith.adapters.sandbox.cell import Cell, Isolation, Mount
from twinsmith.core.execution import Limits

ROOT = Way(user=64005)


def args(*mounts: Mount, way: Way) -> list[str]:
    cell = Cell(room={}, job={}, limits=Limits(), wall_seconds=1.0, mounts=mounts)
    return sandbox_args(["CMD"], cell, Open(texts={"/run/harness": 7}), way)


def test_nothing_of_the_host_is_writable() -> None:
    line = args(Mount(source="/usr/lib", target="/run/cache"), way=ROOT)
    assert "--bind" not in line
    assert [line[i + 1] for i, word in enumerate(line) if word == "--ro-bind"] == [
        "/usr",
        "/usr/lib",
    ]
    assert [line[i + 1] for i, word in enumerate(line) if word == "--remount-ro"] == [
        *("/dev/pts", "/dev", "/")
    ]


def test_every_namespace_goes_and_every_capability_but_the_one_to_mount_scratch_with() -> None:
    line = args(way=Way())
    for word in ("--unshare-all", "--disable-userns", "--die-with-parent", "--new-session"):
        assert word in line
    assert "--clearenv" in line
    assert line[line.index("--cap-drop") :] == [
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--", "CMD")
    ]


def test_a_folder_that_nobody_may_enter_is_staged_for_root_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap_args, "open_to_all", lambda path: not path.startswith("/root"))
    hidden = Mount(source="/root/tools", target="/root/tools")
    shown = Mount(source=str(tmp_path), target="/run/cache")
    line = args(hidden, shown, way=ROOT)
    assert line[:5] == ["unshare", "--mount", "--propagation", "private", "sh"]
    stage = line.index("sh", 5)
    assert line[stage : stage + 5] == ["sh", "show", "/root/tools", "--", "setpriv"]
    assert "--no-new-privs" in line[stage : line.index("bwrap")]
    where = line.index("/mnt/0.seen")
    assert line[where - 1 : where + 2] == ["--ro-bind", "/mnt/0.seen", "/root/tools"]
    assert "/root/tools" in args(hidden, way=Way())
    assert "unshare" not in args(hidden, way=Way())


def test_a_folder_is_open_to_all_when_every_step_to_it_is(tmp_path: Path) -> None:
    assert open_to_all("/usr/bin")
    closed = tmp_path / "closed"
    inner = closed / "inner"
    inner.mkdir(parents=True)
    closed.chmod(0o700)
    assert not open_to_all(str(inner))
    assert not open_to_all(str(tmp_path / "absent"))


def test_a_root_that_is_no_mount_is_that_of_a_chroot() -> None:
    root = "28 1 8:1 / / rw,relatime - ext4 /dev/vda rw\n"
    proc = "42 28 0:39 / /proc rw,relatime - proc proc rw\n"
    assert in_chroot(proc)
    assert not in_chroot(root + proc)
    assert not in_chroot(proc + root)


def test_isolation_says_what_is_missing() -> None:
    full = Isolation(backend="b", version="1", missing=())
    assert str(full) == "backend=b isolation=full missing=[]"
    some = Isolation(backend="b", version="1", missing=("memory", "seccomp"))
    assert str(some) == "backend=b isolation=degraded missing=[memory,seccomp]"


def test_with_groups_of_version_two_the_first_process_waits_at_a_gate() -> None:
    cell = Cell(room={}, job={}, limits=Limits(), wall_seconds=1.0)
    line = sandbox_args(["CMD"], cell, Open(texts={"/run/harness": 7}, gate=(8, 9)), Way())
    start = line.index("--info-fd")
    assert line[start : start + 4] == ["--info-fd", "8", "--block-fd", "9"]
    assert "--block-fd" not in args(way=Way())


def test_what_lies_elsewhere_is_shown_without_its_path() -> None:
    """Root's own rights mount it; anybody else is root in a user namespace."""
    layer = Mount(source="/home/ann/data/layer", target="/run/layer")
    tools = Mount(source="/usr/lib", target="/usr/lib")
    for way, first in ((ROOT, ["unshare", "--mount"]), (Way(), ["unshare", "--user"])):
        line = args(layer, tools, way=replace(way, hides=True))
        assert line[:2] == first
        start = line.index("hide")
        assert line[start : start + 3] == ["hide", "/home/ann/data/layer", "--"]
        assert [line[i + 1 : i + 3] for i, word in enumerate(line) if word == "--ro-bind"][1:] == [
            ["/mnt/0.seen", "/run/layer"],
            ["/usr/lib", "/usr/lib"],
        ]


def test_every_room_has_a_name_and_no_terminals_and_knows_no_command_line() -> None:
    line = args(way=Way())
    assert line[line.index("--hostname") + 1] == "sandbox"
    assert line[line.index("--tmpfs") + 1] == "/dev/pts"
    assert line[line.index("/proc/cmdline") - 2 :][:2] == ["--dev-bind", "/dev/null"]


def test_without_a_group_zeros_cannot_be_mapped() -> None:
    assert "/dev/zero" not in args(way=Way())
    line = args(way=Way(counted=False))
    assert line[line.index("/dev/zero") - 2 :][:2] == ["--dev-bind", "/dev/full"]
