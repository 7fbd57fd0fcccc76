"""Rooms built by Docker or Podman: a container each, of an image that holds almost nothing.

The engine has to be local: there is no registry to pull from, so the image is made here and empty,
and the tools inside are this machine's own /usr, mounted read-only.

Who ran out of memory is asked from the engine. Docker knows; Podman does not on every machine, and
then a probe counts as out of memory that was killed while it held at least half of what it may use.
Podman has no limit on the number of files in a scratch folder: there the limit on memory ends them.
After a build the limit on memory is lowered to the program's, which Podman can do since 4.3.

gVisor (`runtime="runsc"`, with Docker) puts a kernel of its own in between. It is not chosen by
itself: it takes twice as long, a limit that is passed ends the whole room instead of one process,
and its /proc lets a program write into the judge's files, so results are worth what the program is.
"""

import asyncio
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

from twinsmith.adapters.sandbox import seccomp
from twinsmith.adapters.sandbox.by_itself import memory_of_each
from twinsmith.adapters.sandbox.cell import BUILT, Cell, Ended, Isolation
from twinsmith.adapters.sandbox.container_args import (
    NEEDED,
    NOWHERE,
    PATH,
    PREFIX,
    SHOWN,
    Engine,
    Ready,
    abandoned,
    engine_args,
    image,
    limited,
    looks_spent,
    lower_args,
    remove_args,
    run_args,
    runtimes,
    version,
)
from twinsmith.adapters.sandbox.harness import COMMAND, compiled
from twinsmith.adapters.sandbox.inside import wire
from twinsmith.adapters.sandbox.languages.python import INTERPRETER
from twinsmith.adapters.sandbox.users import Users
from twinsmith.core.errors import SandboxError
from twinsmith.core.execution import Limits

INSTALL = {"docker": "apt-get install -y docker.io", "podman": "apt-get install -y podman"}
MEND = {"docker": "start it: systemctl start docker", "podman": "look at: podman info"}
IMAGE = "twinsmith-sandbox"
ANSWER_SECONDS = 30.0
MOST_SAID = 64 << 20
NOT_STARTED = (125, 126, 127)
TRIES, TRY_SECONDS = 50, 0.2
# Says which walls hold; the last one between the judge, as process 1, and the program.
TRY = f"""
import ctypes, os, socket
libc = ctypes.CDLL(None)
calling = socket.socket()
calling.settimeout(1)
held = ["network"] if calling.connect_ex(("{NOWHERE}", 9)) in (101, 113) else []
held += ["seccomp"] if libc.unshare(0) == -1 else []
libc.prctl(4, 0, 0, 0, 0)
if os.fork() == 0:
    try:
        os.open("/proc/1/fd/1", os.O_WRONLY)
    except PermissionError:
        held.append("judge")
    os.write(1, " ".join(held).encode())
    os._exit(0)
os.wait()
"""
_HARMLESS = Cell(room={}, job={}, limits=Limits(), wall_seconds=ANSWER_SECONDS)
_numbers = count()
Talk = asyncio.Future[tuple[bytes, bytes]]


