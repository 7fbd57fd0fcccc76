"""The embedded host's command lines, its log and the plan of an instance."""

from pathlib import Path

from twinsmith.adapters.hosting.local_args import Bind, Room, inner_options, outer_args
from twinsmith.adapters.hosting.supervisor import LOG_BYTES, Log, Plan, Told, reason_of
from twinsmith.adapters.sandbox.bubblewrap_args import STAGING

ROOM = Room(
    words=("python3", "-m", "gunicorn"),
    folder="/app",
    binds=(
        Bind(source="/home/a/app", target="/app"),
        Bind(source="/home/a/data", target="/data", writable=True),
    ),
    environment={"SECRET_KEY": "hush"},
    user=62001,
)


def test_neither_secrets_nor_options_stand_in_a_list_of_processes() -> None:
    line = outer_args(ROOM, 7)
    assert line == [
        *("unshare", "--mount", "--propagation", "private", "sh", "-c", STAGING, "sh"),
        *("show", "/home/a/app", "show", "/home/a/data", "--"),
        *("setpriv", "--reuid=62001", "--regid=62001", "--clear-groups", "--no-new-privs"),
        *("bwrap", "--args", "7", "--"),
        *("prlimit", "--nproc=128", "--nofile=1024:1024", "--core=0", "--fsize=4294967296", "--"),
        *("python3", "-m", "gunicorn"),
    ]
    assert "hush" not in line


def test_a_room_has_no_network_no_rights_and_two_places_to_write() -> None:
    words = inner_options(ROOM, told=5, filtered=6)
    text = " ".join(words)
    for option in ("--unshare-all", "--disable-userns", "--cap-drop ALL", "--die-with-parent"):
        assert option in text
    assert "--share-net" not in text
    assert "--ro-bind /mnt/0.seen /app" in text
    assert "--bind /mnt/1.seen /data" in text
    assert "--setenv SECRET_KEY hush" in text
    assert "--seccomp 6" in text
    assert text.index("--bind /mnt/1.seen") < text.index("--remount-ro / ")
    assert "--seccomp" not in inner_options(ROOM, told=5, filtered=-1)


def test_without_control_groups_each_process_is_limited() -> None:
    from dataclasses import replace

    assert "--as=2147483648" in outer_args(replace(ROOM, memory_mb=512, user=0), 7)
    assert "--user" in outer_args(replace(ROOM, user=0), 7)


def test_a_log_is_two_files_of_a_megabyte_without_secrets(tmp_path: Path) -> None:
    log = Log(tmp_path, (b"hush-hush",))
    log.write(b"the key is hush-hush\n")
    assert (tmp_path / "log").read_bytes() == b"the key is ***\n"
    for _ in range(3):
        log.write(b"x" * (LOG_BYTES // 2) + b"\n")
    sizes = [(tmp_path / name).stat().st_size for name in ("log", "log.1")]
    assert all(0 < size <= LOG_BYTES for size in sizes)
    assert int((tmp_path / "rolled").read_text()) + sizes[0] == 3 * (LOG_BYTES // 2 + 1) + 15
    # Whoever opens it again goes on behind what is there; a secret in two parts is masked, too.
    again = Log(tmp_path, (b"hush-hush",))
    again.write(b"y\nit is hush-")
    again.write(b"hush\nand")
    again.end()
    assert (tmp_path / "log").read_bytes().endswith(b"y\nit is ***\nand\n")


def test_a_plan_is_read_as_it_was_written() -> None:
    plan = Plan(
        words=("a", "b"),
        folder="/app",
        binds=ROOM.binds,
        environment={"A": "1"},
        user=0,
        memory_mb=64,
        processes=8,
        restarts=False,
        lock="/somewhere",
    )
    assert Plan.read(plan.written()) == plan


def test_what_a_supervisor_tells_is_read_also_where_it_told_less() -> None:
    told = Told(state="running", since="2026", restarts=1, reason="signal 9", pid=7, counted=True)
    assert Told.read(told.written()) == told
    before = '{"state": "exited", "since": "2026", "restarts": 0, "reason": "", "other": 1}'
    assert Told.read(before) == Told(state="exited", since="2026")


def test_why_a_program_ended_in_words() -> None:
    assert reason_of(3, out_of_memory=False) == "exit code 3"
    assert reason_of(137, out_of_memory=False) == "signal 9"
    assert reason_of(-15, out_of_memory=False) == "signal 15"
    assert reason_of(137, out_of_memory=True) == "out of memory"
