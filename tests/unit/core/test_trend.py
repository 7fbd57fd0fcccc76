"""A trend in a series that has a limit: each reason for which a growth is not believed."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from twinsmith.core.operating.trend import Believed, rising, trend

BELIEVED = Believed(
    readings=6,
    rise=5,
    steady=0.8,
    reach=10,
    soon=10,
    reach_soon=10,
    seen=20,
    horizon=1e6,
    severe=10,
)
LINE = [float(at) for at in range(20)]


def left(
    values: Sequence[float], believed: Believed = BELIEVED, limit: float = 150
) -> float | None:
    found = trend(range(len(values)), values, limit, believed)
    return found.left if found else None


def test_a_line_reaches_its_limit() -> None:
    found = trend(range(20), LINE, 100, BELIEVED)
    assert found is not None
    assert (found.rate, found.left, found.tau) == (1.0, 81.0, 1.0)
    assert found.first == 10
    assert left(LINE, limit=10) == 0.0


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(LINE[:5], id="too short"),
        pytest.param([1.0] * 20, id="flat"),
        pytest.param(LINE[::-1], id="falling"),
        pytest.param([0.2 * at for at in range(20)], id="too little"),
        pytest.param([0, 20, 10, 30, 40, 50], id="six readings of which two fell"),
        pytest.param([2 * at + 24 * (at % 2) for at in range(20)], id="as much noise as growth"),
        pytest.param([*range(15), *range(100, 105)], id="one step"),
        pytest.param([*range(16), *[15] * 4], id="it has just stopped"),
        pytest.param([0, 15, 30, *range(45, 79, 2)], id="it was faster at first"),
        pytest.param([*range(0, 90, 3), *range(90, 120)], id="faster before the stretch"),
        pytest.param([60.0, *LINE[:19]], id="it was higher before"),
        pytest.param([50 + (at % 6) * at / 60 for at in range(120)], id="only the peaks grow"),
    ],
)
def test_growth_that_is_not_believed(values: Sequence[float]) -> None:
    soon = 1e6 if len(values) <= 30 else 10
    whole = replace(BELIEVED, readings=max(6, min(30, len(values))), soon=soon)
    assert left(values, whole, limit=values[-1] + 60) is None


def test_the_lowest_values_have_to_rise_enough() -> None:
    values = [0.2 * at + 3 * (at > 57) for at in range(60)]
    assert left(values, replace(BELIEVED, rise=11)) is not None
    assert left(values, replace(BELIEVED, rise=13)) is None


def test_what_is_far_away_has_to_be_seen_for_long() -> None:
    patient = replace(BELIEVED, reach=2, reach_soon=2, seen=1000)
    assert left(LINE, patient, limit=57) == 38
    assert left(LINE, patient, limit=58) is None
    assert left(LINE, replace(patient, seen=19), limit=500) == 481
    assert left(LINE, replace(patient, reach_soon=10, soon=100), limit=110) == 91
    assert left(LINE, replace(patient, reach_soon=10, soon=90), limit=110) is None


def test_nobody_cares_beyond_the_horizon() -> None:
    assert left(LINE, replace(BELIEVED, horizon=81), limit=100) == 81
    assert left(LINE, replace(BELIEVED, horizon=80), limit=100) is None


def test_times_may_be_irregular() -> None:
    times = [0, 1, 2, 30, 31, 40, 41, 42, 43, 60, 61, 62, 63, 64, 80]
    values = [2.0 * time for time in times]
    found = trend(times, values, 200, BELIEVED)
    assert found is not None
    assert found.rate == pytest.approx(2)


def test_how_steadily_a_series_rises() -> None:
    assert rising(range(3), (1, 2, 3)) == 1
    assert rising(range(3), (3, 2, 1)) == -1
    assert rising(range(1), (1,)) == 0
