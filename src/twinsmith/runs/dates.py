"""What of the watched apps ends soon, or became known of their packages: looked up once a day."""

import time
from collections.abc import Callable, Sequence

from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.app import App
from twinsmith.core.operating.containerfile import packages_of
from twinsmith.core.operating.locked import needed
from twinsmith.flow.operate.notice import Lookup, news, noticed
from twinsmith.runs.book import Book
from twinsmith.wiring.delivering import releases_of
from twinsmith.wiring.packaging import advisories_of, pinned
from twinsmith.wiring.watching import almanac_of, certificates_of, incidents_of, watch_of


class Dates:
    """Looks up dates of apps; `said` gets a line for what cannot be found out."""

    def __init__(self, book: Book, said: Callable[[str], None]) -> None:
        settings = book.settings
        self._settings = settings
        self._told: set[str] = set()
        self._line = said
        self._every = settings.values.monitor.dates_seconds
        self._places = certificates_of(settings)
        self._lookup = Lookup(
            almanac=almanac_of(settings),
            advisories=advisories_of(settings),
            watch=watch_of(settings),
            said=self._said,
        )
        self._releases = releases_of(settings)
        self._incidents = incidents_of(settings)
        self._looked: dict[tuple[str, int], float] = {}
        """When each release was looked up."""

    async def due(self, apps: Sequence[App]) -> tuple[Alarm, ...]:
        """The alarms of those apps whose time has come, as far as nobody was told of them."""
        found: list[Alarm] = []
        for app in apps:
            now, one = time.monotonic(), (app.name, app.serving)
            if now - self._looked.get(one, float("-inf")) >= self._every:
                self._looked[one] = now
                found += news(await self._of(app, apps), self._incidents.listed(over=True))
        return tuple(found)

    def _said(self, line: str) -> None:
        """Say what cannot be found out, once in the life of a monitor."""
        if line not in self._told:
            self._told.add(line)
            self._line(line)

    async def _of(self, app: App, apps: Sequence[App]) -> tuple[Alarm, ...]:
        own = {app.name, ""} if app is apps[0] else {app.name}
        listed = self._releases.listed(app.name)
        release = next((each for each in listed if each.number == app.serving), None)
        asks = self._settings.values.scan.advisories
        packages = packages_of(release.deliverable.source) if release and asks else ()
        return await noticed(
            app,
            needed(pinned(), packages),
            [each for each in self._places if each.app in own],
            self._lookup,
            time.time(),
        )
