"""Rooms built by bubblewrap: no network, no host files but read-only tools, no host environment.

Nothing of the host is bound writable. The program goes in through standard input and results come
out through standard output, so there is no folder to collect from and no link to follow.
"""

import asyncio
import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

from twinsmith.adapters.sandbox import cgroup, seccomp
from twinsmith.adapters.sandbox.cell import BUILT, Cell, Ended, Isolation, Mount
from twinsmith.adapters.sandbox.harness import COMMAND, ENVIRONMENT, PLACE, compiled
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
        """Run the judge in a fresh room."""
        group = self._group(cell)
        try:
            return await self._enter(cell, group)
        finally:
            if group is not None:
                # Not waited for here: the loop waits for its threads before it ends.
                asyncio.get_running_loop().run_in_executor(None, cgroup.remove, group)

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

    def _group(self, cell: Cell) -> cgroup.Group | None:
        groups = self._limits_all()
        if groups is None:
            return None
        name = f"{os.getpid()}-{next(_numbers)}"
        # The judge, the starter and a checker are in there as well.
        processes = cell.limits.processes + 8
        try:
            return cgroup.make(groups, name, memory_mb=cell.memory_mb, processes=processes)
        except OSError as error:
            raise SandboxError(f"no control group: {error}; run 'twinsmith doctor'") from error

    async def _enter(self, cell: Cell, group: cgroup.Group | None) -> Ended:
        limits = cell.limits
        room = {
            **cell.room,
            "seccomp": _filter(),
            "scratch": {
                "/tmp": _options(limits.scratch_mb, limits.scratch_files),  # noqa: S108
                "/dev/shm": _options(SHARED_MEMORY_MB, limits.scratch_files),  # noqa: S108
            },
            # Without a group, each process by itself.
            "memory_bytes": 0 if group else limits.memory_mb << 20,
        }
        job = wire.frame(room) + wire.frame(cell.job)
        root = os.geteuid() == 0
        with ExitStack() as files:
            harness = files.enter_context(_in_memory(compiled()))
            told, telling = _pipe(files)
            blocked, unblock = _pipe(files)
            line = sandbox_args(
                list(COMMAND), cell, fds=(harness, telling.fd, blocked.fd), root=root
            )
            process = await _spawn(line, (harness, telling.fd, blocked.fd))
            telling.close()
            talk = asyncio.ensure_future(_converse(process, job, cell, group))
            try:
                if group is not None:
                    await asyncio.to_thread(_join, group, process.pid, told.fd)
                os.write(unblock.fd, b"1")
                await asyncio.wait({talk}, timeout=cell.wall_seconds)
                timed_out = not talk.done()
            finally:
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        process.kill()
                await asyncio.wait({talk})
        out, err = talk.result()
        return Ended(
            out=out.decode(errors="replace"),
            err=err.decode(errors="replace"),
            code=process.returncode or 0,
            out_of_memory=group is not None and cgroup.out_of_memory(group),
            timed_out=timed_out,
        )


async def _converse(
    process: asyncio.subprocess.Process, job: bytes, cell: Cell, group: cgroup.Group | None
) -> tuple[bytes, bytes]:
    """Give it the job, take what it says; after a build its memory is cut to the program's."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    err = asyncio.ensure_future(process.stderr.read())
    out = bytearray()
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(job)
        await process.stdin.drain()
    waiting = cell.build_mb > 0
    while part := await process.stdout.read(1 << 16):
        out += part
        if waiting and out.startswith(BUILT):
            waiting = False
            if group is not None:
                cgroup.lower(group, cell.limits.memory_mb)
            with suppress(BrokenPipeError, ConnectionResetError):
                process.stdin.write(b"1")
        if len(out) > MOST_SAID:
            process.kill()
            break
    process.stdin.close()
    said = await err
    await process.wait()
    return bytes(out), said


class _Fd:
    """An open file that is closed once."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


def _pipe(files: ExitStack) -> tuple[_Fd, _Fd]:
    ends = [_Fd(fd) for fd in os.pipe()]
    for end in ends:
        files.callback(end.close)
    return ends[0], ends[1]


@contextmanager
def _in_memory(data: bytes) -> Iterator[int]:
    file = os.memfd_create("harness")
    try:
        os.write(file, data)
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


async def _spawn(line: list[str], files: tuple[int, ...]) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *line,
            pass_fds=files,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": PATH},
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"the sandbox does not start: {error}; run: {INSTALL}") from error


def _join(group: cgroup.Group, pid: int, told: int) -> None:
    """Put bubblewrap and the first process inside, which waits for it, into the group."""
    said = b""
    while b"}" not in said and (part := os.read(told, 4096)):
        said += part
    cgroup.add(group, pid)
    inside = wire.loads(said.decode().strip() or "{}").get("child-pid")
    if inside:
        cgroup.add(group, int(inside))


def _options(mb: int, files: int) -> str:
    return f"size={mb << 20},nr_inodes={files},mode=1777"


@cache
def _filter() -> str:
    try:
        return seccomp.program().hex()
    except SandboxError:
        return ""


def sandbox_args(
    command: list[str], cell: Cell, *, fds: tuple[int, int, int], root: bool
) -> list[str]:
    """The command line that runs `command` inside the sandbox."""
    # Mounts that nobody may reach are staged; the environment is empty already (--clearenv alone
    # would leave the caller's in /proc/1/environ).
    harness, info, block = fds
    hidden = [mount for mount in cell.mounts if root and not open_to_all(mount.source)]
    staged = {mount.source: f"{STAGE}/{n}" for n, mount in enumerate(hidden)}
    stage = ["unshare", "--mount", "--propagation", "private", "sh", "-c", STAGING, "sh"]
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    return [
        *([*stage, *staged, "--"] if hidden else []),
        *(drop if root else []),
        *["bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"],
        *["--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"],
        *[word for name in ENVIRONMENT for word in ("--setenv", name, ENVIRONMENT[name])],
        *["--info-fd", str(info), "--block-fd", str(block)],
        *["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"],
        *["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
        *["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
        *["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
        *["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp"],  # noqa: S108
        *_binds(cell.mounts, staged),
        *["--perms", "0444", "--ro-bind-data", str(harness), PLACE],
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


def killed(code: int) -> bool:
    """Whether the room was ended from outside."""
    return code in (-signal.SIGKILL, 128 + signal.SIGKILL)
