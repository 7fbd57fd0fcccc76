"""What stays of many readings; and of many requests."""

from dataclasses import replace

from twinsmith.core.operating.reading import Reading, Said, Traffic, Usage
from twinsmith.core.operating.thinning import Keeping, merged, thinned, thinnings
from twinsmith.core.operating.traffic import Handled, traffic_of

FINE = Reading(app="shop", release=1, at=60.0, usage=Usage(state="running"), status=200)


def test_the_worst_the_most_and_the_sum_stay() -> None:
    first = replace(
        FINE,
        usage=Usage(state="running", cpu_seconds=1.0, memory=9, descriptors=2, log_bytes=10),
        probe_seconds=0.1,
        traffic=Traffic(requests=3, failed=1, median=0.1, slowest=0.9),
        said=Said(errors=1, fresh=("a",)),
    )
    second = replace(
        FINE,
        at=61.0,
        usage=Usage(state="exited", reason="signal 6", restarts=1),
        status=0,
        probe_seconds=2.0,
        traffic=Traffic(),
    )
    third = replace(
        FINE,
        at=62.0,
        usage=Usage(
            state="running", restarts=2, reason="exit code 1", cpu_seconds=0.5, memory=4, disk=7
        ),
        status=None,
        traffic=Traffic(requests=1, median=0.5, slowest=0.5),
        said=Said(errors=2, fresh=("b", "a")),
    )
    assert merged([first, second, third]) == Reading(
        app="shop",
        release=1,
        at=62.0,
        usage=Usage(
            state="exited",
            reason="signal 6",
            restarts=2,
            cpu_seconds=0.5,
            memory=9,
            descriptors=2,
            disk=7,
        ),
        status=0,
        probe_seconds=2.0,
        traffic=Traffic(requests=4, failed=1, median=0.2, slowest=0.9),
        said=Said(errors=3, fresh=("a", "b")),
    )
    assert merged([FINE]) == FINE
    answers = [replace(FINE, status=status) for status in (200, 503, 404)]
    assert merged(answers).status == 503


def test_each_release_and_each_minute_has_one() -> None:
    some = [replace(FINE, at=at, release=n) for at in (119.9, 60.0, 120.0) for n in (1, 2)]
    found = [(each.release, each.at) for each in thinned(some, 60)]
    assert found == [(1, 119.9), (1, 120.0), (2, 119.9), (2, 120.0)]


def test_only_whole_minutes_and_hours_are_thinned() -> None:
    minutes, hours = thinnings(Keeping(), 1_000_000.0)
    assert (minutes.before, minutes.after, minutes.until) == (0, 60, 999_060.0)
    assert (hours.before, hours.after, hours.until) == (60, 3600, 824_400.0)


def test_requests_make_traffic() -> None:
    assert traffic_of([]) == Traffic()
    some = [Handled(status=200, seconds=n / 100) for n in range(100, 0, -1)]
    assert traffic_of(some) == Traffic(requests=100, median=0.5, slowest=0.95)
    statuses = [Handled(status=status, seconds=1.0) for status in (0, 200, 404, 499, 500, 502)]
    assert traffic_of(statuses) == Traffic(requests=6, failed=3, median=1.0, slowest=1.0)
