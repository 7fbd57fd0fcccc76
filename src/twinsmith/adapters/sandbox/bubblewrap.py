"""Rooms built by bubblewrap: no network, no host files but read-only tools, no host environment.

Nothing of the host is bound writable. The program goes in through standard input and results come
out through standard output, so there is no folder to collect from and no link to follow.
"""

import asyncio
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

from twinsmith.adapters.sandbox import cgroup, seccomp
from twinsmith.adapters.sandbox.cell import BUILT, Cell, Ended, Isolation, Mount
from twinsmith.adapters.sandbox.harness import COMMAND, PLACE, compiled
from twinsmith.adapters.sandbox.inside import wire
from twinsmith.core.errors import SandboxError

PATH = "/usr/local/bin:/usr/bin:/bin"
INSTALL = "apt-get install -y bubblewrap python3 util-linux"
# As root the sandbox starts as a user that owns nothing, before any namespace is made.
NOBODY = 64001
SHARED_MEMORY_MB = 16
MOST_SAID = 64 << 20
# What stands before the program when somebody else's folder has to be shown to nobody: in a mount
# namespace of its own it is put where nobody may go.
STAGE = "/mnt"
STAGING = f"""
mount -t tmpfs tmpfs {STAGE} || exit 1
n=0
while [ "$1" != -- ]; do
  mkdir {STAGE}/$n && mount --bind "$1" {STAGE}/$n || exit 1
  n=$((n + 1)); shift
done
shift
exec "$@"
"""
_numbers = count()


class Bubblewrap:
    """One start of bubblewrap a cell."""

    def __init__(self) -> None:
        self._groups: cgroup.Groups | None = None
        self._looked = False

    async def enter(self, cell: Cell) -> Ended:
        """Run the judge in a fresh room, in a thread: quicker than the loop's own processes."""
        stay = Stay(cell, self._limits_all())
        inside = asyncio.ensure_future(asyncio.to_thread(stay.whole))
        try:
            await asyncio.wait({inside})
        finally:
            # Whoever gives up waits until it is over, too.
            stay.give_up()
            await asyncio.wait({inside})
        return inside.result()

    async def isolation(self) -> Isolation:
        """Look what is there; the runner tries it."""
        for command in ("bwrap", "setpriv", "unshare"):
            if shutil.which(command, path=PATH) is None:
                raise SandboxError(f"{command} is not installed; run: {INSTALL}")
        process = await asyncio.create_subprocess_exec(
            *["bwrap", "--version"], env={"PATH": PATH}, stdout=asyncio.subprocess.PIPE
        )
        version = (await process.communicate())[0].decode().split()[-1]
        missing = [] if self._limits_all() else ["cgroup"]
        try:
            seccomp.program()
        except SandboxError:
            missing.append("seccomp")
        return Isolation(backend="bubblewrap", version=version, missing=tuple(missing))

    def _limits_all(self) -> cgroup.Groups | None:
        if not self._looked:
            self._groups, self._looked = cgroup.here(), True
        return self._groups


