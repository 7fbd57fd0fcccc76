"""An app that ended: crashes, loops of them, an app that stays away."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.detect import alarms
from twinsmith.core.operating.instance import InstanceState
from twinsmith.core.operating.reading import Reading, Said, Usage
from twinsmith.core.operating.watch import Watch

WATCH = Watch()


def reading(
    at: float,
    state: InstanceState = "running",
    restarts: int = 0,
    reason: str = "",
    release: int = 1,
) -> Reading:
    usage = Usage(state=state, restarts=restarts, reason=reason)
    return Reading(app="shop", release=release, at=1e9 + at, usage=usage)


def found(readings: Sequence[Reading], watch: Watch = WATCH) -> dict[str, Alarm]:
    return {alarm.kind: alarm for alarm in alarms(readings, watch)}


def test_nothing_is_wrong_where_nothing_was_read() -> None:
    assert alarms((), WATCH) == ()
    assert alarms([reading(0)], WATCH) == ()


@pytest.mark.parametrize(
    ("last", "wanted"),
    [
        (reading(1, "exited", reason="exit code 1"), "exit code 1"),
        (reading(1, "restarting", reason="signal 9"), "signal 9"),
        (reading(1, "absent"), "no reason known"),
        (reading(1, restarts=1, reason="out of memory"), "out of memory"),
    ],
)
def test_a_crash_is_told_by_the_first_reading_that_shows_it(last: Reading, wanted: str) -> None:
    alarm = found([reading(0), last])["crash"]
    assert wanted in alarm.evidence
    assert (alarm.delay, alarm.severity, alarm.at) == (0, "critical", last.at)
    assert alarm.confidence > 0.9


def test_a_crash_is_told_of_for_a_while() -> None:
    readings = [reading(0), *(reading(at, restarts=1) for at in range(1, 100))]
    assert found(readings[:20])["crash"].delay == 18
    assert not found(readings)
    assert found(readings, Watch(crash_remembered=200))["crash"].delay == 98


def test_an_app_that_stays_away_crashed_once() -> None:
    readings = [reading(0), reading(1, "exited"), reading(2, "exited"), reading(3, "exited")]
    assert found(readings)["crash"].delay == 2


def test_an_app_that_is_seen_for_the_first_time_may_have_crashed() -> None:
    assert set(found([reading(0, "exited")])) == {"crash"}
    assert not found([reading(0, "absent")])
    assert not found([reading(0, restarts=4)])


def test_restarts_of_another_release_are_no_crash() -> None:
    before = [reading(0, restarts=2), reading(1, restarts=2)]
    assert not found([*before, reading(2, release=2)])
    assert not found([reading(0), reading(1, release=2), reading(2, release=2)])
    assert "crash" in found([*before, reading(2, restarts=1, release=2)])
    assert "crash" in found([*before, reading(2, "restarting", release=2)])


def test_a_release_before_that_crashed_is_not_this_one() -> None:
    readings = [reading(0), reading(1, "exited"), reading(2, release=2)]
    assert not found(readings)


def test_a_counter_that_begins_anew_is_no_crash() -> None:
    assert not found([reading(0, restarts=5), reading(1, restarts=0)])


def test_several_restarts_are_a_loop_and_no_crash_besides() -> None:
    readings = [reading(at, restarts=at // 4, reason="exit code 2") for at in range(13)]
    alarm = found(readings)["crash loop"]
    assert alarm.evidence == "3 restarts within 8 s, the last one: exit code 2"
    assert (alarm.delay, alarm.severity) == (8, "critical")
    assert set(found(readings)) == {"crash loop"}
    assert set(found(readings[:12])) == {"crash"}


def test_restarts_far_apart_are_no_loop() -> None:
    readings = [reading(at * 10, restarts=at // 10) for at in range(60)]
    assert "crash loop" not in found(readings)
    assert "crash loop" in found(readings, Watch(loop_seconds=600))


def test_restarts_of_two_releases_are_not_added_up() -> None:
    readings = [reading(at, restarts=at, release=1) for at in range(3)]
    readings += [reading(3 + at, restarts=at, release=2) for at in range(3)]
    assert set(found(readings)) == {"crash"}


@pytest.mark.parametrize(("state", "seconds"), [("absent", 1), ("exited", 5), ("restarting", 60)])
def test_an_app_that_does_not_come_back_is_down(state: InstanceState, seconds: int) -> None:
    readings = [reading(0)] + [reading(1 + at, state, reason="exit code 3") for at in range(90)]
    assert "down" not in found(readings[: seconds + 1])
    alarm = found(readings[: seconds + 2])["down"]
    assert alarm.delay == seconds
    assert alarm.evidence == f"it is {state} for {seconds} s: exit code 3"
    assert set(found(readings[: seconds + 2])) == {"down"}


def test_a_release_is_not_down_because_the_one_before_was() -> None:
    readings = [reading(at, "absent") for at in range(20)]
    assert "down" in found(readings)
    assert not found([*readings, reading(20, "absent", release=2)])


def test_an_app_that_came_back_is_not_down() -> None:
    readings = [reading(at, "exited") for at in range(20)] + [reading(20, restarts=1)]
    assert set(found(readings)) == {"crash"}


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_jump_of_the_clock_makes_nobody_be_down(jump: float) -> None:
    readings = [reading(0), reading(1, "exited"), reading(2 + jump, "exited")]
    assert set(found(readings)) == {"crash"}


def test_an_app_is_down_though_the_clock_went_back() -> None:
    readings = [reading(0), reading(1, "exited")]
    readings += [reading(at - 1000, "exited") for at in range(6)]
    assert found(readings)["down"].delay == 6


def test_errors_never_seen_before_are_a_warning_for_a_while() -> None:
    readings = [reading(at) for at in range(60)]
    readings[20] = replace(readings[20], said=Said(errors=2, fresh=("no such  table\nshop", "x")))
    alarm = found(readings[:31])["new errors"]
    assert alarm.evidence == "never seen before: no such table shop and 1 more"
    assert (alarm.severity, alarm.delay) == ("warning", 10)
    assert not found(readings)
    assert not found([*readings[:31], reading(31, release=2)])
