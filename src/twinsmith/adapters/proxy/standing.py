"""A proxy that stands whatever happens: what was asked for is kept, and set up again."""

from contextlib import suppress
from pathlib import Path
from typing import Protocol

from twinsmith.adapters.proxy.kept import KeptRoutes
from twinsmith.adapters.proxy.slots import tidy
from twinsmith.core.errors import ConfigError, TwinsmithError
from twinsmith.core.operating.instance import app_name
from twinsmith.core.operating.route import Route


class Carrier(Protocol):
    """What carries requests, in processes of its own, and may be gone at any moment."""

    @property
    def lacks(self) -> tuple[str, ...]:
        """What it cannot do and others can, for people to read."""
        ...

    async def running(self) -> tuple[Route, ...]:
        """The routes on which requests are carried now."""
        ...

    async def carry(self, route: Route) -> None:
        """Carry the requests of an app that way; starts what is needed and does not run.

        ConfigError, and all as before, where something else has the port.
        """
        ...

    async def leave(self, app: str) -> None:
        """Carry no more requests of an app; its port is free afterwards."""
        ...

    async def stop(self) -> None:
        """End all processes, once what is in flight has finished."""
        ...


class StandingProxy:
    """The `Proxy` port over a carrier."""

    def __init__(self, folder: Path, carrier: Carrier) -> None:
        self.lacks = carrier.lacks
        self._kept = KeptRoutes(folder)
        self._carrier = carrier

    async def route(self, route: Route) -> None:
        """Send the requests of an app that way from now on."""
        wanted = tidy(route)
        async with self._kept.alone():
            before = self._kept.routes()
            for other in before.values():
                if other.port == wanted.port and other.app != wanted.app:
                    raise ConfigError(
                        f"port {wanted.port} of app {wanted.app} is app {other.app}'s; "
                        "give another port"
                    )
            self._kept.save({**before, wanted.app: wanted})
            try:
                await self._carrier.carry(wanted)
            except BaseException:
                self._kept.save(before)
                raise
            await self._revive()

    async def drop(self, app: str) -> None:
        """Take no more requests for an app."""
        app_name(app)
        async with self._kept.alone():
            kept = self._kept.routes()
            if kept.pop(app, None):
                self._kept.save(kept)
            await self._carrier.leave(app)
            await self._revive()

    async def current(self) -> tuple[Route, ...]:
        """The routes by which requests go now, as what carries them says."""
        return tuple(sorted(await self._carrier.running(), key=lambda route: route.app))

    async def ensure(self) -> bool:
        """Set up every kept route that is down; whether there was one.

        All of them are tried before the first error is raised.
        """
        problems: list[TwinsmithError] = []
        async with self._kept.alone():
            running = await self._carrier.running()
            missing = [route for route in self._kept.routes().values() if route not in running]
            for route in missing:
                try:
                    await self._carrier.carry(route)
                except TwinsmithError as problem:
                    problems.append(problem)
        if problems:
            raise problems[0]
        return bool(missing)

    async def stop(self) -> None:
        """End the proxy; routes are kept, and set up again by the next call that needs them."""
        async with self._kept.alone():
            await self._carrier.stop()

    async def _revive(self) -> None:
        """Set up the other apps that are down; what cannot be is told by `ensure`."""
        up = {route.app for route in await self._carrier.running()}
        for route in self._kept.routes().values():
            if route.app not in up:
                with suppress(TwinsmithError):
                    await self._carrier.carry(route)
