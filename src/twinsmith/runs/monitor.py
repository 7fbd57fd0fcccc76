"""The monitor of one machine: looks at its apps, opens incidents, and heals by itself what it may.

Nothing that matters is kept in this process alone: readings, incidents and actions are in the
database, so that the next monitor goes on where one was killed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from twinsmith.adapters.lease import lease
from twinsmith.core.errors import TwinsmithError
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.operating.action import Action
from twinsmith.core.operating.alarm import Alarm, Severity
from twinsmith.core.operating.alert import Alert
from twinsmith.core.operating.app import App
from twinsmith.core.operating.damping import Episode, audible, begun, episodes
from twinsmith.core.operating.detect import alarms
from twinsmith.core.operating.incident import Incident, joined, knows, moved, opened
from twinsmith.core.operating.reading import Reading
from twinsmith.core.operating.remedy import HOSTS_OWN, NOTICES, RESTART_FIRST, Situation
from twinsmith.core.operating.windows import maintenance
from twinsmith.core.people.override import Override, holding
from twinsmith.flow.operate.heal import answered, heal
from twinsmith.runs.alerts import deliver_due, raise_alert
from twinsmith.runs.book import Book
from twinsmith.runs.crew import Crew
from twinsmith.runs.dates import Dates
from twinsmith.runs.healing import Healing
from twinsmith.runs.mender import Mender
from twinsmith.runs.submit import new_run
from twinsmith.runs.watcher import Watcher
from twinsmith.wiring.alerting import alerts_of
from twinsmith.wiring.delivering import (
    apps_of,
    is_free,
    overrides_of,
    proxy_of,
    queue_of_actions,
    releases_of,
)
from twinsmith.wiring.watching import incidents_of, watch_of, windows_of

THIN_SECONDS = 60.0
POST_SECONDS = 5.0
DATES_SECONDS = 5.0
"""How often it is asked whether dates of an app are due; a new release is at once."""
GRACE_SECONDS = 3.0
ALERTS_SECONDS = 30 * 86_400.0
"""Older alerts are forgotten; the journal keeps them."""


class MonitorProcess:
    """Watches the apps of this data folder; `said` gets a line for everything that happens."""

    def __init__(self, book: Book, said: Callable[[str], None]) -> None:
        settings = book.settings
        self._book = book
        self._said = said
        self._given = settings.values.monitor
        self._watch = watch_of(settings)
        self._apps = apps_of(settings)
        self._releases = releases_of(settings)
        self._incidents = incidents_of(settings)
        self._overrides = overrides_of(settings)
        self._queue = queue_of_actions(settings)
        self._proxy = proxy_of(settings)
        self._crew = Crew(book, said)
        self._watcher = Watcher(settings, self._judged, said)
        self._since: dict[str, float] = {}
        """From when on readings of an app count: those before belong to what is over."""
        self._done: set[str] = set()
        """The runs of deeds whose end was seen."""
        self._episodes: dict[str, tuple[Episode, ...]] = {}
        self._windows = windows_of(settings)
        self._dates = Dates(book, said)
        self._mender = Mender(book)
        self._healing = Healing(book, self._crew, self._mender, self._tell)

    async def serve(self, stop: asyncio.Event) -> None:
        """Watch until it is told to stop; RunBusy where another monitor of this folder runs."""
        with lease(self._book.settings.home / "monitor", "monitoring"):
            async with self._crew.shown():
                self._said("monitor watches")
                chores = (
                    self._often("alerts", POST_SECONDS, self._post),
                    self._often("history", THIN_SECONDS, self._thin),
                    self._often("dates", DATES_SECONDS, self._look_up),
                )
                tasks = [asyncio.ensure_future(each) for each in chores]
                try:
                    while not stop.is_set():
                        await self._watcher.guarded("monitor", self._look_after())
                        with suppress(TimeoutError):
                            await asyncio.wait_for(stop.wait(), self._given.seconds)
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
                    await self._watcher.end()
                    self._mender.leave()

    async def _often(self, what: str, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._watcher.guarded(what, work())
            await asyncio.sleep(seconds)

    async def _post(self) -> None:
        """Send alerts whose time has come; a dead channel holds up nothing else."""
        await deliver_due(self._book)

    async def _thin(self) -> None:
        self._watcher.thin()
        alerts_of(self._book.settings).forget(time.time() - ALERTS_SECONDS)

    async def _look_up(self) -> None:
        """Tell people what ends soon or became known of the apps' packages."""
        for alarm in await self._dates.due(self._watcher.watched()):
            # Nothing can be done about it by itself: telling is all of it.
            noted = opened(new_run(), alarm)
            self._incidents.save(moved(noted, "closed", "a person was told", time.time()))
            await self._tell(noted, alarm.severity, noted.last)

    async def _look_after(self) -> None:
        """Let every app be looked at, and set the proxy up again where it is down."""
        silent = [app.name for app in self._watcher.look_after() if is_free(app.port)]
        if silent and await self._proxy.ensure():
            self._said(f"the proxy was down and takes requests again: {', '.join(silent)}")
            await self._book.tell(SYSTEM, "proxy.revived", {"apps": list[Json](silent)})

    async def _judged(self, app: App, readings: tuple[Reading, ...]) -> None:
        """Open or go on with the incidents of an app, by what its readings tell."""
        mine = [each for each in self._incidents.listed() if each.app == app.name]
        incident = next((each for each in mine if each.is_open and _is_about(each, app)), None)
        since = self._since.get(app.name, 0.0)
        if incident is not None and incident.run:
            # What was seen before the deed says nothing about what came of it.
            since = max(since, incident.changed)
        heard = alarms([each for each in readings if each.at >= since], self._watch)
        found = audible(heard, maintenance(self._windows, time.time()))
        away = [each for each in found if each.kind in RESTART_FIRST | HOSTS_OWN]
        if incident is None and away and self._under_way(app.name):
            # Whoever replaces or restarts it takes it away, and sees to it that one serves again.
            found = tuple(each for each in found if each not in away)
        known = self._episodes.get(app.name, ())
        self._episodes[app.name] = episodes(known, found, time.time(), self._watch)
        news = begun(known, self._episodes[app.name])
        for alarm in found:
            waits = any(each.stage == "escalated" and knows(each, alarm) for each in mine)
            # A notice that comes and goes is one; trouble that comes back is trouble again.
            fresh = alarm in news or alarm.kind not in NOTICES
            if incident is not None or (fresh and not waits):
                incident = await self._joined(incident, alarm, app, readings)
        others = [each for each in mine if incident is None or each.id != incident.id]
        for each in [*([incident] if incident is not None else []), *others]:
            if self._given.heal:
                await self._gone_on(each, app, found, mine)
            elif each.is_open and not self._episodes[app.name]:
                over = moved(each, "closed", "nothing is wrong any more", time.time())
                self._incidents.save(over)
                await self._tell(over, "info", over.last)

    async def _gone_on(
        self, incident: Incident, app: App, found: tuple[Alarm, ...], mine: list[Incident]
    ) -> None:
        """Do what is to be done for an incident; an app may have one that is being mended, too."""
        others = [each for each in mine if each.id != incident.id]
        mending = any(each.stage in ("fixing", "releasing", "proving") for each in others)
        after = await self._healed(incident, app, found, mending=mending)
        if incident.is_open and not after.is_open and incident.run:
            self._since[app.name] = time.time()

    async def _joined(
        self, incident: Incident | None, alarm: Alarm, app: App, readings: tuple[Reading, ...]
    ) -> Incident:
        """The incident that an alarm belongs to, kept; a new one where none is open."""
        if incident is not None and knows(incident, alarm):
            return incident
        begun = opened(new_run(), alarm) if incident is None else joined(incident, alarm)
        if alarm.kind not in NOTICES and (incident is None or not incident.run):
            begun = replace(begun, evidence=await self._healing.evidence(app, alarm, readings))
        self._incidents.save(begun)
        if incident is None:
            await self._tell(begun, alarm.severity, f"{alarm.kind}: {alarm.evidence}")
        return begun

    async def _healed(
        self, incident: Incident, app: App, found: tuple[Alarm, ...], *, mending: bool
    ) -> Incident:
        override = holding(self._overrides.listed(), app.name)
        over = await self._healing.over(incident, overridden=override is not None)
        if over is not None and incident.run not in self._done:
            # What the deed itself did to people's requests is no trouble of what it led to.
            self._done.add(incident.run)
            self._since[app.name] = time.time() + GRACE_SECONDS
            found = ()
        if incident.run and over is None and incident.stage != "fixing":
            await self._go_on(incident.run)
        situation = Situation(
            now=time.time(),
            app=app,
            releases=self._releases.listed(app.name),
            alarms=found,
            held=self._held(app.name, override),
            refused=over or "",
            over=over is not None,
            lost=self._healing.lost(incident),
            fixes=self._given.fix,
            mending=mending,
            steady_seconds=self._given.steady_seconds,
        )
        if incident.stage == "escalated":
            return await answered(incident, situation, self._healing.ward)
        return await heal(self._healing.known(incident), situation, self._healing.ward)

    async def _go_on(self, run: str) -> None:
        """Go on with an action that was cut off with the monitor that began it."""
        if self._crew.is_busy(run) or self._crew.waits(run) or self._book.is_driven(run):
            return
        with suppress(TwinsmithError):
            given = self._book.given(run)
            assert isinstance(given, Action)
            await self._crew.begin(given)

    def _held(self, name: str, override: Override | None) -> str:
        """Why nothing may be done with an app by itself just now; empty where nothing holds it."""
        if override is not None:
            return f"{override.kind} by {override.by}: {override.reason}"
        now = time.time()
        if any(each.covers(name, now) for each in maintenance(self._windows, now)):
            return "maintenance"
        return self._under_way(name)

    def _under_way(self, name: str) -> str:
        """The action of an app that waits for its turn or is being done; empty: none."""
        busy = (each for each in self._queue.listed() if each.state in ("queued", "running"))
        first = next((each for each in busy if each.app == name), None)
        return f"{first.kind} ({first.run}) is under way" if first is not None else ""

    async def _tell(self, incident: Incident, severity: Severity, text: str) -> None:
        self._said(f"{incident.app} release {incident.release}: {text}")
        data: dict[str, Json] = {
            "incident": incident.id,
            "app": incident.app,
            "release": incident.release,
            "stage": incident.stage,
            "severity": severity,
            "text": text,
        }
        await self._book.tell(SYSTEM, "incident.told", data)
        self._healing.told(incident)
        alert = Alert(
            id=f"{incident.id}-{len(incident.steps)}",
            app=incident.app,
            severity=severity,
            title=f"{incident.app}: {text}",
            text="\n".join(step.did for step in incident.steps),
            key=f"release {incident.release} {incident.kind} {incident.stage}",
            at=time.time(),
        )
        await raise_alert(self._book, alert)


def _is_about(incident: Incident, app: App) -> bool:
    """Whether what is seen of an app now belongs to an incident: not while that is being mended.

    Another release serves then, and trouble of that one is another incident.
    """
    return incident.stage not in ("fixing", "releasing") or incident.release == app.serving
