"""An app brought to what its record says: one release serves, and nothing else of it runs.

Whatever was cut off, by a kill, a cancellation or a person's override, ends here.
"""

from collections.abc import Callable

from twinsmith.core.errors import HostError
from twinsmith.core.operating.action import Terms
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.instance import Instance, instance_name
from twinsmith.core.operating.route import one_upstream
from twinsmith.flow.deliver.dock import Dock
from twinsmith.ports import Host

LOOK_SECONDS = 0.05
ASK_SECONDS = 5.0
LINGER_SECONDS = 1.0


def instance_of(
    app: App, release: Release, terms: Terms, *, data: str = "", trial: bool = False
) -> Instance:
    """The instance of a release; a trial runs on other data and is not restarted."""
    assert release.image is not None
    return Instance(
        name=instance_name(app.name, release.number, trial=trial),
        app=app.name,
        image=release.image.reference,
        data=data or app.data,
        memory_mb=terms.memory_mb,
        processes=terms.processes,
        restarts=not trial,
    )


async def ready(dock: Dock, app: App, name: str, address: str, path: str, seconds: float) -> str:
    """Wait until an instance answers; why it does not, in words, or nothing where it does."""
    host = dock.hosting(app.host).host
    until = dock.clock.seconds() + seconds
    last = "it does not answer"
    while True:
        asked = await dock.visitor.get(address, path, seconds=ASK_SECONDS)
        if 0 < asked.status < 500:
            return ""
        if asked.status:
            last = f"GET {path} gives {asked.status}"
        seen = await host.status(name)
        if seen.state in ("absent", "exited"):
            return f"it ended: {seen.reason or 'it is gone'}{await _said(host, name)}"
        if dock.clock.seconds() > until:
            again = f", restarted {seen.restarts} times ({seen.reason})" if seen.restarts else ""
            return f"not ready after {seconds:g} s: {last}{again}{await _said(host, name)}"
        await dock.clock.sleep(LOOK_SECONDS)


async def _said(host: Host, name: str) -> str:
    """The last line of an instance's log that tells of trouble; else its last one."""
    lines = [line.strip() for line in (await host.logs(name, lines=50)).splitlines()]
    told = [line for line in lines if line and not line.startswith("{")]
    trouble = [line for line in told if "error" in line.lower() and "[ERROR]" not in line]
    said = (trouble or told or [""])[-1][:200]
    return f"; it said: {said}" if said else ""


async def settled(dock: Dock, app: App, terms: Terms) -> str:
    """The address of the release that serves, once nothing else of the app runs; empty: none."""
    address = await routed(dock, app, terms)
    await cleared(
        dock,
        app,
        keep=lambda each: bool(address) and each.number == app.serving,
        seconds=terms.drain_seconds,
    )
    return address


async def routed(dock: Dock, app: App, terms: Terms) -> str:
    """The address of the release that serves, once all requests go to it; empty: none does."""
    releases = dock.releases.listed(app.name)
    serving = next((each for each in releases if each.number == app.serving), None)
    if app.wanted != "running" or serving is None or serving.image is None:
        await dock.proxy.drop(app.name)
        return ""
    instance = instance_of(app, serving, terms)
    address = await dock.hosting(app.host).host.start(instance, dock.secrets.of(app.name))
    health = serving.deliverable.health
    why = await ready(dock, app, instance.name, address, health, terms.ready_seconds)
    if why:
        raise HostError(
            f"release {serving.number} of {app.name} served before and does not now: {why}; "
            f"see: twinsmith logs {app.name}"
        )
    await dock.proxy.route(one_upstream(app.name, app.port, address))
    return address


async def cleared(dock: Dock, app: App, *, keep: Callable[[Release], bool], seconds: float) -> None:
    """Let every instance of an app finish but those to keep, and forget what trials left."""
    hosting = dock.hosting(app.host)
    for each in dock.releases.listed(app.name):
        if each.image is None:
            # Nothing of it was ever started, and its host may not even be there.
            continue
        await hosting.host.stop(instance_name(app.name, each.number, trial=True), seconds=0.0)
        await hosting.volumes.remove(trial_data(app, each.number))
        if not keep(each):
            await stopped(dock, app, each.number, seconds)


async def stopped(dock: Dock, app: App, number: int, seconds: float) -> None:
    """Let the instance of a release finish, also who waits at its socket already, and stop it."""
    host, name = dock.hosting(app.host).host, instance_name(app.name, number)
    if (await host.status(name)).state == "running":
        await dock.clock.sleep(LINGER_SECONDS)
    await host.stop(name, seconds=seconds)


def trial_data(app: App, number: int) -> str:
    """The name of the data that a release is tried on."""
    return f"{app.name}-{number}-trial"
