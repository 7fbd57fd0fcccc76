"""Rooms built by bubblewrap: no network, no host files but read-only tools, no host environment.

Nothing of the host is bound writable. The program goes in through standard input and results come
out through standard output, so there is no folder to collect from and no link to follow.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from functools import cached_property
from itertools import count
from pathlib import Path

from twinsmith.adapters.sandbox import cgroup, seccomp
from twinsmith.adapters.sandbox.bubblewrap_args import Open, Way, in_chroot, sandbox_args
from twinsmith.adapters.sandbox.by_itself import memory_of_each
from twinsmith.adapters.sandbox.cell import BUILT, NAMES, Cell, Ended, Isolation, Mount
from twinsmith.adapters.sandbox.conversation import Conversation
from twinsmith.adapters.sandbox.harness import COMMAND, PLACE, compiled
from twinsmith.adapters.sandbox.inside import wire
from twinsmith.adapters.sandbox.users import Users
from twinsmith.core.errors import SandboxError
from twinsmith.core.execution import Limits

PATH = "/usr/local/bin:/usr/bin:/bin"
INSTALL = "apt-get install -y bubblewrap python3 util-linux"
CHROOT = (
    "this is a chroot, in which the kernel makes no user namespaces; "
    "enter it with systemd-nspawn, or with pivot_root in a mount namespace of its own"
)
SHARED_MEMORY_MB = 16
TRY_SECONDS = 20.0
_numbers = count()


class Bubblewrap:
    """Walls made by bubblewrap, which is started once for each cell."""

    def __init__(self) -> None:
        self._users = Users()

    async def enter(self, cell: Cell) -> Ended:
        """Run the judge in a fresh room, in a thread: quicker than the loop's own processes."""
        way = await asyncio.to_thread(self._way, cell.mounts)
        stay = Stay(cell, self._groups, way)
        inside = asyncio.ensure_future(asyncio.to_thread(stay.whole))
        try:
            await asyncio.wait({inside})
        finally:
            # Whoever gives up waits until it is over, too.
            stay.give_up()
            await asyncio.wait({inside})
        return inside.result()

    async def isolation(self) -> Isolation:
        """The version of bubblewrap and the missing controls; SandboxError where it cannot run."""
        if in_chroot(Path("/proc/self/mountinfo").read_text()):
            raise SandboxError(CHROOT)
        for command in ("bwrap", "setpriv", "unshare"):
            if shutil.which(command, path=PATH) is None:
                raise SandboxError(f"{command} is not installed; run: {INSTALL}")
        process = await asyncio.create_subprocess_exec(
            *["bwrap", "--version"], env={"PATH": PATH}, stdout=asyncio.subprocess.PIPE
        )
        version = (await process.communicate())[0].decode().split()[-1]
        return Isolation(
            backend="bubblewrap",
            version=version,
            missing=tuple(await asyncio.to_thread(self._missing)),
        )

    def _missing(self) -> list[str]:
        """The missing controls over all rooms together, which no program inside can try."""
        missing = [] if self._groups else ["memory"]
        if self._groups is None or not self._groups.counts_processor:
            missing.append("cpu")
        if os.geteuid() != 0:
            missing.append("users")
        if not self._hides:
            missing.append("host")
        try:
            seccomp.program()
        except SandboxError:
            missing.append("seccomp")
        return missing

    def _way(self, mounts: tuple[Mount, ...]) -> Way:
        return Way(
            user=self._users.next() if os.geteuid() == 0 else 0,
            hides=bool(mounts) and self._hides,
            counted=self._groups is not None,
        )

    @cached_property
    def _groups(self) -> cgroup.Groups | None:
        return cgroup.here()

    @cached_property
    def _hides(self) -> bool:
        """Whether a folder can be mounted without showing its host path, tried with bubblewrap."""
        with tempfile.TemporaryDirectory(prefix="twinsmith-") as folder:
            os.chmod(folder, 0o755)  # noqa: PTH101, S103  (an empty folder)
            mount = Mount(source=folder, target="/run/layer")
            cell = Cell(room={}, job={}, limits=Limits(), wall_seconds=TRY_SECONDS, mounts=(mount,))
            way = Way(user=self._users.next() if os.geteuid() == 0 else 0, hides=True)
            line = sandbox_args(["/bin/cat", "/proc/self/mountinfo"], cell, Open(), way)
            try:
                done = subprocess.run(
                    line,
                    capture_output=True,
                    text=True,
                    env={"PATH": PATH},
                    timeout=TRY_SECONDS,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired):
                return False
            # What is told begins where its file system is mounted: its own name is in any case.
            told = done.stdout
            return done.returncode == 0 and mount.target in told and Path(folder).name not in told


