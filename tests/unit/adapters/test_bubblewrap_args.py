from pathlib import Path

import pytest

from twinsmith.adapters.sandbox import bubblewrap
from twinsmith.adapters.sandbox.bubblewrap import open_to_all, sandbox_args
from twinsmith.adapters.sandbox.cell import Cell, Isolation, Mount
from twinsmith.core.execution import Limits


def args(*mounts: Mount, root: bool) -> list[str]:
    cell = Cell(room={}, job={}, limits=Limits(), wall_seconds=1.0, mounts=mounts)
    return sandbox_args(["CMD"], cell, fds=(7,), root=root)


def test_nothing_of_the_host_is_writable() -> None:
    line = args(Mount(source="/usr/lib", target="/run/cache"), root=True)
    assert "--bind" not in line
    assert [line[i + 1] for i, word in enumerate(line) if word == "--ro-bind"] == [
        "/usr",
        "/usr/lib",
    ]
    assert [line[i + 1] for i, word in enumerate(line) if word == "--remount-ro"] == ["/dev", "/"]


def test_every_namespace_goes_and_every_capability_but_the_one_to_mount_scratch_with() -> None:
    line = args(root=False)
    for word in ("--unshare-all", "--disable-userns", "--die-with-parent", "--new-session"):
        assert word in line
    assert "--clearenv" in line
    assert line[line.index("--cap-drop") :] == [
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--", "CMD")
    ]


def test_a_folder_that_nobody_may_enter_is_staged_for_root_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "open_to_all", lambda path: not path.startswith("/root"))
    hidden = Mount(source="/root/tools", target="/root/tools")
    shown = Mount(source=str(tmp_path), target="/run/cache")
    line = args(hidden, shown, root=True)
    assert line[:5] == ["unshare", "--mount", "--propagation", "private", "sh"]
    stage = line.index("sh", 5)
    assert line[stage : stage + 4] == ["sh", "/root/tools", "--", "setpriv"]
    assert "--no-new-privs" in line[stage : line.index("bwrap")]
    where = line.index("/mnt/0")
    assert line[where - 1 : where + 2] == ["--ro-bind", "/mnt/0", "/root/tools"]
    assert "/root/tools" in args(hidden, root=False)
    assert "unshare" not in args(hidden, root=False)


def test_a_folder_is_open_to_all_when_every_step_to_it_is(tmp_path: Path) -> None:
    assert open_to_all("/usr/bin")
    closed = tmp_path / "closed"
    inner = closed / "inner"
    inner.mkdir(parents=True)
    closed.chmod(0o700)
    assert not open_to_all(str(inner))
    assert not open_to_all(str(tmp_path / "absent"))


def test_isolation_says_what_is_missing() -> None:
    full = Isolation(backend="b", version="1", missing=())
    assert str(full) == "backend=b isolation=full missing=[]"
    some = Isolation(backend="b", version="1", missing=("cgroup", "seccomp"))
    assert str(some) == "backend=b isolation=degraded missing=[cgroup,seccomp]"


def test_with_groups_of_version_two_the_first_process_waits_at_a_gate() -> None:
    cell = Cell(room={}, job={}, limits=Limits(), wall_seconds=1.0)
    line = sandbox_args(["CMD"], cell, fds=(7, 8, 9), root=False)
    start = line.index("--info-fd")
    assert line[start : start + 4] == ["--info-fd", "8", "--block-fd", "9"]
    assert "--block-fd" not in args(root=False)
