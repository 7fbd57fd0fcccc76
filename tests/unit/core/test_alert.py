"""What an alert is, where it goes, when it waits, and how often it is tried."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from twinsmith.core.masking import NOTHING_KNOWN
from twinsmith.core.operating.alarm import Severity
from twinsmith.core.operating.alert import (
    LONGEST_PAUSE,
    MOST_ATTEMPTS,
    MOST_TEXT,
    MOST_TITLE,
    UNKNOWN_END,
    Alert,
    AlertPolicy,
    Channel,
    ChannelHealth,
    Delivery,
    Posting,
    Quiet,
    channel_in,
    claimed,
    deliveries_of,
    fitted,
    is_due,
    is_held_back,
    message,
    minute_of_day,
    pause,
    quiet_in,
    repeated,
    sendable,
    settled,
    tried,
)

DOWN = Alert(
    id="a-1",
    app="shop",
    severity="critical",
    title="shop is down",
    text="no answer",
    key="down",
    at=0,
)
POLICY = AlertPolicy(
    channels=(Channel(name="team", least="warning"), Channel(name="pager", least="critical")),
    repeat_seconds=900.0,
)
FIRST = Delivery(alert="a-1", channel="team", until=900.0, next_try=0.0)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose clock is two hours ahead, summer and winter."""
    monkeypatch.setenv("TZ", "XYZ-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "channel"),
    [
        ("team", Channel(name="team", least="info")),
        ("team:warning", Channel(name="team", least="warning")),
        ("pager_2:critical", Channel(name="pager_2", least="critical")),
    ],
)
def test_a_channel_is_a_name_and_perhaps_a_severity(text: str, channel: Channel) -> None:
    assert channel_in(text) == channel


@pytest.mark.parametrize("text", ["", "Team", "te am", "1st", "team:", "team:loud", ":info", "a-b"])
def test_what_is_no_channel_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no (channel|severity)"):
        channel_in(text)


@pytest.mark.parametrize(
    ("severity", "names"),
    [("info", ()), ("warning", ("team",)), ("critical", ("team", "pager"))],
)
def test_a_channel_gets_what_is_severe_enough(severity: Severity, names: tuple[str, ...]) -> None:
    alert = replace(DOWN, severity=severity)
    assert tuple(each.channel for each in deliveries_of(alert, POLICY)) == names


@pytest.mark.parametrize(
    ("span", "quiet", "loud"),
    [
        ("22:00-07:00", (22 * 60, 23 * 60 + 59, 0, 6 * 60 + 59), (7 * 60, 12 * 60, 21 * 60 + 59)),
        ("12:30-13:00", (12 * 60 + 30, 12 * 60 + 59), (0, 12 * 60 + 29, 13 * 60, 23 * 60)),
        ("00:00-06:00", (0, 359), (360, 1439)),
        ("18:00-00:00", (18 * 60, 1439), (0, 17 * 60)),
    ],
)
def test_quiet_hours_may_go_over_midnight(
    span: str, quiet: tuple[int, ...], loud: tuple[int, ...]
) -> None:
    hours = quiet_in(span)
    assert hours is not None
    assert [hours.covers(minute) for minute in (*quiet, *loud)] == [True] * len(quiet) + [
        False
    ] * len(loud)


@pytest.mark.parametrize(
    "text", ["22-7", "24:00-07:00", "22:60-07:00", "22:00", "07:00-07:00", "x"]
)
def test_what_are_no_hours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no span of hours|begins when it ends"):
        quiet_in(text)
    assert quiet_in("") is None


def test_the_clock_on_the_wall_counts() -> None:
    moment = datetime(2026, 11, 18, 23, 30, tzinfo=UTC).timestamp()
    assert minute_of_day(moment, UTC) == 23 * 60 + 30
    assert minute_of_day(moment, timezone(timedelta(hours=2))) == 90
    assert minute_of_day(moment, timezone(timedelta(hours=-5))) == 18 * 60 + 30


@pytest.mark.usefixtures("berlin")
def test_without_a_zone_it_is_the_clock_of_this_machine() -> None:
    assert minute_of_day(datetime(2026, 11, 18, 20, 15, tzinfo=UTC).timestamp()) == 22 * 60 + 15
    assert minute_of_day(datetime(2026, 7, 18, 20, 15, tzinfo=UTC).timestamp()) == 22 * 60 + 15


def test_in_quiet_hours_only_what_is_critical_goes_out() -> None:
    night = replace(POLICY, quiet=Quiet(begin=22 * 60, end=7 * 60))
    mild = Posting(alert=replace(DOWN, severity="warning"), delivery=FIRST)
    severe = Posting(alert=DOWN, delivery=FIRST)
    assert sendable([mild, severe], night, 3 * 60) == (severe,)
    assert sendable([mild, severe], night, 7 * 60) == (severe, mild)
    assert sendable([mild, severe], POLICY, 3 * 60) == (severe, mild)