class Stay:
    """One stay in a room, from the first process to the last."""

    def __init__(self, cell: Cell, groups: cgroup.Groups | None) -> None:
        self._cell = cell
        self._groups = groups
        self._process: subprocess.Popen[bytes] | None = None
        self._given_up = False

    def whole(self) -> Ended:
        """Build the room, let the judge do its work, leave nothing."""
        group = self._group()
        try:
            with ExitStack() as files:
                return self._stay(group, files)
        finally:
            if group is not None:
                cgroup.remove(group)

    def give_up(self) -> None:
        """End it at once; harmless when it is over."""
        self._given_up = True
        if self._process is not None:
            self._process.kill()

    def _group(self) -> cgroup.Group | None:
        if self._groups is None:
            return None
        name = f"{os.getpid()}-{next(_numbers)}"
        # The judge, the starter and a checker are in there as well.
        most = self._cell.limits.processes + 8
        try:
            return cgroup.make(self._groups, name, memory_mb=self._cell.memory_mb, processes=most)
        except OSError as error:
            raise SandboxError(f"no control group: {error}; run 'twinsmith doctor'") from error

    def _stay(self, group: cgroup.Group | None, files: ExitStack) -> Ended:
        cell = self._cell
        job = wire.frame(_room(cell, grouped=group is not None)) + wire.frame(cell.job)
        harness = _in_memory(compiled(), files)
        gate = Gate(files) if group is not None and group.unified else None
        fds = (harness, *(gate.theirs if gate else ()))
        line = sandbox_args(list(COMMAND), cell, fds=fds, root=os.geteuid() == 0)
        try:
            with cgroup.visited(group):
                self._process = files.enter_context(_started(line, fds))
        except OSError as error:
            raise SandboxError(f"the sandbox does not start: {error}; run: {INSTALL}") from error
        try:
            if gate is not None and group is not None:
                gate.let_in(group, self._process.pid)
            watched = Spent(group)
            deadline = time.monotonic() + self._cell.wall_seconds
            talk = Conversation(self._process, job, deadline, watched.lines)
            fits = self._converse(talk, group)
        finally:
            self._process.kill()
        code = self._process.wait()
        watched.lines(b"\n")
        return Ended(
            out=talk.out.decode(errors="replace"),
            err=talk.err.decode(errors="replace"),
            code=code,
            out_of_memory=watched.count > 0 or not fits,
            spent=frozenset(watched.at),
            timed_out=talk.late or self._given_up,
        )

    def _converse(self, talk: "Conversation", group: cgroup.Group | None) -> bool:
        """Hear it to its end; False when what was built does not fit into the program's memory."""
        if self._cell.build_mb and talk.until(lambda: talk.out.startswith(BUILT)):
            if group is not None:
                try:
                    cgroup.lower(group, self._cell.limits.memory_mb)
                except OSError:
                    return False
            talk.say(b"1")
        talk.until(lambda: False)
        return True


class Spent:
    """At which lines of the judge's the kernel had ended something for want of memory."""

    def __init__(self, group: cgroup.Group | None) -> None:
        self._group = group
        self._line = 0
        self.count = 0
        self.at: set[int] = set()

    def lines(self, part: bytes) -> None:
        """Some more was said."""
        count = cgroup.out_of_memory(self._group) if self._group else 0
        said = part.count(b"\n")
        if count > self.count:
            self.at |= set(range(self._line, self._line + max(said, 1)))
            self.count = count
        self._line += said


