"""An app that runs and does not answer: failing and slow probes, a hang."""

from collections.abc import Sequence

import pytest

from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.detect import alarms
from twinsmith.core.operating.reading import Reading, Usage
from twinsmith.core.operating.watch import Watch

WATCH = Watch()


def reading(
    at: float,
    status: int | None = 200,
    seconds: float | None = 0.01,
    cpu: float | None = None,
    restarts: int = 0,
) -> Reading:
    usage = Usage(state="running", restarts=restarts, cpu_seconds=cpu)
    return Reading(
        app="shop", release=1, at=1e9 + at, usage=usage, status=status, probe_seconds=seconds
    )


def row(*statuses: int | None) -> list[Reading]:
    return [reading(at, status) for at, status in enumerate(statuses)]


def found(readings: Sequence[Reading], watch: Watch = WATCH) -> dict[str, Alarm]:
    return {alarm.kind: alarm for alarm in alarms(readings, watch)}


@pytest.mark.parametrize(
    ("statuses", "evidence"),
    [
        ((200, 500, 502, 500), "3 probes in a row failed: 3 with 500, 502"),
        ((200, 0, 0, 0), "3 probes in a row failed: 3 without an answer"),
        (
            (200, 0, None, 503, None, 0),
            "3 probes in a row failed: 2 without an answer and 1 with 503",
        ),
    ],
)
def test_three_failing_probes_in_a_row(statuses: Sequence[int | None], evidence: str) -> None:
    alarm = found(row(*statuses))["probe failing"]
    assert alarm.evidence == evidence
    assert alarm.delay == len(statuses) - 2
    assert alarm.severity == "critical"


@pytest.mark.parametrize(
    "statuses",
    [(200, 0, 0), (0, 0, 200), (0, 0, 200, 0, 0), (404, 404, 404, 404), (None, None, None, None)],
)
def test_probes_that_are_no_alarm(statuses: Sequence[int | None]) -> None:
    assert not found(row(*statuses))


def test_a_process_that_was_just_started_may_fail() -> None:
    readings = [reading(0), *(reading(at, 0, restarts=1) for at in range(1, 12))]
    assert "probe failing" not in found(readings[:6])
    assert "probe failing" in found(readings[:7])


def test_probes_before_a_restart_do_not_count() -> None:
    readings = [reading(at, 0) for at in range(3)]
    readings += [reading(3 + at, None, restarts=1) for at in range(9)]
    assert "probe failing" not in found([*readings, reading(12, 0, restarts=1)])


def test_slow_probes_are_slow_beside_what_is_usual() -> None:
    readings = [reading(at) for at in range(60)]
    readings += [reading(60 + at, seconds=2.0) for at in range(5)]
    alarm = found(readings)["probe slow"]
    assert alarm.evidence == "a probe takes 2.00 s, 0.010 s is usual"
    assert (alarm.severity, alarm.delay) == ("warning", 4)
    assert not found(readings[:62])
    assert "probe slow" in found(readings[:63])


def test_probes_that_always_take_long_are_usual() -> None:
    assert not found([reading(at, seconds=1.5) for at in range(60)])
    alarm = found([reading(at, seconds=1.5) for at in range(5)])["probe slow"]
    assert alarm.evidence == "a probe takes 1.50 s"


def test_fast_probes_are_never_slow() -> None:
    readings = [reading(at, seconds=0.01 if at < 50 else 0.9) for at in range(60)]
    assert not found(readings)


def test_failing_probes_are_not_called_slow() -> None:
    readings = [reading(at, 200 if at < 50 else 500, 0.01 if at < 50 else 9) for at in range(60)]
    assert set(found(readings)) == {"probe failing"}


def test_slow_probes_of_a_process_that_is_gone() -> None:
    readings = [reading(at, seconds=0.01 if at < 50 else 9) for at in range(60)]
    readings.append(reading(60, seconds=9, restarts=1))
    assert "probe slow" not in found(readings)


@pytest.mark.parametrize(("share", "does"), [(0.0, "sleeps"), (1.0, "spins"), (2.0, "spins")])
def test_a_process_that_runs_and_does_not_answer_hangs(share: float, does: str) -> None:
    readings = [reading(at, cpu=at * 0.3) for at in range(20)]
    readings += [reading(20 + at, 0, None, 6 + at * share) for at in range(6)]
    alarm = found(readings)["hang"]
    assert f"no answer to 6 probes in 5 s while it {does}: {share:.0%}" in alarm.evidence
    assert alarm.delay == 5
    assert set(found(readings)) == {"hang"}
    assert set(found(readings[:-1])) == {"probe failing"}


@pytest.mark.parametrize(
    ("status", "cpu"), [(0, 0.3), (0, None), (503, 0.0)], ids=["works", "unknown", "answers"]
)
def test_what_is_no_hang(status: int, cpu: float | None) -> None:
    readings = [reading(at, status, cpu=None if cpu is None else at * cpu) for at in range(40)]
    assert set(found(readings)) == {"probe failing"}


def test_two_probes_far_apart_are_no_hang() -> None:
    assert not found([reading(0, 0, cpu=0.0), reading(60, 0, cpu=0.0)])


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_jump_of_the_clock_makes_nobody_hang(jump: float) -> None:
    readings = [reading(0, cpu=0.0), reading(1, cpu=0.0), reading(2, 0, cpu=0.0)]
    readings += [reading(jump + 3 + at, 0, cpu=0.0) for at in range(3)]
    assert set(found(readings)) == {"probe failing"}
