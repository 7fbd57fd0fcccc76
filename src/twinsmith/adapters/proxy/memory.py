"""A proxy that carries nothing: it tells where a request would go, for tests and dry runs."""

from collections.abc import Collection

from twinsmith.adapters.proxy.slots import slots, tidy
from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.reading import Traffic
from twinsmith.core.operating.route import Route
from twinsmith.core.operating.traffic import Handled, traffic_of

_STRIDE = 37
"""Slots are drawn in an order that mixes them, and that is the same every time."""


class MemoryProxy:
    """Keeps routes in dictionaries; ports in `taken` are somebody else's."""

    lacks: tuple[str, ...] = ("it carries no requests",)

    def __init__(self, taken: Collection[int] = ()) -> None:
        self.taken = set(taken)
        self._kept: dict[str, Route] = {}
        self._running: dict[str, Route] = {}
        self._asked = 0

    async def route(self, route: Route) -> None:
        """Send the requests of an app that way from now on."""
        wanted = tidy(route)
        others = [kept.port for kept in self._kept.values() if kept.app != wanted.app]
        if wanted.port in self.taken or wanted.port in others:
            raise ConfigError(f"port {wanted.port} of app {wanted.app} is taken; give another port")
        self._kept[wanted.app] = wanted
        self._running = dict(self._kept)

    async def drop(self, app: str) -> None:
        """Take no more requests for an app."""
        self._kept.pop(app, None)
        self._running = dict(self._kept)

    async def current(self) -> tuple[Route, ...]:
        """The routes by which requests go now."""
        return tuple(self._running[app] for app in sorted(self._running))

    async def ensure(self) -> bool:
        """Set up what is down; whether there was anything."""
        down = self._running != self._kept
        self._running = dict(self._kept)
        return down

    async def stop(self) -> None:
        """End what carries, and keep the routes."""
        self.die()

    def die(self) -> None:
        """What becomes of a proxy that is killed."""
        self._running = {}

    def chosen(self, port: int) -> str:
        """The address to which the next request at a port goes; empty where nobody listens."""
        for route in self._running.values():
            if route.port == port:
                self._asked += 1
                addresses = slots(route.upstreams)
                return addresses[self._asked * _STRIDE % len(addresses)]
        return ""


class MemoryMeter:
    """Counts the requests that a test says were handled."""

    def __init__(self) -> None:
        self._handled: dict[str, list[Handled]] = {}
        self._failed: dict[str, list[str]] = {}

    def handle(self, app: str, *requests: Handled) -> None:
        """Let requests to an app be over."""
        self._handled.setdefault(app, []).extend(requests)
        bad = [each.asked for each in requests if each.status == 0 or each.status >= 500]
        self._failed.setdefault(app, []).extend(bad)

    async def read(self, app: str) -> Traffic:
        """The requests to an app since it was asked the last time."""
        return traffic_of(self._handled.pop(app, []))

    async def failed(self, app: str) -> tuple[str, ...]:
        """The requests of an app that failed, oldest first."""
        return tuple(self._failed.get(app, ()))
