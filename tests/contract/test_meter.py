"""One suite for meters: the fake, and what Caddy and the small proxy write down."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.test_proxy import made
from tests.upstreams import asked, free_port, service
from twinsmith.adapters.proxy.access_meter import AccessMeter
from twinsmith.adapters.proxy.memory import MemoryMeter
from twinsmith.core.operating.reading import Traffic
from twinsmith.core.operating.route import one_upstream
from twinsmith.core.operating.traffic import Handled
from twinsmith.ports import Meter


@dataclass
class World:
    """A meter, one more that is made later, and requests to apps."""

    meter: Meter
    another: Callable[[], Meter]
    good: Callable[[str], None]
    bad: Callable[[str], None]


@pytest.fixture(params=["memory", "caddy", "small"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    if request.param == "memory":
        fake = MemoryMeter()
        yield World(
            meter=fake,
            another=MemoryMeter,
            good=lambda app: fake.handle(app, Handled(status=200, seconds=0.01)),
            bad=lambda app: fake.handle(
                app, Handled(status=502, seconds=0.01, asked="GET /broken")
            ),
        )
        return
    with ExitStack() as stack:
        # Paths of sockets are short.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tw-")))
        behind = stack.enter_context(service(folder, "behind"))
        proxy = made(request.param, folder / "p")
        ports = {"shop": free_port(), "blog": free_port()}
        for app, port in ports.items():
            await proxy.route(one_upstream(app, port, str(behind.path)))
        yield World(
            meter=AccessMeter(folder / "p"),
            another=lambda: AccessMeter(folder / "p"),
            good=lambda app: answered(ports[app], '/"status":500,"x"', 200),
            bad=lambda app: answered(ports[app], "/broken", 502),
        )
        await proxy.stop()


def answered(port: int, path: str, status: int) -> None:
    assert asked(port, path)[0] == status


async def counted(meter: Meter, app: str, requests: int) -> Traffic:
    """The traffic once so many requests were told; a proxy writes after it has answered."""
    failed, count, deadline = 0, 0, time.monotonic() + 30
    while count < requests:
        assert time.monotonic() < deadline, count
        some = await meter.read(app)
        count, failed = count + some.requests, failed + some.failed
        assert some.requests == 0 or (some.median and some.slowest)
        await asyncio.sleep(0.02)
    return Traffic(requests=count, failed=failed)


async def test_requests_are_told_once_and_each_app_has_its_own(world: World) -> None:
    assert await world.meter.read("shop") == Traffic()
    assert await world.meter.read("nobody") == Traffic()
    for _ in range(3):
        world.good("shop")
    world.bad("shop")
    world.good("blog")
    assert await counted(world.meter, "shop", 4) == Traffic(requests=4, failed=1)
    assert await counted(world.meter, "blog", 1) == Traffic(requests=1)
    assert await world.meter.read("shop") == Traffic()
    world.bad("shop")
    assert await counted(world.meter, "shop", 1) == Traffic(requests=1, failed=1)


async def test_requests_from_before_a_meter_are_not_its_own(world: World) -> None:
    world.good("shop")
    await counted(world.meter, "shop", 1)
    later = world.another()
    assert await later.read("shop") == Traffic()


async def test_requests_that_failed_are_told_by_their_paths(world: World) -> None:
    assert await world.meter.failed("nobody") == ()
    world.good("shop")
    for _ in range(2):
        world.bad("shop")
    world.bad("blog")
    await counted(world.meter, "shop", 3)
    await counted(world.meter, "blog", 1)
    assert await world.meter.failed("shop") == ("GET /broken", "GET /broken")
    assert await world.meter.failed("blog") == ("GET /broken",)
