"""The workflow of an action: asked about, let into the queue, done in its turn, settled."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from twinsmith.core.errors import ConfigError, RunCancelled, Waiting
from twinsmith.core.operating.action import TUNABLE, Action, ActionOutcome, Queued, before
from twinsmith.core.operating.app import App, Release, rollback_target, served
from twinsmith.core.operating.deliverable import Deliverable, deliverable_in
from twinsmith.core.operating.inspected import Inspected
from twinsmith.core.operating.instance import instance_name
from twinsmith.core.operating.route import one_upstream
from twinsmith.core.people.approval import OCCASIONS
from twinsmith.core.people.override import words
from twinsmith.flow.deliver.approve import approved, dossier_of, occasions
from twinsmith.flow.deliver.dock import Dock, Held, Refused, Steps, known_app
from twinsmith.flow.deliver.release import Releasing
from twinsmith.flow.deliver.settle import cleared, instance_of, ready, settled

T = TypeVar("T")
MOST_MODIFIED = 5
TURN_SECONDS = 4.0
LOOK_SECONDS = 0.2
RESTART_SECONDS = 2.0
"""Whoever hangs is not waited for any longer."""


async def deliver(action: Action, dock: Dock) -> ActionOutcome:
    """Do an action; whatever becomes of it, one release serves and nothing else of the app runs."""
    steps = Steps(action.run, action.app, dock, trace=action.trace)
    delivery = Delivery(action, steps, dock)
    try:
        outcome = await delivery.done()
    except Refused as no:
        outcome = await delivery.ended(str(no), done=False)
    except Held as held:
        await delivery.settle()
        told = words(held.override)
        raise Waiting(told, topic="override", until=_soon(dock, 1.0)) from held
    except RunCancelled:
        dock.queue.change(action.run, "cancelled")
        await delivery.settle()
        raise
    dock.queue.change(action.run, "done" if outcome.done else "refused")
    return outcome


class Delivery:
    """One action from the person's wish to its end."""

    def __init__(self, action: Action, steps: Steps, dock: Dock) -> None:
        self._action = action
        self._steps = steps
        self._dock = dock
        self._releasing: Releasing | None = None

    async def done(self) -> ActionOutcome:
        """Do the action; Refused says why it is not done."""
        action, dock = self._action, self._dock
        dock.queue.put(
            Queued(
                run=action.run,
                app=action.app,
                kind=action.kind,
                state="asking",
                by=action.by,
                at=dock.clock.now(),
            )
        )
        deliverable = await self._allowed()
        await self._turn()
        match action.kind:
            case "deploy":
                assert deliverable is not None
                return await self._deployed(deliverable)
            case "rollback":
                return await self._rolled_back()
            case "stop" | "start" | "restart":
                return await self._switched_off_or_on()
            case "remove":
                return await self._removed()
            case "hand over" if deliverable is not None:
                return await self._deployed(deliverable)
            case "hand over":
                return await self.ended("a person leaves it as it is", done=True)

    async def settle(self) -> None:
        """Bring the app to what its record says, where there is one."""
        app = self._dock.apps.get(self._action.app)
        if app is not None:
            await settled(self._dock, app, self._action.terms)

    async def ended(self, reason: str, *, done: bool) -> ActionOutcome:
        """The outcome of the action; one that was refused leaves the app as it was."""
        if not done:
            if self._releasing is not None:
                await self._releasing.refuse(reason)
            await self.settle()
        app = self._dock.apps.get(self._action.app)
        return ActionOutcome(
            run=self._action.run,
            app=self._action.app,
            kind=self._action.kind,
            done=done,
            reason=reason,
            release=app.serving if app is not None else 0,
            url=app.url if app is not None and app.serving else "",
        )

    async def _allowed(self) -> Deliverable | None:
        """The service to deploy, scanned and approved; as a person modified it, perhaps."""
        deliverable = self._action.deliverable
        for number in range(1, MOST_MODIFIED + 1):
            inspected = await self._scanned(deliverable, number)
            app = self._dock.apps.get(self._action.app)
            old = self._serving(app) if app is not None else None
            policy = tuple(self._dock.asking.needed)
            found = list[str](occasions(self._action, app, old, deliverable, inspected, policy))
            kept = await self._steps.step(f"occasions {number}", _giving(found), list[str])
            why = tuple(each for each in OCCASIONS if each in kept)
            if not why:
                return deliverable
            async with self._steps.stage(f"approval {number}") as note:
                dossier = dossier_of(self._action, why, old, deliverable, inspected)
                said = await approved(self._steps, self._dock, self._action, dossier, number)
                note.text = f"{said.said} by {said.by.removeprefix('user:')}: {said.note}".rstrip(
                    ": "
                )
            if said.said == "approve":
                return deliverable
            if said.said == "reject":
                raise Refused(f"rejected by {said.by.removeprefix('user:')}: {said.note}")
            deliverable = self._modified(deliverable, said.files, said.terms)
        raise Refused(f"modified {MOST_MODIFIED} times without an approval; start a new action")

    def _modified(
        self,
        deliverable: Deliverable | None,
        files: dict[str, str] | None,
        terms: dict[str, float] | None,
    ) -> Deliverable | None:
        """The service and the terms as a person changed them; they go through all gates again."""
        if terms:
            known = {name: value for name, value in terms.items() if name in TUNABLE}
            was = self._action.terms
            kinds = {name: type(getattr(was, name)) for name in known}
            given = {name: kinds[name](value) for name, value in known.items()}
            self._action = replace(self._action, terms=replace(was, **given))
        if files is None:
            return deliverable
        try:
            return deliverable_in(files, "the modified source")
        except ConfigError as error:
            raise Refused(str(error)) from error

    async def _scanned(self, deliverable: Deliverable | None, number: int) -> Inspected:
        if deliverable is None:
            return Inspected()
        async with self._steps.stage(f"scan {number}" if number > 1 else "scan") as note:

            async def scan() -> Inspected:
                return await self._dock.scanner.scan(deliverable.source)

            inspected = await self._steps.step(f"scan {number}", scan, Inspected)
            if inspected.blocking:
                more = len(inspected.blocking) - 1
                raise Refused(
                    f"the scan found {inspected.blocking[0]}{f' and {more} more' if more else ''}; "
                    "mend it, or change what blocks in the settings under scan"
                )
            note.text = f"{len(inspected.findings)} findings, risk {inspected.risk}"
        return inspected

    async def _turn(self) -> None:
        """Wait until every earlier action of the app is over, but not for long in this process."""
        dock, run = self._dock, self._action.run
        mine = dock.queue.admit(run)
        until = dock.clock.seconds() + TURN_SECONDS
        while first := before(mine, dock.queue.listed()):
            self._steps.refuse_held()
            if dock.clock.seconds() > until:
                told = f"run {run} waits for its turn behind {first[0].kind} ({first[0].run})"
                raise Waiting(told, topic="turn", until=_soon(dock, 2.0))
            await dock.clock.sleep(LOOK_SECONDS)
        self._steps.refuse_held()
        dock.queue.change(run, "running")

    async def _deployed(self, deliverable: Deliverable) -> ActionOutcome:
        self._releasing = Releasing(self._action, deliverable, self._steps, self._dock)
        number = await self._releasing.begin()
        url = await self._releasing.through()
        why = await self._releasing.soaked()
        if why:
            raise Refused(why)
        return await self.ended(f"release {number} serves at {url}", done=True)

    async def _rolled_back(self) -> ActionOutcome:
        """Let an earlier release serve again: no model, no build, seconds."""
        dock, app = self._dock, known_app(self._dock, self._action.app)
        try:
            target = rollback_target(app, dock.releases.listed(app.name), self._action.to)
        except ConfigError as error:
            raise Refused(str(error)) from error
        number = await self._steps.step("target", _giving(target.number), int)

        async def back() -> int:
            await self._serve(app, number)
            return number

        async with self._steps.stage("switch") as note:
            await self._steps.step("switch", back, int)
            note.text = f"{app.url} serves release {number}"
        async with self._steps.stage("stop") as note:
            await self.settle()
            note.text = "nothing else runs"
        return await self.ended(f"release {number} serves at {app.url}", done=True)

    async def _serve(self, app: App, number: int) -> None:
        """Start a release, send all requests to it, and keep that it serves."""
        dock, terms = self._dock, self._action.terms
        release = self._numbered(number)
        instance = instance_of(app, release, terms)
        address = await dock.hosting(app.host).host.start(instance, dock.secrets.of(app.name))
        health = release.deliverable.health
        why = await ready(dock, app, instance.name, address, health, terms.ready_seconds)
        if why:
            raise Refused(f"release {number} does not serve any more: {why}")
        await dock.proxy.route(one_upstream(app.name, app.port, address))
        now = known_app(dock, app.name)
        changed, releases = served(now, dock.releases.listed(app.name), number, left="rolled back")
        dock.releases.save(*releases)
        dock.apps.save(changed)

    async def _switched_off_or_on(self) -> ActionOutcome:
        kind, dock = self._action.kind, self._dock
        app = known_app(dock, self._action.app)
        wanted = replace(app, wanted="stopped" if kind == "stop" else "running")

        async def switched() -> bool:
            dock.apps.save(wanted)
            if kind == "restart":
                name = instance_name(app.name, app.serving)
                await dock.hosting(app.host).host.stop(name, seconds=RESTART_SECONDS)
            await settled(dock, wanted, self._action.terms)
            return True

        async with self._steps.stage(kind) as note:
            await self._steps.step(kind, switched, bool)
            note.text = "stopped; its data stays" if kind == "stop" else f"serves at {app.url}"
        return await self.ended(note.text, done=True)

    async def _removed(self) -> ActionOutcome:
        dock, app = self._dock, known_app(self._dock, self._action.app)
        hosting = dock.hosting(app.host)

        async def removed() -> bool:
            await dock.proxy.drop(app.name)
            await cleared(dock, app, keep=lambda _: False, seconds=self._action.terms.drain_seconds)
            images = {each.image for each in dock.releases.listed(app.name) if each.image}
            others = {
                each.image
                for other in dock.apps.listed()
                if other.name != app.name
                for each in dock.releases.listed(other.name)
            }
            for image in images - others:
                await hosting.images.remove(image.reference)
            if self._action.data:
                await hosting.volumes.remove(app.data)
                dock.secrets.remove(app.name)
            dock.apps.remove(app.name)
            return True

        async with self._steps.stage("remove") as note:
            await self._steps.step("remove", removed, bool)
            note.text = (
                "app, releases, data and secrets are gone"
                if self._action.data
                else f"app and releases are gone; data volume {app.data} stays"
            )
        return await self.ended(note.text, done=True)

    def _serving(self, app: App) -> Release | None:
        found = self._dock.releases.listed(app.name)
        return next((each for each in found if each.number == app.serving), None)

    def _numbered(self, number: int) -> Release:
        found = self._dock.releases.listed(self._action.app)
        return next(each for each in found if each.number == number)


def _soon(dock: Dock, seconds: float) -> str:
    now = datetime.fromisoformat(dock.clock.now())
    return (now + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def _giving(value: T) -> Callable[[], Awaitable[T]]:
    """A value as the work of a step, so that a replay decides as the first time."""

    async def given() -> T:
        return value

    return given
