"""The gates of a release: what a new version is asked before it gets a single request."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from twinsmith.core.execution import Execution
from twinsmith.core.operating.action import Terms
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.battery import battery, password_findings
from twinsmith.core.operating.canary import Exchange, exchanges_in, worse, worse_share
from twinsmith.core.operating.instance import instance_name
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.services.http_checks import severity_of
from twinsmith.core.services.http_words import PASSWORD_MARK
from twinsmith.flow.deliver.dock import Dock
from twinsmith.flow.deliver.settle import ASK_SECONDS, instance_of, ready, trial_data

PAUSE_SECONDS = 0.05
LOG_LINES = 2000


async def trial(dock: Dock, app: App, release: Release, terms: Terms) -> str:
    """Try a release on data of its own: ready, smoke, battery; why not, in words, or nothing."""
    trying = Trial(dock, app, release, terms)
    try:
        why = await trying.smoke()
        if not why and terms.battery:
            why = await trying.attacked()
        return why or await trying.leaked()
    finally:
        await trying.over()


class Trial:
    """A release on data of its own, begun anew as often as its checks want that."""

    def __init__(self, dock: Dock, app: App, release: Release, terms: Terms) -> None:
        self._dock = dock
        self._hosting = dock.hosting(app.host)
        self._app = app
        self._deliverable = release.deliverable
        self._terms = terms
        self._data = trial_data(app, release.number)
        self._instance = instance_of(app, release, terms, data=self._data, trial=True)

    async def smoke(self) -> str:
        """Hold the dialogues that the service was accepted by; the first that fails, in words.

        One that wants a service which nobody has asked yet gets one.
        """
        probes = self._deliverable.probes
        for batch in batches(probes.checks) or ((),):
            address, why = await self._fresh()
            if why or not batch:
                return why
            part = Probes(checks=batch, setup=probes.setup)
            why = failure("smoke", part, await self._dock.examiner.examine(address, part))
            why = why or await self.leaked()
            if why:
                return why
        return ""

    async def attacked(self) -> str:
        """Try what a hostile stranger would; the first attack that works, in words."""
        contract = self._deliverable.contract
        if contract is None:
            return ""
        secrets = self._dock.secrets.of(self._app.name).values()
        # No answer may hold one; the checks know them by their digests alone.
        hidden = [hashlib.sha256(each.encode()).hexdigest() for each in secrets]
        probes = battery(contract, shared=self._terms.shared, hidden=hidden)
        address, why = await self._fresh()
        return why or failure("attack", probes, await self._dock.examiner.examine(address, probes))

    async def leaked(self) -> str:
        """Look for the passwords of the checks where the service writes; the place, in words.

        The service is stopped first, so that its files are whole.
        """
        name, hosting = self._instance.name, self._hosting
        log = await hosting.host.logs(name, lines=LOG_LINES)
        await hosting.host.stop(name, seconds=ASK_SECONDS)
        if PASSWORD_MARK in log:
            return "a password stands in its log"
        found = password_findings(await hosting.volumes.files(self._data))
        return f"{found[0].what} ({found[0].where[:80]!r})" if found else ""

    async def over(self) -> None:
        """Leave nothing of the trial behind."""
        await self._hosting.host.stop(self._instance.name, seconds=0.0)
        await self._hosting.volumes.remove(self._data)

    async def _fresh(self) -> tuple[str, str]:
        """The address of an instance on empty data once it is ready, and why it is not."""
        await self.over()
        secrets = self._dock.secrets.of(self._app.name)
        address = await self._hosting.host.start(self._instance, secrets)
        path, seconds = self._deliverable.health, self._terms.ready_seconds
        name = self._instance.name
        return address, await ready(self._dock, self._app, name, address, path, seconds)


def batches(checks: Sequence[Probe]) -> tuple[tuple[Probe, ...], ...]:
    """Checks in groups that one service can answer: each that wants a fresh one begins another.

    Those that do not mind come first, together.
    """
    shared = tuple(each for each in checks if not each.fresh)
    alone = [(replace(each, fresh=False),) for each in checks if each.fresh]
    return (*([shared] if shared else []), *alone)


async def rehearsed(dock: Dock, app: App, old: Release, new: Release, terms: Terms) -> str:
    """Start a release on a copy of the app's data, then the old one on what it left of it.

    Why both cannot run on the same data, in words; nothing where they can.
    """
    hosting = dock.hosting(app.host)
    data = trial_data(app, new.number)
    await hosting.volumes.copy(app.data, data)
    try:
        for each, told in (
            (new, f"it does not run on the data of release {old.number}"),
            (old, f"release {old.number} does not run on its data any more"),
        ):
            instance = instance_of(app, each, terms, data=data, trial=True)
            address = await hosting.host.start(instance, dock.secrets.of(app.name))
            health = each.deliverable.health
            why = await ready(dock, app, instance.name, address, health, terms.ready_seconds)
            failed = next((e for e in await _asked(dock, address, each) if e.status >= 500), None)
            await hosting.host.stop(instance.name, seconds=ASK_SECONDS)
            if failed is not None:
                why = why or f"GET {failed.path} gives {failed.status}"
            if why:
                return f"{told}: {why}"
        return ""
    finally:
        for each in (new, old):
            name = instance_name(app.name, each.number, trial=True)
            await hosting.host.stop(name, seconds=0.0)
        await hosting.volumes.remove(data)


async def compared(
    dock: Dock, app: App, old: tuple[Release, str], new: tuple[Release, str], seconds: float
) -> str:
    """Ask both versions the same while people ask them, too; why the new one is worse, in words."""
    host = dock.hosting(app.host).host
    until = dock.clock.seconds() + seconds
    before: list[Exchange] = []
    after: list[Exchange] = []
    rounds = 0
    while not rounds or dock.clock.seconds() < until:
        # The same requests to both: those that the old version has.
        before += await _asked(dock, old[1], old[0])
        after += await _asked(dock, new[1], old[0])
        why = worse(before, after)
        if why:
            return why
        rounds += 1
        await dock.clock.sleep(PAUSE_SECONDS)
    logs = [
        exchanges_in(await host.logs(instance_name(app.name, each.number), lines=LOG_LINES))
        for each, _ in (old, new)
    ]
    return worse_share(logs[0], logs[1])


def failure(gate: str, probes: Probes, execution: Execution) -> str:
    """The first check that failed and counts, in words; nothing where none did."""
    if execution.problem:
        return f"{gate}: {execution.problem}"
    counts = {each.name for each in probes.checks if _counts(each)}
    failed = [
        each for each in execution.results if each.outcome != "passed" and each.name in counts
    ]
    if not failed:
        return ""
    detail = " ".join(failed[0].detail.split())[:200]
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return f"{gate}: {failed[0].name}: {failed[0].outcome}: {detail}{more}"


def _counts(probe: Probe) -> bool:
    return severity_of(probe) == "blocking"


async def _asked(dock: Dock, address: str, release: Release) -> list[Exchange]:
    """GET what anybody may read at an address, without changing anything there."""
    contract = release.deliverable.contract
    routes = contract.operations if contract is not None else ()
    plain = [
        each.path
        for each in routes
        if each.method == "GET" and not each.parameters and not each.login and not each.takes
    ]
    paths = dict.fromkeys([release.deliverable.health, *plain])
    return [await dock.visitor.get(address, path, seconds=ASK_SECONDS) for path in paths]
