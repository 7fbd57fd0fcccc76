"""The embedded model's process: started on first use, kept warm, started again when it dies."""

import asyncio
import json
import secrets
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from twinsmith.core.errors import ModelUnavailable

START_SECONDS = 120.0
TOKENS_A_SLOT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The share of the machine that the server uses: threads, slots and context."""

    threads: int
    slots: int
    context: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of the server, and a key that only this process knows."""

    url: str
    key: str


def shape_for(cores: int, *, threads: int = 0, slots: int = 0, context: int = 0) -> Shape:
    """The shape of the server: settings where they are given (not 0), else what fits the machine.

    Reading weights from memory is the bottleneck: beyond 16 threads nothing is gained, and four
    answers at once share one pass over the weights (1.7 times the tokens of one, on two cores).
    """
    slots = slots or (4 if cores <= 8 else 8)
    return Shape(
        threads=threads or min(cores, 16),
        slots=slots,
        context=context or TOKENS_A_SLOT * slots,
    )


def _free(_process: int) -> None:
    """Leave a process without limits."""


class EmbeddedServer:
    """One child process that serves one model file; `held` limits it before it reads the file."""

    def __init__(
        self,
        path: Path,
        shape: Shape,
        version: str,
        held: Callable[[int], None] = _free,
    ) -> None:
        self._held = held
        self._path = path
        self._shape = shape
        self._version = version
        self._process: asyncio.subprocess.Process | None = None
        self._address: Address | None = None
        self._starting = asyncio.Lock()
        self._stopped = False

    @property
    def pid(self) -> int | None:
        """The child's process number while it lives."""
        alive = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process and alive else None

    async def address(self) -> Address:
        """The address of a living server; starts one where there is none."""
        async with self._starting:
            if self._stopped:
                raise ModelUnavailable(f"the embedded model {self._path.name} has been stopped")
            if self.pid is None or self._address is None:
                self._address = await self._start()
            return self._address

    async def notice(self) -> None:
        """After a failed question: wait a moment, so that a child that died counts as dead."""
        if self._process is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    await self._process.wait()

    async def stop(self) -> None:
        """End the child for good; questions that still wait for it fail with an error."""
        self._stopped = True
        if self._process is not None and self._process.returncode is None:
            # Before the lock: whoever is starting it holds that until the child speaks or dies.
            self._process.kill()
        async with self._starting:
            await self._end()

    async def _end(self) -> None:
        if self._process is None:
            return
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        # Reading to the end closes the pipe's transport before the loop does.
        if self._process.stdout is not None:
            await self._process.stdout.read()
        self._process = self._address = None

    async def _start(self) -> Address:
        await self._end()
        key = secrets.token_urlsafe(24)
        with tempfile.TemporaryFile() as said:
            self._process = await asyncio.create_subprocess_exec(
                *[sys.executable, "-m", "twinsmith.adapters.models.embedded_child"],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=said,
                # No key of the user's gets in; idle threads sleep instead of spinning.
                env={"PATH": "/usr/bin:/bin", "OMP_WAIT_POLICY": "passive"},
            )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._held(self._process.pid)
            wanted = {
                "path": str(self._path),
                "version": self._version,
                "key": key,
                "threads": self._shape.threads,
                "slots": self._shape.slots,
                "context": self._shape.context,
            }
            self._process.stdin.write(json.dumps(wanted).encode() + b"\n")
            try:
                async with asyncio.timeout(START_SECONDS):
                    line = await self._process.stdout.readline()
                return Address(url=str(json.loads(line)["url"]), key=key)
            except (TimeoutError, ValueError, OSError) as error:
                await self._end()
                said.seek(0)
                reason = said.read().decode(errors="replace").strip().splitlines()[-1:]
                raise ModelUnavailable(
                    f"the embedded model {self._path.name} does not start "
                    f"({' '.join(reason)[:200] or type(error).__name__}); "
                    "see 'twinsmith doctor', or install it anew with 'twinsmith models install'"
                ) from error
