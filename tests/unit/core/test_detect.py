"""All detectors together: a healthy app is left alone, and nothing that is read makes one raise."""

from dataclasses import fields, replace
from random import Random

import pytest

from bench.detectors_series import LONGEST, healthy, saying
from twinsmith.core.operating.alarm import ALARMS
from twinsmith.core.operating.detect import DETECTORS, alarms
from twinsmith.core.operating.instance import InstanceState
from twinsmith.core.operating.reading import Reading, Traffic, Usage
from twinsmith.core.operating.watch import Watch

WATCH = Watch()
STATES: tuple[InstanceState, ...] = ("absent", "running", "restarting", "exited")


def test_every_kind_of_alarm_by_readings_has_a_detector() -> None:
    by_dates = {"certificate", "end of life", "advisory"}
    assert {each.__name__.replace("_", " ") for each in DETECTORS} == {*ALARMS} - by_dates


@pytest.mark.parametrize("seed", range(4))
def test_an_hour_of_noisy_load_is_no_alarm(seed: int) -> None:
    readings = healthy(seed, 3600)
    for end in range(1, len(readings), 7):
        assert not alarms(readings[max(0, end - LONGEST) : end], WATCH), end


def test_half_a_day_of_noisy_load_read_every_five_seconds() -> None:
    readings = healthy(11, 12 * 3600, gap=5)
    for end in range(1, len(readings), 23):
        assert not alarms(readings[max(0, end - LONGEST) : end], WATCH), end


@pytest.mark.parametrize("seed", range(8))
def test_a_clock_that_jumps_is_no_alarm(seed: int) -> None:
    random, readings = Random(seed), healthy(seed, 300)
    for _ in range(5):
        at, jump = random.randrange(300), random.choice((-1e6, -3600, -1, -0.9, 3600, 1e7))
        readings[at:] = [replace(each, at=each.at + jump) for each in readings[at:]]
    for end in range(1, 300, 3):
        assert not alarms(readings[:end], WATCH)


def test_a_clock_that_stands_still_is_no_alarm() -> None:
    readings = [replace(each, at=5.0) for each in healthy(3, 300)]
    assert not alarms(readings, WATCH)


@pytest.mark.parametrize("seed", range(150))
def test_nothing_that_is_read_makes_a_detector_raise(seed: int) -> None:
    random = Random(seed)
    wild = [_wild(random, number) for number in range(random.randrange(1, 120))]
    for alarm in alarms(wild, WATCH):
        assert alarm.kind in ALARMS
        assert alarm.at == wild[-1].at
        assert alarm.delay >= 0
        assert 0 <= alarm.confidence <= 1
        assert "\n" not in alarm.evidence
        assert alarm.seconds_left is None or alarm.seconds_left >= 0


def test_alarms_stand_beside_one_another() -> None:
    readings = healthy(1, 60)
    readings[-3:] = [saying(replace(each, status=0), "no space left") for each in readings[-3:]]
    kinds = [alarm.kind for alarm in alarms(readings, WATCH)]
    assert kinds == ["probe failing", "new errors"]


def test_every_threshold_is_positive() -> None:
    for field in fields(Watch):
        value = getattr(WATCH, field.name)
        assert min(value) > 0 if isinstance(value, tuple) else value > 0


def _wild(random: Random, number: int) -> Reading:
    def some(most: int) -> int | None:
        return random.choice((None, 0, random.randrange(most), most))

    requests = random.choice((0, 0, 1, random.randrange(500)))
    median = random.choice((None, 0.0, random.random(), 1e3)) if requests else None
    cpu = random.choice((None, 0.0, number * random.random()))
    usage = Usage(
        state=random.choice((*STATES, "running", "running", "running")),
        restarts=random.randrange(3),
        reason=random.choice(("", "signal 9")),
        cpu_seconds=cpu,
        memory=some(10**9),
        memory_limit=some(10**9),
        descriptors=some(2000),
        descriptor_limit=some(2000),
        log_bytes=some(10**10),
        disk=some(10**12),
    )
    return Reading(
        app="shop",
        release=random.choice((1, 1, 1, 2)),
        at=number + random.choice((0.0, random.gauss(0, 3), -1e9, 1e9)),
        usage=usage,
        status=random.choice((None, 0, 200, 404, 500)),
        probe_seconds=random.choice((None, 0.0, random.random(), 60.0)),
        traffic=Traffic(
            requests=requests,
            failed=random.randint(0, requests),
            median=median,
            slowest=median,
        ),
    )
