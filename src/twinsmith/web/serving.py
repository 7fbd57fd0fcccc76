"""A server in this process, with a worker and a monitor beside it that end with it.

They are processes of their own: the engine is one a process, a build that computes must not let
people wait, and whatever takes a worker down leaves the console standing.
"""

import asyncio
import ctypes
import signal
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

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
BACKLOG = 1024


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
    welcome: Callable[[str], Awaitable[None]],
) -> None:
    """Serve until a signal; `welcome` gets the address once requests are taken."""
    checked_address(settings)
    _check_certificate(settings)
    listening = _listening(settings)
    sealed, _, _ = application(settings)
    given = settings.values.server
    server = _Server(
        uvicorn.Config(
            sealed,
            ssl_certfile=given.certificate or None,
            ssl_keyfile=given.certificate_key or None,
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
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.leave)
    serving = asyncio.ensure_future(server.serve([listening]))
    up = asyncio.ensure_future(server.up.wait())
    tasks: list[asyncio.Future[Any]] = [up]
    try:
        await asyncio.wait({up, serving}, return_when=asyncio.FIRST_COMPLETED)
        if server.started:
            await welcome(public_address(settings, listening.getsockname()[1]))
            tasks += [asyncio.ensure_future(each.run()) for each in beside]
        await serving
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        listening.close()


class _Server(uvicorn.Server):
    """Uvicorn's server, which tells when it takes requests, and leaves signals to others."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take requests."""
        await super().startup(sockets)
        self.up.set()

    def leave(self) -> None:
        """Finish what is under way, and end; the second time at once."""
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: whoever started the server handles them."""
        yield


def _check_certificate(settings: Settings) -> None:
    """ConfigError where the files for TLS cannot be used."""
    given = settings.values.server
    if not given.certificate:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            given.certificate, given.certificate_key
        )
    except OSError as error:
        why = error.strerror or getattr(error, "reason", "") or "they hold no PEM"
        raise ConfigError(
            f"server.certificate {given.certificate} and server.certificate_key "
            f"{given.certificate_key} cannot be used ({why}); give two files in PEM that "
            "belong together"
        ) from None


def _listening(settings: Settings) -> socket.socket:
    """The socket that requests come in by; ConfigError where nobody can listen there."""
    given = settings.values.server
    family = socket.AF_INET6 if ":" in given.host else socket.AF_INET
    # Named as TCP, so that the loop sends answers at once: 45 ms for each request otherwise.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((given.host, given.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"nobody can listen at {given.host}:{given.port} ({error.strerror}); set server.host "
            "and server.port, or give --port 0"
        ) from None
    return listening


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
