"""Command lines for bubblewrap; nothing is run here."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from twinsmith.adapters.sandbox.cell import HOSTNAME, Cell, Mount

# What stands before the program when a folder has to be staged, in a mount namespace of its own:
# put where nobody may go otherwise, or shown through a file system that does not tell its path.
STAGE = "/mnt"
STAGING = f"""
mount -t tmpfs -o mode=755 tmpfs {STAGE} && mkdir {STAGE}/nothing || exit 1
n=0
while [ "$1" != -- ]; do
  mkdir {STAGE}/$n {STAGE}/$n.seen && mount --bind "$2" {STAGE}/$n || exit 1
  if [ "$1" = hide ]; then
    mount -t overlay -o ro,lowerdir={STAGE}/$n:{STAGE}/nothing overlay {STAGE}/$n.seen || exit 1
  else
    mount --bind {STAGE}/$n {STAGE}/$n.seen || exit 1
  fi
  n=$((n + 1)); shift 2
done
shift
exec "$@"
"""
# What the kernel tells of how this machine was started.
TOLD_BY_THE_KERNEL = ("/proc/cmdline", "/proc/bootconfig")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The way in which rooms are entered on this machine."""

    user: int = 0
    """The user that root starts bubblewrap as; 0: the user of this process."""
    hides: bool = False
    """Whether mounts are shown without the paths that they have outside."""
    counted: bool = True
    """Whether a control group counts the memory of all processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """The numbers of open files that bubblewrap is given."""

    texts: Mapping[str, int] = field(default_factory=dict)
    """Files whose content bubblewrap shows inside, by their paths there."""
    gate: tuple[int, ...] = ()
    """The files through which bubblewrap tells its first process's id and waits to go on."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all these files."""
        return (*self.texts.values(), *self.gate)


def sandbox_args(command: list[str], cell: Cell, files: Open, way: Way) -> list[str]:
    """The command line that runs `command` inside the sandbox."""
    # The environment is empty already: --clearenv alone would leave the caller's in
    # /proc/1/environ.
    gate = [str(number) for number in files.gate]
    texts = [(str(number), place) for place, number in files.texts.items()]
    staged = {mount: f"{STAGE}/{n}.seen" for n, mount in enumerate(_staged(cell.mounts, way))}
    return [
        *(_stage(staged, way) if staged else []),
        *(_dropped(way.user) if way.user else []),
        *["bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"],
        *["--hostname", HOSTNAME],
        *["--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"],
        *[word for item in cell.environment.items() for word in ("--setenv", *item)],
        *(["--info-fd", gate[0], "--block-fd", gate[1]] if gate else []),
        *["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"],
        *["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
        *["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
        *["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
        *["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp"],  # noqa: S108
        *_devices(way),
        *_binds(cell.mounts, staged),
        *[word for text in texts for word in ("--perms", "0444", "--ro-bind-data", *text)],
        # The judge mounts its scratch folders with this, and then gives it up.
        *["--remount-ro", "/dev", "--remount-ro", "/", "--cap-drop", "ALL"],
        *["--cap-add", "CAP_SYS_ADMIN", "--", *command],
    ]


def in_chroot(mounts: str) -> bool:
    """Whether this process runs in a chroot, as its mount table tells."""
    return all(line.split(" ")[4] != "/" for line in mounts.splitlines())


def open_to_all(path: str) -> bool:
    """Whether every user may enter and read a folder."""
    places = [Path(path), *Path(path).parents]
    with suppress(OSError):
        return all(place.stat().st_mode & 0o5 == 0o5 for place in places[:1]) and all(
            place.stat().st_mode & 0o1 for place in places[1:]
        )
    return False


def _staged(mounts: tuple[Mount, ...], way: Way) -> list[Mount]:
    """Mounts that need a stage: closed to the user of bubblewrap, or with a path to hide."""
    closed = [mount for mount in mounts if way.user and not open_to_all(mount.source)]
    return list(dict.fromkeys([*closed, *(mount for mount in mounts if _hidden(mount, way))]))


def _hidden(mount: Mount, way: Way) -> bool:
    """Whether a mount has a host path to hide: it lies elsewhere inside."""
    return way.hides and mount.source != mount.target and not mount.sockets


def _stage(staged: Mapping[Mount, str], way: Way) -> list[str]:
    words = [
        word
        for mount in staged
        for word in ("hide" if _hidden(mount, way) else "show", mount.source)
    ]
    # Whoever is not root is, in a user namespace of its own, root enough to mount.
    other = [] if way.user else ["--user", "--map-root-user"]
    return [
        *["unshare", *other, "--mount", "--propagation", "private", "sh", "-c", STAGING, "sh"],
        *[*words, "--"],
    ]


def _dropped(user: int) -> list[str]:
    """The command that makes root a user who owns nothing, before any namespace is made."""
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]


def _devices(way: Way) -> list[str]:
    """Options that take away terminals and what the kernel tells about the machine."""
    told = [file for file in TOLD_BY_THE_KERNEL if Path(file).exists()]
    silent = [word for file in told for word in ("--dev-bind", "/dev/null", file)]
    # Mapped shared, /dev/zero is memory that no limit of one process counts; /dev/full is not,
    # and reads the same.
    zero = [] if way.counted else ["--dev-bind", "/dev/full", "/dev/zero"]
    return ["--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts", *silent, *zero]


def _binds(mounts: tuple[Mount, ...], staged: Mapping[Mount, str]) -> list[str]:
    return [
        word
        for mount in mounts
        for word in ("--ro-bind", staged.get(mount, mount.source), mount.target)
    ]
