"""One suite for what remembers readings: memory, SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.watching.memory import MemoryReadings
from twinsmith.adapters.watching.tables import ReadingTable
from twinsmith.core.operating.reading import Reading, Said, Traffic, Usage
from twinsmith.core.operating.thinning import DAY, HOUR, MINUTE
from twinsmith.ports import Readings

T = 1_795_000_000.0 // HOUR * HOUR
FULL = Reading(
    app="shop",
    release=3,
    at=T + 0.25,
    usage=Usage(
        state="running",
        restarts=2,
        reason="out of memory",
        cpu_seconds=1.5,
        memory=1 << 30,
        memory_limit=1 << 31,
        descriptors=7,
        descriptor_limit=1024,
        processes=3,
        log_bytes=0,
        disk=5_000_000_000,
    ),
    status=0,
    probe_seconds=2.0,
    traffic=Traffic(requests=3, failed=1, median=0.1, slowest=0.2),
    said=Said(errors=1, fresh=("ValueError: '…' \N{SNOWMAN}",)),
)
BARE = Reading(app="shop", release=3, at=T + 1, usage=Usage(state="running"))


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Readings]:
    """Opens the same memory, each time as another process would."""
    if request.param == "memory":
        only = MemoryReadings()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: ReadingTable(url)


def test_readings_come_back_as_they_were_in_their_order(opened: Callable[[], Readings]) -> None:
    opened().add([])
    opened().add([BARE, FULL, replace(FULL, app="blog")])
    assert opened().listed("shop", T, T + 10) == (FULL, BARE)
    assert opened().listed("shop", T + 0.25, T + 0.25) == (FULL,)
    assert opened().listed("shop", T + 2, T + 10) == ()
    assert opened().listed("nobody", T, T + 10) == ()


def test_what_is_old_is_thinned_and_what_is_too_old_forgotten(
    opened: Callable[[], Readings],
) -> None:
    second = [replace(BARE, at=T + n, traffic=Traffic(requests=1)) for n in range(120)]
    opened().add(second)
    opened().thin(T + 120)
    assert len(opened().listed("shop", 0, T + HOUR)) == 120
    opened().thin(T + 16 * MINUTE + 1)
    kept = opened().listed("shop", 0, T + HOUR)
    assert [each.traffic.requests for each in kept] == [60, *[1] * 60]
    opened().thin(T + 30 * MINUTE)
    opened().thin(T + 30 * MINUTE)
    kept = opened().listed("shop", 0, T + HOUR)
    assert [(each.at, each.traffic.requests) for each in kept] == [(T + 59, 60), (T + 119, 60)]
    opened().thin(T + 2 * DAY + HOUR)
    kept = opened().listed("shop", 0, T + HOUR)
    assert [(each.at, each.traffic.requests) for each in kept] == [(T + 119, 120)]
    opened().thin(T + 30 * DAY)
    assert len(opened().listed("shop", 0, T + HOUR)) == 1
    opened().thin(T + 31 * DAY)
    assert opened().listed("shop", 0, T + HOUR) == ()


def test_two_that_thin_at_once_count_nothing_twice(opened: Callable[[], Readings]) -> None:
    opened().add([replace(BARE, at=T + n, traffic=Traffic(requests=1)) for n in range(50)])
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda readings: readings.thin(T + DAY), [opened(), opened()]))
    kept = opened().listed("shop", 0, T + DAY)
    assert [each.traffic.requests for each in kept] == [50]
