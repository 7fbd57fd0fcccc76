"""Command lines for programs that run for good in bubblewrap; nothing is run here."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinsmith.adapters.sandbox.bubblewrap_args import STAGE, STAGING
from twinsmith.adapters.sandbox.cell import HOSTNAME
from twinsmith.core.operating.instance import PROCESSES

TMP_BYTES = 64 << 20
SHARED_BYTES = 16 << 20
FILE_BYTES = 4 << 30
OPEN_FILES = 1024
# What a process of its own may map where no control group counts the memory of all.
MAPPED_FACTOR = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """A folder or file of the host that is seen in a room."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A closed room in which one command runs: no network, nothing writable but what is named."""

    words: tuple[str, ...]
    folder: str
    """The folder in the room that the command begins in."""
    binds: tuple[Bind, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    user: int = 0
    """The user that root gives the room to; 0: the user of this process."""
    processes: int = PROCESSES
    memory_mb: int = 0
    """The memory of each process, where nothing counts that of all; 0: it is counted."""


def outer_args(room: Room, options: int) -> list[str]:
    """The whole command line; bubblewrap reads its options from the open file `options`.

    So neither secrets nor paths stand in a list of processes.
    """
    staged = [word for bind in room.binds for word in ("show", bind.source)]
    other = [] if room.user else ["--user", "--map-root-user"]
    stage = ["unshare", *other, "--mount", "--propagation", "private"]
    dropped = [
        *["setpriv", f"--reuid={room.user}", f"--regid={room.user}", "--clear-groups"],
        "--no-new-privs",
    ]
    return [
        *stage,
        *["sh", "-c", STAGING, "sh", *staged, "--"],
        *(dropped if room.user else []),
        *["bwrap", "--args", str(options), "--", *_limited(room), *room.words],
    ]


def inner_options(room: Room, *, told: int, filtered: int) -> list[str]:
    """The options of bubblewrap: `told` is where it tells its child, `filtered` the filter."""
    binds = [
        word
        for number, bind in enumerate(room.binds)
        for word in (
            "--bind" if bind.writable else "--ro-bind",
            f"{STAGE}/{number}.seen",
            bind.target,
        )
    ]
    return [
        *["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"],
        *["--hostname", HOSTNAME, "--disable-userns", "--die-with-parent", "--new-session"],
        *["--as-pid-1", "--clearenv"],
        *[word for item in room.environment.items() for word in ("--setenv", *item)],
        *["--info-fd", str(told)],
        *(["--seccomp", str(filtered)] if filtered >= 0 else []),
        *["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"],
        *["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
        *["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
        *["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
        *["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"],
        *["--size", str(TMP_BYTES), "--perms", "1777", "--tmpfs", "/tmp"],  # noqa: S108
        *["--size", str(SHARED_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"],  # noqa: S108
        *binds,
        *["--remount-ro", "/dev", "--remount-ro", "/", "--cap-drop", "ALL"],
        *["--chdir", room.folder],
    ]


def _limited(room: Room) -> list[str]:
    mapped = [f"--as={room.memory_mb * MAPPED_FACTOR << 20}"] if room.memory_mb else []
    return [
        *["prlimit", f"--nproc={room.processes}", f"--nofile={OPEN_FILES}:{OPEN_FILES}"],
        *["--core=0", f"--fsize={FILE_BYTES}", *mapped, "--"],
    ]
