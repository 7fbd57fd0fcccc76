"""The walls around a Caddy: it sees its own files and the sockets of apps, and nothing else.

A program may put a link in the place of its own socket. Caddy would follow it, and send the
program's clients to any socket that we may use ourselves, such as a container engine's.
"""

from pathlib import Path

_SYSTEM = (
    *("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"),
    *("--symlink", "usr/lib64", "/lib64", "--dev", "/dev"),
    # No more of /proc: through others' folders there, all files of this machine could be reached.
    *("--ro-bind-try", "/proc/sys/net/core/somaxconn", "/proc/sys/net/core/somaxconn"),
)


def walled(bwrap: str, line: list[str], place: Path, sockets: Path) -> list[str]:
    """The command line of a program inside the walls: `place` is its own, `sockets` it may use."""
    own = ("--ro-bind", str(sockets), str(sockets), "--bind", str(place), str(place))
    program = ("--ro-bind", line[0], line[0])
    apart = ("--unshare-ipc", "--unshare-uts", "--chdir", str(place))
    return [bwrap, *_SYSTEM, *program, *own, "--remount-ro", "/", *apart, "--", *line]
