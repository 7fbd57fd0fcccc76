"""A server in this process, with a worker and a monitor beside it that end with it.

They are processes of their own: the engine is one a process, a build that computes must not let
people wait, and whatever takes a worker down leaves the console standing.
"""

import asyncio
import ctypes
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import uvicorn

from twinsmith.core.errors import ConfigError
from twinsmith.settings import Settings
from twinsmith.web.addresses import checked_address, public_address
from twinsmith.web.app import application

Said = Callable[[str], None]
BUSY = 4
"""How a process ends that finds another one in its place."""
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
STEADY_SECONDS = 60.0
STOP_SECONDS = 10.0
PR_SET_PDEATHSIG = 1


class Beside:
    """A process beside the server, started again when it ends."""

    def __init__(self, name: str, line: Sequence[str], said: Said) -> None:
        self._name = name
        self._line = list(line)
        self._said = said

    async def run(self) -> None:
        """Keep it running until this is cancelled; then it is asked to end, and ended."""
        pause = SHORTEST_PAUSE
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            code = await self._once()
            if loop.time() - began > STEADY_SECONDS:
                pause = SHORTEST_PAUSE
            if code != BUSY:
                self._said(f"{self._name} ended with {code}; started again in {pause:g} s")
            await asyncio.sleep(LONGEST_PAUSE if code == BUSY else pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _once(self) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._line,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            preexec_fn=_end_with_parent,
            # Ctrl-C is meant for the server, which lets it end in order.
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                self._said(f"{self._name}: {line.decode(errors='replace').rstrip()}")
            return await process.wait()
        finally:
            await _ended(process)


async def serve(
    settings: Settings,
    *,
    worker: bool,
    monitor: bool,
    said: Said,
    welcome: Callable[[str], None],
) -> None:
    """Serve until a signal; `welcome` gets the address once requests are taken."""
    checked_address(settings)
    sealed, _, _ = application(settings)
    given = settings.values.server
    server = _Server(
        uvicorn.Config(
            sealed,
            host=given.host,
            port=given.port,
            ssl_certfile=given.certificate or None,
            ssl_keyfile=given.key or None,
            lifespan="off",
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=64 << 10,
        )
    )
    beside = [
        Beside(name, [sys.executable, "-m", "twinsmith", name], said)
        for name, wanted in (("worker", worker), ("monitor", monitor))
        if wanted
    ]
    tasks: list[asyncio.Task[None]] = []
    serving = asyncio.ensure_future(server.serve())
    try:
        up = asyncio.ensure_future(server.up.wait())
        await asyncio.wait({up, serving}, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        if server.started:
            welcome(public_address(settings, server.port))
            tasks += [asyncio.ensure_future(each.run()) for each in beside]
        await serving
    except SystemExit:
        raise ConfigError(
            f"nobody can listen at {given.host}:{given.port}: something else has it, or it is no "
            "address of this machine; set server.host and server.port"
        ) from None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Server(uvicorn.Server):
    """Uvicorn's server, which tells when it takes requests, and at which port."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take requests."""
        await super().startup(sockets)
        self.up.set()

    @property
    def port(self) -> int:
        """The port that it listens at."""
        sockets = [each for server in self.servers for each in server.sockets]
        return int(sockets[0].getsockname()[1])


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Ask a process to end, and end it where it does not."""
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


def _end_with_parent() -> None:
    """Let the kernel end this process when the server is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
