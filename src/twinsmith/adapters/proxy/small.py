"""The proxy where there is no Caddy: one process of our own for all apps."""

import asyncio
import json
import os
import sys
from pathlib import Path

from twinsmith.adapters.proxy.detached import Started, ask_to_end, pid_in, start, until_ended
from twinsmith.adapters.proxy.ports import refuse_taken, until_free
from twinsmith.adapters.proxy.routes_json import Json, from_json, to_json
from twinsmith.adapters.proxy.small_server import CONTROL, PID, TAKEN
from twinsmith.adapters.proxy.standing import StandingProxy
from twinsmith.core.errors import ConfigError, HostError
from twinsmith.core.operating.route import Route

START_SECONDS = 20.0
ANSWER_SECONDS = 10.0
LACKS = (
    "no TLS and no HTTP/2",
    "no WebSockets",
    "one core for the requests of all apps",
)
_LONGEST_LINE = 16 * 1024 * 1024


def small_proxy(folder: Path) -> StandingProxy:
    """The proxy of a data folder, by a process of our own; its files are in `folder`, a short path.

    Install Caddy for what it lacks.
    """
    place = Path(os.path.realpath(folder))
    return StandingProxy(place, SmallCarrier(place))


class SmallCarrier:
    """Orders to the small proxy of a folder."""

    lacks = LACKS

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def running(self) -> tuple[Route, ...]:
        """The routes that the process has; none where it does not run."""
        answer = await self._ordered({})
        return () if answer is None else _routes(answer)

    async def carry(self, route: Route) -> None:
        """Hand a route to the process; starts it where it does not run."""
        order: Json = {"carry": to_json([route])}
        answer = await self._ordered(order)
        if answer is None:
            await self._start()
            answer = await self._ordered(order) or {"problem": "it ended"}
        if answer.get("problem") == TAKEN:
            refuse_taken(route.app, route.port)
            raise ConfigError(f"port {route.port} of app {route.app} was taken; try again")
        _routes(answer)

    async def leave(self, app: str) -> None:
        """Have the process close the port of an app."""
        before = [route for route in await self.running() if route.app == app]
        await self._ordered({"leave": [app]})
        for route in before:
            await until_free(route.port)

    async def stop(self) -> None:
        """End the process, once what is in flight has finished."""
        pid = ask_to_end(self._folder / PID, str(self._folder))
        self._remove()
        await until_ended(pid)

    def pids(self) -> dict[str, int]:
        """The process, which is the same for all apps; none where it does not run."""
        pid = pid_in(self._folder / PID, str(self._folder))
        return {"": pid} if pid else {}

    async def _start(self) -> None:
        self._remove()
        module = "twinsmith.adapters.proxy.small_server"
        line = [sys.executable, "-P", "-m", module, str(self._folder)]
        started = start(line, self._folder, self._folder / "small.log", {})
        for _ in range(int(START_SECONDS / 0.02)):
            if await self._ordered({}) is not None:
                return
            if started.ended:
                break
            await asyncio.sleep(0.02)
        started.end()
        raise _not_started(started)

    async def _ordered(self, order: Json) -> Json | None:
        """The answer to an order; none where the process does not run."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await asyncio.open_unix_connection(
                    self._folder / CONTROL, limit=_LONGEST_LINE
                )
                try:
                    writer.write(json.dumps(order).encode() + b"\n")
                    line = await reader.readline()
                finally:
                    writer.close()
            answer = json.loads(line) if line else None
        except TimeoutError as error:
            raise HostError(
                f"the small proxy does not answer at {self._folder / CONTROL}; end it, try again"
            ) from error
        except OSError:
            return None
        return answer if isinstance(answer, dict) else None

    def _remove(self) -> None:
        for name in (CONTROL, PID):
            (self._folder / name).unlink(missing_ok=True)


def _routes(answer: Json) -> tuple[Route, ...]:
    """The routes that an answer tells; HostError where it tells of a problem."""
    if problem := answer.get("problem"):
        raise HostError(f"the small proxy cannot do it: {problem}")
    return from_json(answer.get("routes"))


def _not_started(started: Started) -> HostError:
    return HostError(f"the small proxy does not start: {started.last_words()}; see {started.said}")
