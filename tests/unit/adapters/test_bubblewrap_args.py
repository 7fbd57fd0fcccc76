from twinsmith.adapters.sandbox.bubblewrap import Isolation, sandbox_args
from twinsmith.core.execution import Limits


def args(*, root: bool) -> list[str]:
    return sandbox_args(["CMD"], Limits(memory_mb=100, probe_seconds=3), 9, root=root)


def test_the_environment_is_emptied_before_bubblewrap_starts() -> None:
    assert args(root=False)[:4] == ["env", "-i", "PATH=/usr/bin:/bin", "bwrap"]


def test_root_becomes_nobody_before_bubblewrap_starts() -> None:
    line = args(root=True)
    assert line[3] == "setpriv"
    assert "--no-new-privs" in line[: line.index("bwrap")]
    assert "setpriv" not in args(root=False)


def test_nothing_of_the_host_is_writable() -> None:
    line = args(root=True)
    assert "--bind" not in line
    assert [line[i + 1] for i, word in enumerate(line) if word == "--ro-bind"] == ["/usr"]
    assert [line[i + 1] for i, word in enumerate(line) if word == "--remount-ro"] == ["/dev", "/"]


def test_every_namespace_and_capability_goes() -> None:
    line = args(root=False)
    for word in ("--unshare-all", "--disable-userns", "--die-with-parent", "--new-session"):
        assert word in line
    assert line[line.index("--cap-drop") + 1] == "ALL"


def test_limits_stand_right_before_the_command() -> None:
    line = args(root=False)
    tail = line[line.index("prlimit") :]
    assert f"--as={100 << 20}" in tail
    assert "--cpu=5" in tail
    assert tail[-2:] == ["--", "CMD"]


def test_isolation_says_what_is_missing() -> None:
    full = Isolation(backend="b", version="1", missing=())
    assert str(full) == "backend=b isolation=full missing=[]"
    some = Isolation(backend="b", version="1", missing=("cgroup", "seccomp"))
    assert str(some) == "backend=b isolation=degraded missing=[cgroup,seccomp]"
