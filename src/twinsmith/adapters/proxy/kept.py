"""The routes that were asked for, in a file that outlives every proxy, and who may change them."""

import asyncio
import fcntl
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from twinsmith.adapters.proxy.routes_json import from_json, to_json
from twinsmith.core.errors import HostError
from twinsmith.core.operating.route import Route

ROUTES = "routes.json"
PATIENCE_SECONDS = 60.0


class KeptRoutes:
    """The routes of one data folder, changed by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / ROUTES

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be the only one who changes routes, in all processes, as long as the block lasts."""
        with _told(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._folder.chmod(0o700)
            lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            await self._locked(lock)
            yield
        finally:
            os.close(lock)

    def routes(self) -> dict[str, Route]:
        """The routes by the names of their apps."""
        with _told(self._folder):
            try:
                return {route.app: route for route in from_json(json.loads(self._file.read_text()))}
            except FileNotFoundError:
                return {}
            except ValueError as error:
                raise HostError(
                    f"{self._file} is damaged: {error}; remove it and deploy the apps again"
                ) from error

    def save(self, routes: Mapping[str, Route]) -> None:
        """Keep these routes: after a crash, either all of them or those before."""
        aside = self._file.with_suffix(".part")
        with _told(self._folder):
            with aside.open("w", encoding="utf-8") as file:
                json.dump(to_json(routes.values()), file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            aside.rename(self._file)
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    async def _locked(self, lock: int) -> None:
        # Asked again and again: a lock that blocks would hold up the task that has it.
        for _ in range(int(PATIENCE_SECONDS / 0.01)):
            try:
                return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await asyncio.sleep(0.01)
        raise HostError(
            f"another process has held {self._folder / 'lock'} for {PATIENCE_SECONDS:.0f} s; end it"
        )


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Say which folder cannot be used, and why."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"the proxy's folder {folder} cannot be used: {error.strerror}; "
            "make room, or make it yours"
        ) from error
