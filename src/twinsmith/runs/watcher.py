"""Apps of this machine looked at again and again; what was seen lately, and kept for later."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

from twinsmith.core.errors import TwinsmithError
from twinsmith.core.operating.app import App
from twinsmith.core.operating.reading import Reading
from twinsmith.flow.operate.look import glanced, glimpsed, looked
from twinsmith.settings import Settings
from twinsmith.wiring.delivering import apps_of, releases_of
from twinsmith.wiring.running import node_of
from twinsmith.wiring.watching import post_of, readings_of

WINDOW = 600
"""Readings of an app that its detectors see."""


class Watcher:
    """Looks at every app that is to run; `judge` gets each app after every look at it."""

    def __init__(
        self,
        settings: Settings,
        judge: Callable[[App, tuple[Reading, ...]], Awaitable[None]],
        said: Callable[[str], None],
    ) -> None:
        given = settings.values.monitor
        self._every, self._probes = given.seconds, given.probe_seconds
        self._judge = judge
        self._said = said
        self._post = post_of(settings)
        self._readings = readings_of(settings)
        self._apps = apps_of(settings)
        self._releases = releases_of(settings)
        self._node = node_of(settings)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._windows: dict[str, deque[Reading]] = {}
        self._fresh: list[Reading] = []
        self._trouble: dict[str, str] = {}

    def look_after(self) -> tuple[App, ...]:
        """Keep what was read, and see to it that every app is looked at; those that are."""
        self._keep()
        here = {app.name: app for app in self.watched()}
        for name in [name for name in self._tasks if name not in here]:
            self._tasks.pop(name).cancel()
            self._windows.pop(name, None)
        for name in here:
            if name not in self._tasks or self._tasks[name].done():
                self._tasks[name] = asyncio.ensure_future(self._watched(name))
        return tuple(here.values())

    def watched(self) -> tuple[App, ...]:
        """The apps of this machine that are to run, by their names."""
        mine = (app for app in self._apps.listed() if self._is_mine(app))
        return tuple(sorted(mine, key=lambda app: app.name))

    async def end(self) -> None:
        """Look no more, and keep what was read."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._keep()

    def thin(self) -> None:
        """Make the history coarser where it is old."""
        self._readings.thin(time.time())

    async def guarded(self, what: str, work: Awaitable[None]) -> None:
        """Do one thing; what the machine does wrong is told once, and the next look tries again."""
        try:
            await work
            self._trouble.pop(what, None)
        except TwinsmithError as error:
            if self._trouble.get(what) != str(error):
                self._trouble[what] = str(error)
                self._said(f"{what}: {error}")

    async def _watched(self, name: str) -> None:
        """Look at one app again and again; one that does not answer holds up no other."""
        probed, state = 0.0, ""

        async def look() -> None:
            nonlocal probed, state
            app = self._apps.get(name)
            if app is None or not self._is_mine(app):
                return
            usage = await glanced(self._post, app)
            now = time.monotonic()
            if now - probed >= self._probes or usage.state != state:
                probed, state = now, usage.state
                release = next(e for e in self._releases.listed(name) if e.number == app.serving)
                reading = await looked(self._post, app, release, usage, at=time.time())
            else:
                reading = await glimpsed(self._post, app, usage, at=time.time())
            window = self._windows.setdefault(name, deque(maxlen=WINDOW))
            window.append(reading)
            self._fresh.append(reading)
            await self._judge(app, tuple(window))

        while True:
            await self.guarded(name, look())
            await asyncio.sleep(self._every)

    def _is_mine(self, app: App) -> bool:
        return bool(app.serving) and app.wanted == "running" and app.node in ("", self._node)

    def _keep(self) -> None:
        kept, self._fresh = self._fresh, []
        if kept:
            self._readings.add(kept)
