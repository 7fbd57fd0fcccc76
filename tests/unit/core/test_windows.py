"""Hours of maintenance: read from settings, and laid around a moment."""

from datetime import UTC, datetime

import pytest

from twinsmith.core.operating.windows import WindowHours, maintenance, window_in


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def covered(text: str, moment: str, app: str = "shop") -> bool:
    now = at(moment)
    return any(each.covers(app, now) for each in maintenance([window_in(text)], now, UTC))


def test_hours_are_of_all_apps_or_one_and_of_every_day_or_one() -> None:
    assert window_in("02:00-04:30") == WindowHours(begin=120, minutes=150)
    assert window_in("sun 22:00-02:00") == WindowHours(begin=1320, minutes=240, day=6)
    assert window_in("shop sat 01:00-02:00").app == "shop"
    assert window_in("sun-shop 01:00-02:00") == WindowHours(begin=60, minutes=60, app="sun-shop")
    assert window_in(" mon  00:00-00:00 ").minutes == 1440


@pytest.mark.parametrize("text", ["", "2:00-4:00", "24:00-25:00", "shop", "day 01:00-02:00 x", "-"])
def test_what_cannot_be_read_says_how_it_is_written(text: str) -> None:
    with pytest.raises(ValueError, match="is no window; such as '02:00-04:00'"):
        window_in(text)


@pytest.mark.parametrize(
    ("window", "moment", "expected"),
    [
        ("02:00-04:00", "2026-11-18T02:00", True),
        ("02:00-04:00", "2026-11-18T03:59", True),
        ("02:00-04:00", "2026-11-18T04:00", False),
        ("22:00-02:00", "2026-11-18T23:30", True),
        ("22:00-02:00", "2026-11-19T01:30", True),
        ("22:00-02:00", "2026-11-19T12:00", False),
        # The 22nd of November 2026 is a Sunday.
        ("sun 22:00-02:00", "2026-11-22T22:30", True),
        ("sun 22:00-02:00", "2026-11-23T01:30", True),
        ("sun 22:00-02:00", "2026-11-22T01:30", False),
        ("other 00:00-00:00", "2026-11-18T12:00", False),
        ("shop 00:00-00:00", "2026-11-18T12:00", True),
    ],
)
def test_a_moment_is_in_a_window_or_not(window: str, moment: str, expected: bool) -> None:
    assert covered(window, moment) is expected
