"""Shifts against what was usual: more failed requests, slower answers."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from bench.detectors_series import failing, healthy, slowed
from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.detect import alarms
from twinsmith.core.operating.detect_shift import chance_of
from twinsmith.core.operating.instance import InstanceState
from twinsmith.core.operating.reading import Reading, Traffic, Usage
from twinsmith.core.operating.watch import Watch

WATCH = Watch()


def reading(
    at: float, requests: int = 0, failed: int = 0, median: float | None = None, release: int = 1
) -> Reading:
    traffic = Traffic(requests=requests, failed=failed, median=median, slowest=median)
    usage = Usage(state="running")
    return Reading(app="shop", release=release, at=1e9 + at, usage=usage, traffic=traffic)


def calm(count: int, requests: int = 10, failed: int = 0, median: float = 0.04) -> list[Reading]:
    return [reading(at - count, requests, failed, median) for at in range(count)]


def found(readings: Sequence[Reading], watch: Watch = WATCH) -> dict[str, Alarm]:
    return {alarm.kind: alarm for alarm in alarms(readings, watch)}


@pytest.mark.parametrize(
    ("asked", "failed", "severity"),
    [
        (3, 1, None),
        (3, 3, None),
        (5, 4, "critical"),
        (10, 2, None),
        (20, 4, "critical"),
        (40, 4, "warning"),
        (200, 9, None),
        (200, 30, "warning"),
        (200, 60, "critical"),
        (10_000, 300, None),
        (10_000, 600, "warning"),
    ],
)
def test_failed_requests_of_an_app_that_failed_none_before(
    asked: int, failed: int, severity: str | None
) -> None:
    quiet = [reading(at) for at in range(120)]
    told = found([*calm(60), *quiet, reading(120, asked, failed)]).get("errors")
    assert (told and told.severity) == severity


def test_what_an_alarm_for_failed_requests_tells() -> None:
    alarm = found([*calm(60), reading(0, 200, 60)])["errors"]
    assert alarm.evidence == "24% of 250 requests fail, 0.0% of 130 before"
    assert alarm.delay == 0
    assert alarm.confidence == 0.99


@pytest.mark.parametrize(("failed", "told"), [(0, True), (10, True), (20, False), (25, False)])
def test_a_share_that_is_usual_is_no_alarm(failed: int, *, told: bool) -> None:
    readings = [*calm(300, requests=100, failed=failed)]
    readings += [reading(at, 100, 30) for at in range(10)]
    assert ("errors" in found(readings)) is told


def test_a_few_more_of_a_few_may_be_chance() -> None:
    quiet = [reading(at) for at in range(200)]
    readings = [reading(-1, 60, 2), *quiet, reading(200, 60, 4)]
    assert not found(readings)
    assert "errors" in found(readings, Watch(chance=0.5))


def test_a_fresh_app_is_judged_by_what_apps_usually_fail() -> None:
    assert "errors" in found([reading(0, 200, 60)])
    assert "nothing known before" in found([reading(0, 200, 60)])["errors"].evidence
    assert not found([reading(0, 200, 9)])
    assert not found([reading(0, 3, 1)])
    assert not found([reading(0, 14, 3)])


def test_few_requests_add_up_over_a_longer_span() -> None:
    readings = calm(200, requests=1)
    readings += [reading(at, 1 if at % 5 == 0 else 0, int(at % 5 == 0)) for at in range(30)]
    assert not found(readings[:205])
    assert "errors" in found(readings)
    assert not found(readings, Watch(error_spans=(5.0,)))


def test_a_fresh_release_is_compared_with_the_one_before() -> None:
    before = [reading(at, 20, 4) for at in range(100)]
    assert not found([*before, *(reading(100 + at, 20, 5, release=2) for at in range(5))])
    before = [reading(at, 20, 0) for at in range(100)]
    after = [reading(100 + at, 20, 5, release=2) for at in range(200)]
    assert "errors" in found([*before, *after[:3]])
    assert "errors" in found([*before, *after])


def test_failures_of_the_release_before_are_not_of_this_one() -> None:
    before = [*calm(100), *(reading(at, 20, 20) for at in range(20))]
    assert "errors" in found(before)
    assert not found([*before, reading(20, 20, 0, release=2)])


def test_trouble_that_lasts_does_not_become_usual() -> None:
    readings = [*calm(150), *(reading(at, 10, 3) for at in range(450))]
    assert "errors" in found(readings)


def test_an_app_that_fails_most_requests_from_the_start_is_never_usual() -> None:
    readings = [reading(at, 10, 5) for at in range(400)]
    assert "errors" in found(readings)
    assert not found(readings, Watch(errors_tolerated=0.9))


@pytest.mark.parametrize(
    ("states", "restarts", "told"),
    [
        (("running", "running"), (0, 0), True),
        (("running", "absent"), (0, 0), False),
        (("absent", "absent"), (0, 0), False),
        (("restarting", "running"), (0, 0), False),
        (("running", "running"), (0, 1), False),
    ],
)
def test_what_fails_while_nothing_runs_is_told_by_its_end_and_not_as_errors(
    states: tuple[InstanceState, InstanceState], restarts: tuple[int, int], *, told: bool
) -> None:
    ends = [
        replace(reading(at, 20, 20 * at), usage=Usage(state=state, restarts=count))
        for at, state, count in zip((0, 1), states, restarts, strict=True)
    ]
    assert ("errors" in found([*calm(60), *ends])) is told


def test_failures_that_are_over_are_no_alarm() -> None:
    readings = [*calm(60), *(reading(at, 10, 10) for at in range(5))]
    assert "errors" in found(readings)
    readings += [reading(5 + at, 10, 0) for at in range(121)]
    assert not found(readings)


@pytest.mark.parametrize(
    ("failed", "asked", "alpha", "beta", "wanted"),
    [
        (0, 5, 1.0, 1.0, 1.0),
        (5, 5, 1.0, 1.0, 1 / 6),
        (1, 1, 0.5, 49.5, 0.01),
        (2, 2, 0.5, 49.5, 0.01 * 1.5 / 51),
    ],
)
def test_the_tail_of_failures(
    failed: int, asked: int, alpha: float, beta: float, wanted: float
) -> None:
    assert chance_of(failed, asked, alpha, beta) == pytest.approx(wanted)


def test_the_tail_of_failures_is_what_chance_brings_about() -> None:
    random, turns = Random(5), 20_000
    hits = 0
    for _ in range(turns):
        share = random.betavariate(3, 30)
        hits += sum(random.random() < share for _ in range(12)) >= 3
    assert chance_of(3, 12, 3, 30) == pytest.approx(hits / turns, abs=0.01)


def slow_after(count: int, slow: float, many: int, usual: float = 0.04) -> list[Reading]:
    readings = calm(count, median=usual)
    return readings + [reading(at, 10, 0, slow) for at in range(many)]


def test_answers_that_take_longer() -> None:
    readings = slow_after(60, 0.15, 8)
    alarm = found(readings)["latency"]
    assert alarm.evidence == (
        "the median of answers is 0.150 s in 8 readings, 0.040 s is usual and 0 of 60 before were "
        "as slow"
    )
    assert (alarm.severity, alarm.delay) == ("warning", 7)
    assert not found(readings[:-1])
    assert found(slow_after(60, 0.25, 8))["latency"].severity == "critical"


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param(slow_after(60, 0.07, 20), id="less than twice as long"),
        pytest.param(slow_after(60, 0.35, 20, usual=0.2), id="much more, less than twice as long"),
        pytest.param(slow_after(19, 0.9, 20), id="known for one reading too few"),
        pytest.param(slow_after(60, 0.05, 20, usual=0.005), id="less than 50 ms more"),
        pytest.param(slow_after(10, 0.9, 10), id="too little known before"),
        pytest.param(slow_after(60, 0.9, 4), id="too few readings"),
    ],
)
def test_answers_that_do_not_take_alarmingly_longer(readings: Sequence[Reading]) -> None:
    assert not found(readings)


def test_slow_answers_have_to_last() -> None:
    readings = slow_after(60, 0.5, 8)
    hurried = [
        *readings[:60],
        *(replace(r, at=readings[59].at + 0.1 * n) for n, r in enumerate(readings[60:], 1)),
    ]
    assert not found(hurried)


def test_one_that_is_slow_now_and_then_is_usual() -> None:
    wave = [reading(at, 10, 0, 0.04 if at % 100 < 70 else 0.2) for at in range(500)]
    assert not found(wave[:500])
    assert not found(wave[:390])
    assert "latency" in found(wave[:85])


def test_slow_answers_that_last_do_not_become_usual() -> None:
    assert "latency" in found(slow_after(150, 0.2, 440))


def test_slow_answers_are_over_when_some_are_fast_again() -> None:
    readings = slow_after(100, 0.2, 30) + [reading(30 + at, 10, 0, 0.04) for at in range(6)]
    assert not found(readings)


def mixed(pattern: str, readings: Sequence[Reading]) -> list[Reading]:
    first = len(readings)
    times = [0.2 if each == "s" else 0.06 for each in pattern]
    return [*readings, *(reading(first + at, 10, 0, seconds) for at, seconds in enumerate(times))]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("s" * 30, True),
        ("sssc" * 8, True),
        ("ssscsscscs" * 4, False),
        ("s" * 30 + "ccsccscc", False),
    ],
)
def test_most_readings_are_slow_and_the_last_ones_too(pattern: str, *, told: bool) -> None:
    assert ("latency" in found(mixed(pattern, mixed("c" * 60, ())))) is told


def test_a_few_slow_readings_among_few_may_be_chance() -> None:
    readings = mixed("ssscssscss", mixed("c" * 12 + "s" + "c" * 7, ()))
    assert not found(readings)
    assert "latency" in found(readings, Watch(chance=0.5))


def test_a_slow_release_is_compared_with_the_one_before() -> None:
    readings = [reading(at, 10, 0, 0.04) for at in range(100)]
    readings += [reading(100 + at, 10, 0, 0.2, release=2) for at in range(8)]
    assert "latency" in found(readings)


def test_a_slow_release_before_is_not_this_one() -> None:
    readings = [*slow_after(100, 0.2, 30), reading(30, 10, 0, 0.2, release=2)]
    assert "latency" not in found(readings)


def test_only_the_slowest_answers_take_longer() -> None:
    def seen(at: int, requests: int) -> Reading:
        traffic = Traffic(requests=requests, median=0.04, slowest=0.1 if at < 60 else 2.0)
        return replace(reading(at), traffic=traffic)

    alarm = found([seen(at, 10) for at in range(70)])["latency"]
    assert "the 95th percentile of answers is 2.000 s" in alarm.evidence
    assert not found([seen(at, 9) for at in range(70)])


@pytest.mark.parametrize("seed", range(4))
def test_trouble_under_a_noisy_load_is_found_soon(seed: int) -> None:
    readings = healthy(seed, 330)
    assert not found(readings[:300])
    assert "errors" in found(readings[:300] + failing(readings[300:310], 0.3, seed))
    assert "latency" in found(readings[:300] + slowed(readings[300:315], 5))
