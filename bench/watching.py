"""What watching costs: one round of readings for twenty apps, as a share of a core.

    python -m bench.watching [--rounds 100] [--hosts local,docker,podman]

Five instances stand for twenty: four gauges, each of which knows nothing of the others, read all
five. Between two rounds each instance answers a request and writes a line, and each app has ten
more requests in its access log. Times are processor time of this process, its threads and the
kernel's work for it included. Beside it, what asking an engine for its own figures takes.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.engines import absent
from tests.hosts import OPENERS, World, client, package, ready, service
from tests.unix_http import ask
from twinsmith.adapters.hosting.engine_args import ENGINES, container_name
from twinsmith.adapters.hosting.engine_host import EngineHost
from twinsmith.adapters.hosting.volume_size import EVERY_SECONDS
from twinsmith.adapters.proxy.access import Access, AccessLog, access_log
from twinsmith.adapters.proxy.access_meter import AccessMeter
from twinsmith.adapters.watching.tables import ReadingTable
from twinsmith.core.operating.instance import Instance
from twinsmith.core.operating.reading import Reading, Usage
from twinsmith.ports import Gauge

APPS, INSTANCES = 20, 5
REQUESTS = 10
STATS = 3
LIMIT_PERCENT = 1.0
EVERY = (1.0, 5.0)
SHARED = ("requests (access logs)", "readings kept (SQLite)", "readings thinned")
"""Parts of a round that are the same on every host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one part of a round takes, in milliseconds."""

    cpu: float
    wall: float


def middle(costs: Iterable[Cost]) -> Cost:
    """The middle one of many rounds."""
    some = list(costs)
    return Cost(
        cpu=statistics.median(each.cpu for each in some),
        wall=statistics.median(each.wall for each in some),
    )


async def timed(work: Callable[[], Awaitable[object]]) -> Cost:
    """What some work takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    await work()
    return Cost(cpu=(time.process_time() - cpu) * 1000, wall=(time.perf_counter() - wall) * 1000)