def test_what_is_most_severe_goes_first_and_nothing_to_a_channel_that_is_gone() -> None:
    gone = Posting(alert=DOWN, delivery=replace(FIRST, channel="old"))
    early = Posting(alert=replace(DOWN, severity="warning"), delivery=FIRST)
    late = Posting(alert=replace(DOWN, at=5.0), delivery=FIRST)
    assert sendable([gone, early, late], POLICY, 0) == (late, early)


def test_pauses_grow_up_to_a_day() -> None:
    pauses = [pause(attempts) for attempts in range(1, MOST_ATTEMPTS + 1)]
    assert pauses[:4] == [60.0, 120.0, 240.0, 480.0]
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE == 86_400.0
    assert pause(100_000) == LONGEST_PAUSE


def test_a_claim_is_an_attempt_and_a_killed_one_is_due_again() -> None:
    taken = claimed(FIRST, 10.0)
    assert (taken.state, taken.attempts, taken.next_try) == ("sending", 1, 70.0)
    assert taken.problem == UNKNOWN_END
    assert not is_due(taken, 69.0)
    assert is_due(taken, 70.0)


def test_a_failure_waits_and_after_many_it_is_given_up() -> None:
    failed = settled(claimed(FIRST, 10.0), "refused", 11.0, told=0)
    assert (failed.state, failed.problem, failed.next_try) == ("waiting", "refused", 70.0)
    assert is_held_back(failed)
    last = replace(failed, attempts=MOST_ATTEMPTS - 1)
    over = settled(claimed(last, 10.0), "refused", 11.0, told=0)
    assert over.state == "given up"
    assert not is_due(over, 1e12)


def test_what_was_delivered_is_over() -> None:
    done = settled(claimed(FIRST, 10.0), "", 11.0, told=0)
    assert (done.state, done.problem, done.delivered) == ("delivered", "", 11.0)
    assert not is_due(done, 1e12)


def test_repeats_before_the_first_delivery_are_told_with_it() -> None:
    waiting = repeated(repeated(FIRST))
    assert (waiting.state, waiting.repeats, waiting.next_try) == ("waiting", 2, 0.0)
    told = message(Posting(alert=DOWN, delivery=waiting))
    assert told.title == "shop is down"
    assert told.text == "The same came 2 times more.\nno answer"
    assert settled(claimed(waiting, 1.0), "", 2.0, told=2).state == "delivered"


def test_repeats_after_it_are_told_once_at_the_end_of_the_time() -> None:
    done = settled(claimed(FIRST, 10.0), "", 11.0, told=0)
    again = repeated(repeated(done))
    assert (again.state, again.next_try, again.attempts) == ("waiting", 900.0, 0)
    told = message(Posting(alert=DOWN, delivery=again))
    assert told.title == "again: shop is down"
    assert told.text.startswith("The same came 2 times more.")
    over = settled(claimed(again, 900.0), "", 901.0, told=2)
    assert (over.state, over.told) == ("delivered", 2)
    assert message(Posting(alert=DOWN, delivery=over)) == DOWN


def test_a_repeat_during_a_delivery_is_not_lost() -> None:
    taken = claimed(FIRST, 10.0)
    after = settled(repeated(taken), "", 11.0, told=taken.repeats)
    assert (after.state, after.next_try, after.told, after.repeats) == ("waiting", 900.0, 0, 1)


def test_text_of_others_is_only_text() -> None:
    said = "<!channel> @everyone [click](https://evil) \x1b[2J\x00 <b>x</b>\nnext"
    shown = fitted(replace(DOWN, title=said, text=said), NOTHING_KNOWN.text)
    for part in ("<", ">", "@", "](", "\x1b", "\x00"):
        assert part not in shown.title + shown.text
    assert "\n" not in shown.title
    assert shown.text.endswith("\nnext")


def test_lengths_are_bounded_and_secrets_masked() -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    long = fitted(replace(DOWN, title="x " * 999, text="y" * 99_999), NOTHING_KNOWN.text)
    assert (len(long.title), len(long.text)) == (MOST_TITLE, MOST_TEXT)
    secret = fitted(replace(DOWN, title=f"key {key}", text=f"password={key}"), NOTHING_KNOWN.text)
    assert key not in secret.title + secret.text
    again = replace(FIRST, repeats=3, delivered=1.0)
    shown = message(Posting(alert=long, delivery=again))
    assert len(shown.title) <= MOST_TITLE
    assert len(shown.text) <= MOST_TEXT


def test_a_channel_fails_since_its_first_failure() -> None:
    first = tried(None, "team", "refused", 5.0)
    second = tried(first, "team", "timeout", 9.0)
    assert second == ChannelHealth(name="team", at=9.0, failing_since=5.0, problem="timeout")
    assert tried(second, "team", "", 10.0) == ChannelHealth(name="team", at=10.0)