class Stay:
    """One stay in a room, from the first process to the last."""

    def __init__(self, cell: Cell, groups: cgroup.Groups | None, way: Way) -> None:
        self._cell = cell
        self._groups = groups
        self._way = way
        self._process: subprocess.Popen[bytes] | None = None
        self._given_up = False

    def whole(self) -> Ended:
        """Build the room, let the judge do its work, and leave nothing behind."""
        group = self._group()
        try:
            with ExitStack() as files:
                return self._stay(group, files)
        finally:
            if group is not None:
                cgroup.remove(group)

    def give_up(self) -> None:
        """End the stay at once; harmless when it is over."""
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
        used = _opened(group.used, files) if group is not None else -1
        job = wire.frame(_room(cell, self._way, used)) + wire.frame(cell.job)
        shown = {PLACE: compiled(), **{place: text.encode() for place, text in NAMES.items()}}
        texts = {place: _in_memory(data, files) for place, data in shown.items()}
        gate = Gate(files) if group is not None and group.unified else None
        opened = Open(texts=texts, gate=gate.theirs if gate else ())
        line = sandbox_args(list(COMMAND), cell, opened, self._way)
        try:
            with cgroup.visited(group):
                shared = (*opened.numbers, *([used] if used >= 0 else []))
                self._process = files.enter_context(_started(line, shared))
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
        """Talk with the judge to its end; False when a build leaves too little memory."""
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
    """The lines of the judge's output at which the kernel ended a process for want of memory."""

    def __init__(self, group: cgroup.Group | None) -> None:
        self._group = group
        self._line = 0
        self.count = 0
        self.at: set[int] = set()

    def lines(self, part: bytes) -> None:
        """Count the lines in one more part of the judge's output."""
        count = cgroup.out_of_memory(self._group) if self._group else 0
        said = part.count(b"\n")
        if count > self.count:
            self.at |= set(range(self._line, self._line + max(said, 1)))
            self.count = count
        self._line += said


def _room(cell: Cell, way: Way, used: int) -> dict[str, object]:
    limits = cell.limits
    return {
        **cell.room,
        **memory_of_each(limits, counted=way.counted),
        "seccomp": seccomp.in_hex(),
        "used": used,
        "scratch": {
            "/tmp": _options(limits.scratch_mb, limits.scratch_files),  # noqa: S108
            "/dev/shm": _options(SHARED_MEMORY_MB, limits.scratch_files),  # noqa: S108
        },
    }


class Gate:
    """Holds the first process inside back until it is in its control group (version 2)."""

    def __init__(self, files: ExitStack) -> None:
        self._told, telling = os.pipe()
        blocked, self._unblock = os.pipe()
        self.theirs = (telling, blocked)
        for fd in (self._told, blocked, self._unblock):
            files.callback(os.close, fd)

    def let_in(self, group: cgroup.Group, pid: int) -> None:
        """Put bubblewrap and the first process inside into the group, and let them go on."""
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


def _opened(path: Path | None, files: ExitStack) -> int:
    """An open file of the control group for the judge alone to read; -1 where there is none."""
    if path is None:
        return -1
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    files.callback(os.close, file)
    return file


def _options(mb: int, files: int) -> str:
    return f"size={mb << 20},nr_inodes={files},mode=1777"