class ContainerWalls:
    """Walls made by Docker or Podman, a container for each cell; `folder` keeps two files for them.

    `host` is the address of Docker's socket where it is not the usual one. Without a `runtime` the
    engine's own is tried, and where that fails with Podman, runc and crun.
    """

    def __init__(self, engine: Engine, folder: Path, *, host: str = "", runtime: str = "") -> None:
        self._engine = engine
        self._folder = folder
        self._host = host
        self._runtime = runtime
        self._known: Ready | None = None
        self._users = Users()

    async def isolation(self) -> Isolation:
        """The engine's version and the missing controls, after a harmless container was tried."""
        self._known = None
        ready = await self._ready()
        runtime = f" runtime={ready.runtime}" if ready.runtime else ""
        return Isolation(
            backend=self._engine,
            version=ready.version + runtime,
            # Engines show, inside, where their mounts come from.
            missing=(*(name for name in NEEDED if name not in ready.controls), "host"),
        )

    async def enter(self, cell: Cell) -> Ended:
        """Run the judge in a fresh container, and remove the container."""
        ready = await self._ready()
        room = {
            **cell.room,
            **memory_of_each(cell.limits, counted="memory" in ready.controls),
            # The engine has mounted already, and filters system calls if it can.
            "seccomp": ready.filter,
            "scratch": {},
            # A container finds the file of its own group inside.
            "used": -1,
        }
        job = wire.frame(room) + wire.frame(cell.job)
        return await self._run(ready, cell, list(COMMAND), job)

    async def _run(self, ready: Ready, cell: Cell, command: list[str], job: bytes) -> Ended:
        name = f"{PREFIX}-{os.getpid()}-{next(_numbers)}"
        line = run_args(ready, cell, command, name=name, user=self._users.next())
        process = await self._spawn(line)
        talk = asyncio.ensure_future(self._converse(ready, process, job, cell, name))
        try:
            await asyncio.wait({talk}, timeout=cell.wall_seconds)
            timed_out = not talk.done()
            spent = not timed_out and await self._spent(ready, name, process, talk, cell)
        finally:
            await asyncio.shield(asyncio.ensure_future(self._remove(ready, name, process, talk)))
        out, err = talk.result()
        return Ended(
            out=out.decode(errors="replace"),
            err=err.decode(errors="replace"),
            code=process.returncode or 0,
            out_of_memory=spent,
            timed_out=timed_out,
        )

    async def _converse(
        self, ready: Ready, process: asyncio.subprocess.Process, job: bytes, cell: Cell, name: str
    ) -> tuple[bytes, bytes]:
        """Give the judge its job and read its output; after a build, lower the memory limit."""
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
                if "memory" in ready.controls:
                    await self._ask(ready, *lower_args(name, cell.limits.memory_mb))
                with suppress(BrokenPipeError, ConnectionResetError):
                    process.stdin.write(b"1")
            if len(out) > MOST_SAID:
                process.kill()
                break
        process.stdin.close()
        said = await err
        await process.wait()
        return bytes(out), said

    async def _ready(self) -> Ready:
        """The engine, ready for use; made ready once, and harmless when done twice at a time."""
        if self._known is None:
            if shutil.which(self._engine, path=PATH) is None:
                raise SandboxError(f"{self._engine} is not installed; run: {INSTALL[self._engine]}")
            told = await self._told()
            archive = image()
            tag = f"{IMAGE}:{_digest(archive)}"
            ready = Ready(
                engine=self._engine,
                image=tag,
                harness=str(kept(self._folder, "harness", compiled())),
                profile=str(kept(self._folder, "seccomp.json", seccomp.profile().encode())),
                version=version(self._engine, told),
                host=self._host,
                controls=limited(self._engine, told),
                shown=tuple(place for place in SHOWN if Path(place).exists()),
            )
            await self._sweep(ready)
            if (await self._ask(ready, "image", "inspect", tag))[0] != 0:
                code, _, err = await self._ask(ready, "import", "-", tag, given=archive)
                if code != 0:
                    why = _last(err)
                    raise SandboxError(
                        f"{self._engine} cannot keep an image: {why}; run 'twinsmith doctor'"
                    )
            self._known = await self._tried(ready)
        return self._known

    async def _told(self) -> Mapping[str, object]:
        """The engine's information about itself; SandboxError where it does not answer."""
        bare = Ready(engine=self._engine, image="", harness="", profile="", host=self._host)
        code, out, err = await self._ask(bare, "info", "--format", "{{json .}}")
        with suppress(ValueError):
            told = json.loads(out)
            if code == 0 and isinstance(told, dict) and version(self._engine, told):
                return told
        raise SandboxError(
            f"{self._engine} does not answer: {_last(err) or f'status {code}'}; "
            f"{MEND[self._engine]}"
        )

    async def _tried(self, ready: Ready) -> Ready:
        """The engine with the first runtime that works here, and the controls that hold in it."""
        problem = ""
        wanted = (self._runtime,) if self._runtime else runtimes(self._engine)
        for runtime in wanted:
            way = replace(ready, runtime=runtime)
            ended = await self._run(way, _HARMLESS, [INTERPRETER, "-IS", "-c", TRY], b"")
            if ended.code == 0:
                seen = set(ended.out.split())
                # gVisor has no filter of the engine's: there the judge puts one up.
                own = "" if "seccomp" in seen else seccomp.in_hex()
                seen |= {"seccomp"} if own else set()
                holds = frozenset(name for name in NEEDED if name in seen)
                return replace(way, controls=ready.controls | holds, filter=own)
            problem = _last(ended.err.encode())
        raise SandboxError(
            f"{self._engine} cannot start a container here: {problem}; run 'twinsmith doctor'"
        )

    async def _spent(
        self, ready: Ready, name: str, process: asyncio.subprocess.Process, talk: Talk, cell: Cell
    ) -> bool:
        """Whether memory ran out; the engine is asked only where something looks like it."""
        out, code = talk.result()[0], process.returncode
        if code == 0 and b'"code": -9' not in out and b'"problem": ' not in out:
            return False
        if ready.runtime == "runsc" and code not in NOT_STARTED:
            # A limit, of memory or of processes, ended the whole room; gVisor does not say which.
            return code != 0
        said = await self._ask(ready, "inspect", "--format", "{{.State.OOMKilled}}", name)
        return said[1].strip() == b"true" or looks_spent(out, cell.limits.memory_mb)

    async def _remove(
        self, ready: Ready, name: str, process: asyncio.subprocess.Process, talk: Talk
    ) -> None:
        """Remove a container. A client that is just making one is waited for, not killed.

        What was removed while its client lived may have been half made, and still be listed.
        """
        for _ in range(TRIES):
            ended = talk.done()
            await self._ask(ready, *remove_args(self._engine, name))
            if ended:
                return
            await asyncio.wait({talk}, timeout=TRY_SECONDS)
        with suppress(ProcessLookupError):
            process.kill()
        await asyncio.wait({talk})
        await self._ask(ready, *remove_args(self._engine, name))

    async def _sweep(self, ready: Ready) -> None:
        """Remove containers that a killed process of twinsmith left behind."""
        words = ("ps", "--all", "--filter", f"name={PREFIX}-", "--format", "{{.Names}}")
        names = (await self._ask(ready, *words))[1].decode().split()
        for name in abandoned(names):
            await self._ask(ready, *remove_args(self._engine, name))

    async def _ask(self, ready: Ready, *words: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
        """Run one command of the engine that answers at once: exit code, output and errors."""
        process = await self._spawn([*engine_args(ready), *words])
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                out, err = await process.communicate(given)
        except TimeoutError:
            late = f"{self._engine} {words[0]} gives no answer in {ANSWER_SECONDS:g} s"
            raise SandboxError(f"{late}; {MEND[self._engine]}") from None
        finally:
            if process.returncode is None:
                process.kill()
        return process.returncode or 0, out, err

    async def _spawn(self, line: list[str]) -> asyncio.subprocess.Process:
        # Settings in Docker's home would be handed on to containers; Podman's storage is there.
        home = self._folder if self._engine == "docker" else Path.home()
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            return await asyncio.create_subprocess_exec(
                *line,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={"PATH": PATH, "HOME": str(home), **_runtime_folder()},
                # Podman's monitor leaves a file named "oom" where it was started.
                cwd=self._folder,
                start_new_session=True,
            )
        except OSError as error:
            install = INSTALL[self._engine]
            raise SandboxError(f"{self._engine} does not start: {error}; run: {install}") from error


def kept(folder: Path, name: str, content: bytes) -> Path:
    """The path of a file with this content, which every user may read; made where it is missing."""
    path = folder / f"{_digest(content)}-{name}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        aside, place = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        with os.fdopen(aside, "wb") as file:
            file.write(content)
        Path(place).chmod(0o444)
        Path(place).rename(path)
    return path.resolve()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _last(said: bytes) -> str:
    return said.decode(errors="replace").strip().rpartition("\n")[2][:300]


def _runtime_folder() -> dict[str, str]:
    """The variable that tells an ordinary user's Podman where to keep its state."""
    folder = Path(f"/run/user/{os.getuid()}")
    return {"XDG_RUNTIME_DIR": str(folder)} if os.getuid() and folder.is_dir() else {}