async def gauged(world: World, rounds: int) -> dict[str, Cost]:
    """Usage and words of twenty instances; the first look at them is a row of its own."""
    names, addresses = await started(world)
    gauges = [world.another() for _ in range(APPS // INSTANCES)]
    first = await timed(lambda: read(gauges, names))
    await said(gauges, names)
    used, heard = [], []
    for _ in range(rounds):
        for address in addresses:
            await asyncio.to_thread(ask, address, "GET", "/tell?what=all+is+well")
        used.append(await timed(lambda: read(gauges, names)))
        heard.append(await timed(lambda: said(gauges, names)))
    found = {
        f"{world.name}: first look, with the sizes of volumes": first,
        f"{world.name}: usage": middle(used),
        f"{world.name}: words": middle(heard),
    }
    if isinstance(world.host, EngineHost):
        found |= await asked_engine(world, names)
    return found


async def started(world: World) -> tuple[list[str], list[str]]:
    """The names and addresses of instances that answer."""
    source = service()
    image = await world.images.made(source, package(source))
    names = [f"bench-{number}" for number in range(INSTANCES)]
    addresses = []
    for name in names:
        instance = Instance(name=name, app="bench", image=image.reference, data=name)
        addresses.append(await world.host.start(instance, {}))
    for address in addresses:
        await asyncio.to_thread(ready, address)
    return names, addresses


async def read(gauges: list[Gauge], names: list[str]) -> None:
    """One reading of each instance by each gauge; all of them run."""
    for gauge in gauges:
        for name in names:
            usage = await gauge.read(name)
            assert usage.state == "running"
            assert usage.memory


async def said(gauges: list[Gauge], names: list[str]) -> None:
    """What each instance wrote, told to each gauge."""
    for gauge in gauges:
        for name in names:
            await gauge.said(name)


async def asked_engine(world: World, names: list[str]) -> dict[str, Cost]:
    """What an engine takes to tell the figures of one container, twenty times."""
    assert isinstance(world.host, EngineHost)
    asked = client("docker" if world.name == "docker" else "podman")
    name = container_name(world.host._mark, names[0])  # noqa: SLF001

    async def stats() -> None:
        await asked.ask(lambda api: api._client.stats(name, stream=False))  # noqa: SLF001

    cost = middle([await timed(stats) for _ in range(STATS)])
    return {f"{world.name}: its own 'stats'": Cost(cpu=cost.cpu * APPS, wall=cost.wall * APPS)}


async def metered(folder: Path, rounds: int) -> Cost:
    """The requests of twenty apps, ten each in a round."""
    meter = AccessMeter(folder)
    logs = {f"app-{n}": AccessLog(access_log(folder, f"app-{n}")) for n in range(APPS)}

    async def look() -> None:
        for app in logs:
            assert (await meter.read(app)).requests == REQUESTS

    costs = []
    for _ in range(rounds):
        for log in logs.values():
            for _ in range(REQUESTS):
                log.write(_access())
        costs.append(await timed(look))
    for log in logs.values():
        log.close()
    return middle(costs)


async def kept(folder: Path, rounds: int) -> dict[str, Cost]:
    """Twenty readings written to SQLite, and thinned later on: all rounds at once."""
    table = ReadingTable(f"sqlite:///{folder / 'runs.db'}")
    usage = Usage(state="running", cpu_seconds=1.5, memory=10**8, descriptors=9, log_bytes=10**6)

    async def add() -> None:
        at = time.time()
        table.add([Reading(app=f"app-{n}", release=1, at=at, usage=usage) for n in range(APPS)])

    async def thin() -> None:
        table.thin(time.time() + 3600)

    await add()
    costs = [await timed(add) for _ in range(rounds)]
    thinned = await timed(thin)
    return {
        "readings kept (SQLite)": middle(costs),
        "readings thinned": Cost(cpu=thinned.cpu / rounds, wall=thinned.wall / rounds),
    }


def _access() -> Access:
    return Access(
        at=time.time(),
        client=("127.0.0.1", 40000),
        method=b"GET",
        target=b"/carts/17/total",
        slot=3,
        status=200,
        size=120,
        seconds=0.004,
    )


async def measured(hosts: list[str], rounds: int) -> dict[str, Cost]:
    """All parts of a round, on each host that is here."""
    rows: dict[str, Cost] = {}
    for host in hosts:
        why = next((absent(engine) for engine in ENGINES if engine == host), "")
        if why:
            print(f"{host} is left out: {why}")
            continue
        with OPENERS[host]() as world:
            try:
                rows |= await gauged(world, rounds)
            finally:
                for number in range(INSTANCES):
                    await world.host.stop(f"bench-{number}", seconds=0)
                    await world.volumes.remove(f"bench-{number}")
    with tempfile.TemporaryDirectory(prefix="twinsmith-bench-") as folder:
        rows["requests (access logs)"] = await metered(Path(folder), rounds)
        rows |= await kept(Path(folder), rounds)
    return rows


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--hosts", default="local,docker,podman")
    given = parser.parse_args()
    hosts = given.hosts.split(",")
    rows = asyncio.run(measured(hosts, given.rounds))
    print(f"{APPS} apps, median of {given.rounds} rounds")
    print(f"{'':<46}{'CPU ms':>9}{'wall ms':>10}")
    for name, cost in rows.items():
        print(f"{name:<46}{cost.cpu:9.2f}{cost.wall:10.2f}")
    shared = sum(rows[name].cpu for name in SHARED)
    for host in hosts:
        if f"{host}: usage" not in rows:
            continue
        cpu = rows[f"{host}: usage"].cpu + rows[f"{host}: words"].cpu + shared
        # Sizes of volumes are looked at once in a while, whatever the pace; a first look is more.
        sizes = rows[f"{host}: first look, with the sizes of volumes"].cpu / EVERY_SECONDS / 10
        for every in EVERY:
            share = cpu / every / 10 + sizes
            verdict = "below" if share < LIMIT_PERCENT else "OVER"
            print(
                f"{host}: a round every {every:.0f} s takes {share:.2f} % of a core: {verdict} "
                f"{LIMIT_PERCENT:.0f} %"
            )


if __name__ == "__main__":
    main()
