"""One suite for gauges: the fake, and those that read what real programs use."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.contract.test_host import PARAMS, ends, real, started, told, until
from tests.hosts import OPENERS, World, service
from twinsmith.adapters.hosting.engine_args import Engine
from twinsmith.adapters.hosting.engine_client import EngineClient
from twinsmith.adapters.hosting.engine_gauge import EngineGauge
from twinsmith.adapters.hosting.memory import MemoryHost
from twinsmith.core.errors import HostError
from twinsmith.core.operating.reading import Said, Usage
from twinsmith.ports import Gauge

MB = 1 << 20
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    raise error\n'


@pytest.fixture(params=PARAMS.values())
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    with OPENERS[request.param]() as opened:
        yield opened
        await opened.host.stop("shop-1", seconds=0)
        await opened.volumes.remove("shop")


async def seen(world: World, enough: Callable[[Usage], bool]) -> Usage:
    """The first reading that is as it should be in the end."""
    deadline = time.monotonic() + 30
    while not enough(usage := await world.gauge.read("shop-1")):
        assert time.monotonic() < deadline, usage
        await asyncio.sleep(0.05)
    return usage


async def heard(gauge: Gauge, errors: int) -> list[str]:
    """New messages until so many errors were told; not one more is told afterwards."""
    fresh: list[str] = []
    count, deadline = 0, time.monotonic() + 30
    while count < errors:
        said = await gauge.said("shop-1")
        count += said.errors
        fresh += said.fresh
        assert time.monotonic() < deadline, (count, fresh)
        await asyncio.sleep(0.02)
    assert count == errors
    assert await gauge.said("shop-1") == Said()
    return fresh


def says(world: World, address: str, text: str) -> None:
    if isinstance(world.host, MemoryHost):
        for line in text.splitlines():
            world.host.say("shop-1", line)
    else:
        told(address, "tell", text)


async def test_what_is_not_there_is_absent_and_silent(world: World) -> None:
    assert await world.gauge.read("nobody-1") == Usage(state="absent")
    assert await world.gauge.said("nobody-1") == Said()
    await started(world, service())
    assert (await world.gauge.read("shop-1")).state == "running"
    await world.host.stop("shop-1", seconds=10)
    assert await world.gauge.read("shop-1") == Usage(state="absent")
    assert await world.gauge.said("shop-1") == Said()


async def test_errors_are_told_once_and_their_messages_the_first_time(world: World) -> None:
    address = await started(world, service())
    assert (await world.gauge.said("shop-1")).errors == 0
    says(world, address, "all is well\n" + '{"path": "/error", "status": 500}\n')
    says(world, address, TRACE + "ValueError: item 17 of 'anna'\nERROR 42 at 0x7f00aa")
    assert await heard(world.gauge, 2) == ["ValueError: item # of '…'", "ERROR # at #"]
    says(world, address, "ValueError: item 18 of 'bert'\nfatal: no room")
    assert await heard(world.gauge, 2) == ["fatal: no room"]


async def test_a_program_that_dies_is_seen_with_its_reason(world: World) -> None:
    address = await started(world, service())
    if isinstance(world.host, MemoryHost):
        await world.host.end("shop-1", "exit code 3")
        usage = await world.gauge.read("shop-1")
    else:
        told(address, "hold", "32")
        before = await world.gauge.read("shop-1")
        ends(address, "/die?what=3")
        usage = await seen(world, lambda each: each.restarts == 1 and each.memory is not None)
        # A second life is counted anew.
        assert before.restarts == 0
        assert (usage.memory or 0) < (before.memory or 0)
    assert (usage.state, usage.restarts, usage.reason) == ("running", 1, "exit code 3")


async def test_a_program_that_stays_dead_is_seen_with_its_reason(world: World) -> None:
    address = await started(world, service(), restarts=False)
    if isinstance(world.host, MemoryHost):
        await world.host.end("shop-1", "signal 6")
    else:
        ends(address, "/kill?what=6")
    await until(world, "exited")
    usage = await world.gauge.read("shop-1")
    assert (usage.state, usage.reason, usage.restarts) == ("exited", "signal 6", 0)
    assert usage.memory is usage.descriptors is usage.processes is None


@real
async def test_what_a_program_takes_is_seen(world: World) -> None:
    address = await started(world, service())
    before = await world.gauge.read("shop-1")
    assert before.memory
    assert before.descriptors
    assert before.log_bytes is not None
    assert before.disk is not None
    assert (before.memory_limit, before.descriptor_limit) == (160 * MB, await files_of(address))
    assert before.processes
    assert before.processes < 10
    # Files that the kernel only keeps in case they are read again are nobody's memory.
    told(address, "fill", "48")
    filled = await world.gauge.read("shop-1")
    assert filled.memory
    assert filled.memory - before.memory < 24 * MB
    told(address, "hold", "32")
    told(address, "open", "200")
    told(address, "tell", "x" * 50_000)
    grown = await seen(world, lambda each: (each.log_bytes or 0) >= 50_000)
    assert grown.memory
    assert grown.descriptors
    assert 28 * MB <= grown.memory - before.memory < 72 * MB
    assert 200 <= grown.descriptors < 200 + before.descriptors + 10
    assert grown.processes == before.processes
    assert 0 < (before.cpu_seconds or 0) <= (grown.cpu_seconds or 0) < 60


async def files_of(address: str) -> int:
    limits = str(told(address, "read", "/proc/self/limits")).splitlines()
    return int(next(row for row in limits if row.startswith("Max open files")).split()[3])


@real
async def test_what_was_written_before_anybody_watched_is_nothing_new(world: World) -> None:
    address = await started(world, service())
    says(world, address, "ValueError: one")
    await heard(world.gauge, 1)
    later = world.another()
    assert await later.said("shop-1") == Said()
    says(world, address, "ValueError: one\nKeyError: two")
    assert await heard(later, 2) == ["KeyError: two"]


@pytest.mark.parametrize("world", [PARAMS["docker"], PARAMS["podman"]], indirect=True)
async def test_of_an_engine_elsewhere_is_known_what_it_says(world: World) -> None:
    assert world.far
    gauge = world.far()
    address = await started(world, service())
    usage = await gauge.read("shop-1")
    assert usage == Usage(state="running", memory_limit=160 * MB)
    assert await gauge.said("shop-1") == Said()
    says(world, address, "fine\nValueError: one")
    assert await heard(gauge, 1) == ["ValueError: one"]
    says(world, address, "ValueError: one")
    assert await heard(gauge, 1) == []


@pytest.mark.parametrize("engine", [PARAMS["docker"], PARAMS["podman"]])
async def test_an_engine_that_is_away_is_one_line(engine: Engine, tmp_path: Path) -> None:
    away = EngineClient(engine, tmp_path, address=f"unix://{tmp_path}/none.sock")
    gauge = EngineGauge(away, home="x")
    for asked in (gauge.read, gauge.said):
        with pytest.raises(HostError, match=rf"^{engine} does not answer at "):
            await asked("shop-1")