class Conversation:
    """Both directions at once, until it ends or takes too long."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        job: bytes,
        deadline: float,
        heard: Callable[[bytes], None],
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.out, self.err = bytearray(), bytearray()
        self.late = False
        self._deadline = deadline
        self._tell = heard
        self._stdout = process.stdout.fileno()
        self._into = process.stdin.fileno()
        self._heard = {process.stdout.fileno(): self.out, process.stderr.fileno(): self.err}
        self._poll = select.poll()
        for fd in self._heard:
            self._poll.register(fd, select.POLLIN)
        os.set_blocking(self._into, False)
        self._left = memoryview(b"")
        self.say(job)

    def say(self, data: bytes) -> None:
        """Write this as it is read."""
        self._left = memoryview(data)
        self._poll.register(self._into, select.POLLOUT)

    def until(self, done: Callable[[], bool]) -> bool:
        """Go on until it is done; False when the other side ended, or time did, before that."""
        while not done():
            left = self._deadline - time.monotonic()
            self.late = left <= 0 or len(self.out) > MOST_SAID
            if self.late or not self._heard:
                return False
            for fd, _ in self._poll.poll(left * 1000):
                self._write() if fd == self._into else self._read(fd)
        return True

    def _read(self, fd: int) -> None:
        part = os.read(fd, 1 << 16)
        self._heard[fd] += part
        if fd == self._stdout and b"\n" in part:
            self._tell(part)
        if not part:
            del self._heard[fd]
            self._poll.unregister(fd)

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._into, self._left) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._left = memoryview(b"")
        if not self._left:
            self._poll.unregister(self._into)


def _room(cell: Cell, *, grouped: bool) -> dict[str, object]:
    limits = cell.limits
    return {
        **cell.room,
        "seccomp": seccomp.in_hex(),
        "scratch": {
            "/tmp": _options(limits.scratch_mb, limits.scratch_files),  # noqa: S108
            "/dev/shm": _options(SHARED_MEMORY_MB, limits.scratch_files),  # noqa: S108
        },
        # Without a group, each process by itself.
        "memory_bytes": 0 if grouped else limits.memory_mb << 20,
    }


class Gate:
    """Where the first process inside waits until it is in its group: version 2 of groups."""

    def __init__(self, files: ExitStack) -> None:
        self._told, telling = os.pipe()
        blocked, self._unblock = os.pipe()
        self.theirs = (telling, blocked)
        for fd in (self._told, blocked, self._unblock):
            files.callback(os.close, fd)

    def let_in(self, group: cgroup.Group, pid: int) -> None:
        """Put bubblewrap and the first process inside into the group, and open."""
        # Only the other end is left: a bubblewrap that fails is not waited for.
        os.close(self.theirs[0])
        cgroup.add(group, pid)
        said = b""
        while b"}" not in said and (part := os.read(self._told, 4096)):
            said += part
        inside = wire.loads(said.decode().strip() or "{}").get("child-pid")
        if inside:
            cgroup.add(group, int(inside))
        os.write(self._unblock, b"1")


def _started(line: list[str], fds: tuple[int, ...]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        line,
        pass_fds=fds,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": PATH},
        start_new_session=True,
    )


def _in_memory(data: bytes, files: ExitStack) -> int:
    file = os.memfd_create("harness")
    files.callback(os.close, file)
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _options(mb: int, files: int) -> str:
    return f"size={mb << 20},nr_inodes={files},mode=1777"


def sandbox_args(command: list[str], cell: Cell, *, fds: tuple[int, ...], root: bool) -> list[str]:
    """The command line that runs `command` inside the sandbox."""
    # Mounts that nobody may reach are staged; the environment is empty already (--clearenv alone
    # would leave the caller's in /proc/1/environ).
    harness, *gate = map(str, fds)
    hidden = [mount for mount in cell.mounts if root and not open_to_all(mount.source)]
    staged = {mount.source: f"{STAGE}/{n}" for n, mount in enumerate(hidden)}
    stage = ["unshare", "--mount", "--propagation", "private", "sh", "-c", STAGING, "sh"]
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    return [
        *([*stage, *staged, "--"] if hidden else []),
        *(drop if root else []),
        *["bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"],
        *["--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"],
        *[word for item in cell.environment.items() for word in ("--setenv", *item)],
        *(["--info-fd", gate[0], "--block-fd", gate[1]] if gate else []),
        *["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"],
        *["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
        *["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
        *["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
        *["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp"],  # noqa: S108
        *_binds(cell.mounts, staged),
        *["--perms", "0444", "--ro-bind-data", harness, PLACE],
        # The judge mounts its scratch folders with this, and then gives it up.
        *["--remount-ro", "/dev", "--remount-ro", "/", "--cap-drop", "ALL"],
        *["--cap-add", "CAP_SYS_ADMIN", "--", *command],
    ]


def _binds(mounts: tuple[Mount, ...], staged: Mapping[str, str]) -> list[str]:
    return [
        word
        for mount in mounts
        for word in ("--ro-bind", staged.get(mount.source, mount.source), mount.target)
    ]


def open_to_all(path: str) -> bool:
    """Whether anybody may walk to this folder and read it."""
    places = [Path(path), *Path(path).parents]
    with suppress(OSError):
        return all(place.stat().st_mode & 0o5 == 0o5 for place in places[:1]) and all(
            place.stat().st_mode & 0o1 for place in places[1:]
        )
    return False
