"""A release, stage by stage: tried, started beside the old version, compared, switched, soaked."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, replace

from twinsmith.core.operating.action import Action, Terms
from twinsmith.core.operating.app import App, Release, next_number, served
from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.instance import Image, instance_name
from twinsmith.core.operating.route import one_upstream, split
from twinsmith.flow.deliver.dock import Dock, Refused, Steps, known_app
from twinsmith.flow.deliver.gates import compared, rehearsed, trial
from twinsmith.flow.deliver.package import packaged
from twinsmith.flow.deliver.settle import ASK_SECONDS, instance_of, ready, stopped

SOAK_LOOK_SECONDS = 0.5
FAILURES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Soaked:
    """How a release did after its switch; `why` is empty where it did well."""

    why: str = ""


class Releasing:
    """One release of one app; every stage may be begun again after a kill."""

    def __init__(self, action: Action, deliverable: Deliverable, steps: Steps, dock: Dock) -> None:
        self._action = action
        self._deliverable = deliverable
        self._steps = steps
        self._dock = dock
        self._number = 0

    @property
    def _app(self) -> App:
        return known_app(self._dock, self._action.app)

    @property
    def _terms(self) -> Terms:
        return self._action.terms

    @property
    def _new(self) -> Release:
        return self._release(self._number)

    @property
    def _old(self) -> Release | None:
        """The release that served when this one was begun."""
        return self._release(self._new.parent) if self._new.parent else None

    async def begin(self) -> int:
        """Keep the app and its new release; the number of the release."""
        self._number = await self._steps.step("begin", self._begun, int)
        return self._number

    async def through(self) -> str:
        """See the release through all its gates; the address at which it serves."""
        await self._built()
        await self._tried()
        if self._old is not None and self._app.wanted == "running":
            await self._beside(self._old)
        async with self._steps.stage("switch") as note:
            await self._steps.step("switch", self._switched, int)
            note.text = f"{self._app.url} serves release {self._number}"
        async with self._steps.stage("drain") as note:
            await self._steps.step("drain", self._drained, bool)
            note.text = f"release {self._new.parent} stopped" if self._new.parent else "nothing"
        return self._app.url

    async def soaked(self) -> str:
        """Watch the release for a while; why it was rolled back, or nothing where it is good."""
        async with self._steps.stage("soak") as note:
            seen = await self._steps.step("soak", self._watched, Soaked)
            if not seen.why:
                await self._steps.step("good", self._good, int)
                note.text = f"release {self._number} is the last known good one"
                return ""

            async def back() -> int:
                return await self._back(seen.why)

            number = await self._steps.step("back", back, int)
            note.text = seen.why
            return f"{seen.why}; release {number} serves again" if number else seen.why

    async def refuse(self, why: str) -> None:
        """Keep why a release was refused."""
        if self._number:
            release = self._new
            if release.state == "trying":
                self._dock.releases.save(replace(release, state="refused", reason=why))

    async def _built(self) -> None:
        async with self._steps.stage("image") as note:
            image = await self._steps.step("image", self._image, Image)
            note.text = f"{image.reference} {'was there' if image.existed else 'built'}"

    async def _tried(self) -> None:
        async with self._steps.stage("try") as note:

            async def tried() -> str:
                return await trial(self._dock, self._app, self._new, self._terms)

            _or_refuse(await self._steps.step("try", tried, str))
            count = len(self._deliverable.probes.checks)
            attacks = "attacked"
            if not self._terms.battery:
                attacks = "not attacked: deploy.battery is off"
            elif self._deliverable.contract is None:
                attacks = "not attacked: it tells no interface"
            note.text = f"ready, {count} checks, {attacks}"

    async def _beside(self, old: Release) -> None:
        """Let both versions run on the same data, and compare them."""
        if self._action.replace:
            return
        async with self._steps.stage("rehearse") as note:

            async def clash() -> str:
                return await rehearsed(self._dock, self._app, old, self._new, self._terms)

            why = await self._steps.step("rehearse", clash, str)
            if why:
                raise Refused(
                    f"{why}; both cannot run on the same data: mend it, or let a person stop "
                    f"release {old.number} first with: deploy --replace"
                )
            note.text = f"runs on the data of release {old.number}, and leaves it readable"
        async with self._steps.stage("canary") as note:

            async def judged() -> str:
                return await self._canary(old)

            _or_refuse(await self._steps.step("canary", judged, str))
            share = self._terms.canary_share
            note.text = f"{share} % of the requests" if share else "off: no request was risked"

    async def _begun(self) -> int:
        dock, action = self._dock, self._action
        app = dock.apps.get(action.app)
        if app is None or not app.serving:
            # Nobody knows the address of what never served: somebody may have its port by now.
            taken = [each.port for each in dock.apps.listed() if each.name != action.app]
            port = action.port or dock.free_port(taken)
            app = App(name=action.app, host=action.host, port=port, node=dock.node)
            dock.apps.save(app)
        releases = dock.releases.listed(app.name)
        known = next((each for each in releases if each.run == action.run), None)
        if known is None:
            known = Release(
                app=app.name,
                number=next_number(releases),
                run=action.run,
                deliverable=self._deliverable,
                parent=app.serving,
                by=action.by,
                at=dock.clock.now(),
                config=_digest(action, dock.secrets.of(app.name).keys()),
            )
            dock.releases.save(known)
        return known.number

    async def _image(self) -> Image:
        dock = self._dock
        source = self._deliverable.source
        package = packaged(source, dock.pins, dock.inventory)
        image = await dock.hosting(self._app.host).images.made(source, package)
        dock.releases.save(replace(self._new, image=image))
        return image

    async def _canary(self, old: Release) -> str:
        """Give the new version its share of the requests and judge it; why it is worse."""
        dock, app, share = self._dock, self._app, self._terms.canary_share
        hosting = dock.hosting(app.host)
        instance = instance_of(app, old, self._terms)
        before = await hosting.host.start(instance, dock.secrets.of(app.name))
        after = await self._started()
        if share:
            route = split(app.name, app.port, old=before, new=after, share=share)
            await dock.proxy.route(route)
        seconds = self._terms.canary_seconds if share else 0.0
        return await compared(dock, app, (old, before), (self._new, after), seconds)

    async def _started(self) -> str:
        """The address of the new version on the app's own data, once it is ready."""
        dock, app = self._dock, self._app
        instance = instance_of(app, self._new, self._terms)
        address = await dock.hosting(app.host).host.start(instance, dock.secrets.of(app.name))
        health = self._deliverable.health
        _or_refuse(
            await ready(dock, app, instance.name, address, health, self._terms.ready_seconds)
        )
        return address

    async def _switched(self) -> int:
        """Send all requests to the new version, in one step."""
        dock, app = self._dock, self._app
        if self._action.replace and self._old is not None:
            name = instance_name(app.name, self._old.number)
            await dock.hosting(app.host).host.stop(name, seconds=self._terms.drain_seconds)
            await dock.hosting(app.host).volumes.copy(app.data, backup_of(app, self._number))
        address = await self._started()
        await dock.proxy.route(one_upstream(app.name, app.port, address))
        changed, releases = served(
            app, dock.releases.listed(app.name), self._number, left="replaced"
        )
        dock.releases.save(*releases)
        dock.apps.save(changed)
        return self._number

    async def _drained(self) -> bool:
        """Let the old version finish what it has, and stop it."""
        app, parent = self._app, self._new.parent
        if parent and parent != self._number:
            await stopped(self._dock, app, parent, self._terms.drain_seconds)
        return True

    async def _watched(self) -> Soaked:
        dock, app = self._dock, self._app
        name, host = instance_name(app.name, self._number), dock.hosting(app.host).host
        until = dock.clock.seconds() + self._terms.soak_seconds
        first = await host.status(name)
        failed = 0
        while dock.clock.seconds() < until:
            seen = await host.status(name)
            if seen.state != "running" or seen.restarts > first.restarts:
                why = seen.reason or seen.state
                return Soaked(why=f"it did not last {self._terms.soak_seconds:g} s: {why}")
            asked = await dock.visitor.get(
                seen.address, self._deliverable.health, seconds=ASK_SECONDS
            )
            failed = 0 if 0 < asked.status < 500 else failed + 1
            if failed == FAILURES:
                return Soaked(why=f"it stopped answering (GET {asked.path}: {asked.status})")
            await dock.clock.sleep(SOAK_LOOK_SECONDS)
        return Soaked()

    async def _good(self) -> int:
        self._dock.apps.save(replace(self._app, good=self._number))
        return self._number

    async def _back(self, why: str) -> int:
        """Let the release before serve again; 0 where there was none: then nothing serves."""
        dock, app, parent = self._dock, self._app, self._new.parent
        if not parent:
            dock.apps.save(replace(app, serving=0))
            dock.releases.save(replace(self._new, state="refused", reason=why))
            return 0
        if self._action.replace:
            await dock.hosting(app.host).volumes.copy(backup_of(app, self._number), app.data)
        changed, releases = served(app, dock.releases.listed(app.name), parent, left="rolled back")
        dock.releases.save(*releases)
        dock.releases.save(replace(self._new, reason=why))
        dock.apps.save(changed)
        return parent

    def _release(self, number: int) -> Release:
        found = self._dock.releases.listed(self._action.app)
        return next(each for each in found if each.number == number)


def backup_of(app: App, number: int) -> str:
    """The name of the copy of an app's data from before a release changed it."""
    return f"{app.name}-before-{number}"


def _or_refuse(why: str) -> None:
    if why:
        raise Refused(why)


def _digest(action: Action, secrets: Collection[str]) -> str:
    """The SHA-256 of what a release is started with, besides its image; secrets by name alone."""
    told = [action.host, action.terms.memory_mb, action.terms.processes, sorted(secrets)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
