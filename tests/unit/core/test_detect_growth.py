"""What runs out: memory, descriptors, the data volume, and a flooded log."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from bench.detectors_series import HARMLESS, LEAKS, Course, course_readings, first_alarm, leak
from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.detect import alarms
from twinsmith.core.operating.reading import Reading, Traffic, Usage
from twinsmith.core.operating.watch import MB, Watch

WATCH = Watch()
QUICK = {"10 MB/s from the start": 8, "10 MB/s after 400 s": 8}


def reading(at: float, usage: Usage, release: int = 1) -> Reading:
    return Reading(app="shop", release=release, at=1e9 + at, usage=usage)


def holding(memory: Callable[[float], float], count: int, gap: float = 1.0) -> list[Reading]:
    random = Random(1)
    return [
        reading(
            at * gap,
            Usage(
                state="running",
                memory=int((memory(at * gap) + random.gauss(0, 1)) * MB),
                memory_limit=512 * MB,
            ),
        )
        for at in range(count)
    ]


def opened(
    descriptors: Callable[[int], int], count: int, limit: int | None = 1024
) -> list[Reading]:
    usages = (
        Usage(state="running", descriptors=descriptors(at), descriptor_limit=limit)
        for at in range(count)
    )
    return [reading(at, usage) for at, usage in enumerate(usages)]


def found(readings: Sequence[Reading], watch: Watch = WATCH) -> dict[str, Alarm]:
    return {alarm.kind: alarm for alarm in alarms(readings[-600:], watch)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("course", LEAKS, ids=lambda course: course.name)
def test_a_leak_is_found_in_time(course: Course, seed: int) -> None:
    told = first_alarm(course, seed, WATCH, every=1 if course.seconds < 500 else 5)
    assert told.kind == "memory leak"
    assert told.left is not None
    assert told.delay <= QUICK.get(course.name, 1500)
    assert told.left >= (4 * 3600 if "MB/min" in course.name else 15)


@pytest.mark.parametrize("course", HARMLESS, ids=lambda course: course.name)
def test_growth_that_ends_is_no_leak(course: Course) -> None:
    assert first_alarm(course, 7, WATCH, every=1 if course.seconds < 1000 else 4).kind is None


def test_what_an_alarm_for_a_leak_tells() -> None:
    readings = holding(lambda second: 60 + 10 * second, 12)
    alarm = found(readings)["memory leak"]
    assert alarm.evidence.startswith("from 99 to 169 MB, 9.6 MB a second")
    assert "MB a second; the limit of 512 MB is reached in 3" in alarm.evidence
    assert alarm.seconds_left == pytest.approx(34, abs=6)
    assert alarm.severity == "critical"
    assert 0.9 < alarm.confidence < 1
    assert alarm.delay <= 8


def test_a_limit_that_is_far_away_is_a_warning() -> None:
    readings = holding(lambda second: 60 + second / 60, 600, gap=5)
    alarm = found(readings)["memory leak"]
    assert "MB a minute" in alarm.evidence
    assert alarm.evidence.endswith(" h")
    assert alarm.severity == "warning"
    assert found(readings, Watch(growth_severe=1e6))["memory leak"].severity == "critical"
    assert not found(readings, Watch(growth_horizon=3600))


def test_memory_without_a_limit_is_not_judged() -> None:
    readings = holding(leak(10), 20)
    assert not found([replace(r, usage=replace(r.usage, memory_limit=None)) for r in readings])


def test_memory_is_never_compared_across_releases_and_restarts() -> None:
    readings = holding(lambda second: 60 + 10 * second, 12)
    assert "memory leak" in found(readings)
    cut = [replace(each, release=1 if at < 8 else 2) for at, each in enumerate(readings)]
    assert not found(cut)
    cut = [
        replace(each, usage=replace(each.usage, cpu_seconds=float(at % 8)))
        for at, each in enumerate(readings)
    ]
    assert not found(cut)
    cut = [
        replace(each, usage=replace(each.usage, restarts=int(at >= 8)))
        for at, each in enumerate(readings)
    ]
    assert set(found(cut)) == {"crash"}


def test_a_process_that_was_just_started_may_grow() -> None:
    before = [reading(-1, Usage(state="running"), release=0)]
    readings = holding(lambda second: 60 + 10 * second, 40)
    assert not found([*before, *readings[:9]])
    assert "memory leak" in found(readings[:9])
    assert "memory leak" in found([*before, *readings[:22]])
    assert "memory leak" in found([*before, *readings[:9]], Watch(warm_up=0))


def test_memory_that_follows_the_load_is_no_leak() -> None:
    readings = holding(lambda second: 60 + second / 20, 600)
    assert "memory leak" in found(readings)
    busier = [
        replace(each, traffic=Traffic(requests=at // 20 + at % 3, median=0.01))
        for at, each in enumerate(readings)
    ]
    assert not found(busier)


def test_only_what_is_higher_than_ever_grows() -> None:
    readings = holding(lambda second: 250 if second < 100 else 60 + 10 * (second - 100), 112)
    assert not found(readings)


def test_missing_values_are_passed_over() -> None:
    readings = holding(lambda second: 60 + 10 * second, 16)
    holes = [
        replace(each, usage=replace(each.usage, memory=None)) if at % 3 == 1 else each
        for at, each in enumerate(readings)
    ]
    assert "memory leak" in found(holes)


@pytest.mark.parametrize("jump", [-7200.0, 7200.0])
def test_a_leak_is_found_in_spite_of_a_clock_that_jumps(jump: float) -> None:
    readings = holding(lambda second: 60 + 10 * max(0, second - 60), 80)
    jumped = [*readings[:50], *(replace(each, at=each.at + jump) for each in readings[50:])]
    assert not found(jumped[:60])
    assert "memory leak" in found(jumped[:70])


def test_steps_between_far_apart_readings_are_no_leak() -> None:
    readings = holding(lambda second: 60 + second / 240, 20, gap=3600)
    later = [replace(each, at=each.at + 20 * 3600) for each in holding(lambda _: 380, 60)]
    assert not found([*readings, *later])


def test_a_leak_of_descriptors() -> None:
    alarm = found(opened(lambda at: 20 + at, 500))["descriptor leak"]
    assert alarm.evidence.endswith("; the limit of 1024 is reached in 8 min")
    assert " 1 a second" in alarm.evidence
    assert alarm.severity == "critical"


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param(opened(lambda at: 20 + at, 300), id="not seen for long"),
        pytest.param(opened(lambda at: 20 + min(at, 200), 500), id="it ends"),
        pytest.param(opened(lambda at: 20 + 15 * at, 12), id="a burst of connections"),
        pytest.param(opened(lambda at: 20 + at % 90, 600), id="connections come and go"),
        pytest.param(opened(lambda at: 20 + at, 500, limit=None), id="no limit"),
    ],
)
def test_descriptors_that_do_not_leak(readings: Sequence[Reading]) -> None:
    assert not found(readings)


def stored(disk: Callable[[int], float], count: int) -> list[Reading]:
    return [
        reading(at, Usage(state="running", disk=int(disk(at))), release=1 + at // 300)
        for at in range(count)
    ]


def test_a_volume_that_fills_up_also_across_releases() -> None:
    readings = stored(lambda at: 100 * MB + at * MB, 600)
    alarm = found(readings)["disk growth"]
    assert alarm.seconds_left == pytest.approx((10 * 1024 - 699), rel=0.05)
    assert alarm.severity == "warning"
    assert found(readings, Watch(disk_limit=800 * MB))["disk growth"].severity == "critical"


def test_a_volume_that_grows_as_data_does() -> None:
    assert not found(stored(lambda at: 100 * MB + 1000 * at, 600))
    assert not found(stored(lambda at: 100 * MB * (1 + at // 300), 600))


def writing(written: Callable[[int], float], count: int) -> list[Reading]:
    return [reading(at, Usage(state="running", log_bytes=int(written(at)))) for at in range(count)]


def test_a_flooded_log() -> None:
    readings = writing(lambda at: 1000 * at + 5 * MB * max(0, at - 60), 72)
    alarm = found(readings)["log flood"]
    assert alarm.evidence == "5.0 MB of log a second, 0.001 MB is usual"
    assert alarm.severity == "warning"
    assert "log flood" in found(readings[:67])
    assert not found(readings[:64])


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param(writing(lambda at: 0.5 * MB * at, 60), id="less than a megabyte"),
        pytest.param(writing(lambda at: 3 * MB * at, 60), id="usual"),
        pytest.param(writing(lambda at: 50 * MB * (at > 55), 60), id="one long trace"),
        pytest.param(writing(lambda at: 9 * MB * at, 4), id="too short"),
    ],
)
def test_logs_that_are_no_flood(readings: Sequence[Reading]) -> None:
    assert not found(readings)


def test_a_flood_is_seen_in_several_readings_of_one_process() -> None:
    usages = [Usage(state="running", log_bytes=at * 50 * MB) for at in range(2)]
    assert not found([reading(6 * at, usage) for at, usage in enumerate(usages)])
    readings = writing(lambda at: 1000 * at + 5 * MB * max(0, at - 60), 70)
    again = [Usage(state="running", log_bytes=0, restarts=1) for _ in range(3)]
    readings += [reading(70 + at, usage) for at, usage in enumerate(again)]
    assert set(found(readings)) == {"crash"}


def test_nothing_is_compared_across_a_pause_of_unknown_length() -> None:
    readings = holding(lambda second: 60 + 2.5 * second, 100)
    assert "memory leak" in found(readings)
    slept = [replace(each, at=each.at + 3600 * (at // 2)) for at, each in enumerate(readings)]
    assert not found(slept)


def test_noise_is_no_growth() -> None:
    for seed in range(5):
        course = Course(name="noise", memory=lambda _: 300, seconds=600, noise=8)
        readings = course_readings(course, seed)
        assert not found(readings)
