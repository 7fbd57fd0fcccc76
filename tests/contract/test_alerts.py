"""What alerts are kept by: one contract for memory, SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.alerts.memory import MemoryAlerts
from twinsmith.adapters.alerts.table import AlertTable
from twinsmith.core.masking import Masking
from twinsmith.core.operating.alert import (
    Alert,
    AlertPolicy,
    Channel,
    ChannelHealth,
    Posting,
)
from twinsmith.ports import Alerts, Postbox

SECRET = "kd83hfGGq0zz91Lm"
MASKING = Masking(secrets=(SECRET,))
POLICY = AlertPolicy(
    channels=(Channel(name="pager", least="critical"), Channel(name="team")), repeat_seconds=900.0
)
DOWN = Alert(
    id="a-1", app="shop", severity="critical", title="down", text="no answer", key="down", at=100.0
)
SLOW = replace(DOWN, id="a-2", severity="warning", title="slow", key="slow", at=200.0)


class Kept(Alerts, Postbox, Protocol):
    """Alerts and their deliveries."""


Opened = Callable[[], Kept]


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens the same alerts, each time as another process would."""
    if request.param == "memory":
        only = MemoryAlerts(POLICY, MASKING)
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: AlertTable(url, POLICY, MASKING)


def due(opened: Opened, now: float) -> list[tuple[str, str]]:
    return [(each.alert.id, each.delivery.channel) for each in opened().due(now)]


def claimed(opened: Opened, channel: str, now: float) -> Posting:
    """The first delivery to a channel that is due, claimed."""
    first = next(each for each in opened().due(now) if each.delivery.channel == channel)
    mine = opened().claim(first, now)
    assert mine is not None
    return mine


def test_an_alert_is_kept_once_and_goes_where_it_is_severe_enough(opened: Opened) -> None:
    assert opened().channels() == ()
    assert opened().tell(DOWN)
    assert opened().tell(SLOW)
    assert not opened().tell(replace(DOWN, title="other"))
    slow, down = opened().listed(10)
    assert (down.alert, slow.alert) == (DOWN, SLOW)
    assert [each.channel for each in down.deliveries] == ["pager", "team"]
    assert [each.channel for each in slow.deliveries] == ["team"]
    assert [each.alert.id for each in opened().listed(1)] == ["a-2"]
    assert due(opened, 99.0) == []
    assert due(opened, 200.0) == [("a-1", "pager"), ("a-1", "team"), ("a-2", "team")]


def test_nothing_secret_is_kept(opened: Opened) -> None:
    opened().tell(replace(DOWN, title=f"token {SECRET}", text=f"<b>{SECRET}</b>" + "x" * 9999))
    (record,) = opened().listed(1)
    assert SECRET not in str(record)
    assert len(record.alert.text) <= 2000


def test_the_same_again_is_counted_and_told_at_the_end(opened: Opened) -> None:
    opened().tell(SLOW)
    opened().settle(claimed(opened, "team", 200.0), "", 201.0)
    assert due(opened, 5000.0) == []
    for number in range(3):
        again = replace(SLOW, id=f"again-{number}", at=300.0 + number, text="other words")
        assert opened().tell(again)
        assert not opened().tell(again)
    (record,) = opened().listed(10)
    assert (record.repeats, record.deliveries[0].repeats) == (3, 3)
    assert due(opened, 1099.0) == []
    assert due(opened, 1100.0) == [("a-2", "team")]
    mine = claimed(opened, "team", 1100.0)
    assert (mine.delivery.repeats, mine.delivery.told) == (3, 0)
    opened().settle(mine, "", 1101.0)
    assert due(opened, 1e9) == []


def test_another_app_a_later_time_or_a_higher_severity_is_not_the_same(opened: Opened) -> None:
    opened().tell(SLOW)
    opened().tell(replace(SLOW, id="b", app="blog"))
    opened().tell(replace(SLOW, id="c", severity="critical", at=250.0))
    opened().tell(replace(SLOW, id="d", at=260.0))
    opened().tell(replace(SLOW, id="e", at=1150.0))
    assert [(each.alert.id, each.repeats) for each in opened().listed(10)] == [
        ("e", 0),
        ("c", 1),
        ("b", 0),
        ("a-2", 0),
    ]


def test_an_attempt_belongs_to_one_process(opened: Opened) -> None:
    opened().tell(SLOW)
    seen = opened().due(200.0)[0]
    with ThreadPoolExecutor(4) as threads:
        won = list(threads.map(lambda _: opened().claim(seen, 200.0), range(8)))
    assert len([each for each in won if each is not None]) == 1
    assert due(opened, 200.0) == []


def test_one_of_many_at_once_is_the_alert_and_the_others_are_counted(opened: Opened) -> None:
    many = [replace(SLOW, id=f"m-{number}") for number in range(8)]
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(lambda each: opened().tell(each), many))
    (record,) = opened().listed(10)
    assert record.repeats == 7
    assert [each.repeats for each in record.deliveries] == [7]


def test_a_process_that_died_after_its_claim_is_followed_by_another(opened: Opened) -> None:
    opened().tell(SLOW)
    first = claimed(opened, "team", 200.0)
    assert due(opened, 259.0) == []
    second = claimed(opened, "team", 260.0)
    assert second.delivery.attempts == 2
    # The first was only slow: it has nothing to say about the second attempt.
    opened().settle(first, "timeout", 261.0)
    assert opened().listed(1)[0].deliveries[0].state == "sending"
    opened().settle(second, "", 262.0)
    (delivery,) = opened().listed(1)[0].deliveries
    assert (delivery.state, delivery.attempts) == ("delivered", 2)


def test_a_dead_channel_is_tried_later_and_known_for_it(opened: Opened) -> None:
    opened().tell(SLOW)
    opened().settle(claimed(opened, "team", 200.0), "refused", 201.0)
    assert due(opened, 259.0) == []
    opened().settle(claimed(opened, "team", 260.0), "refused again", 261.0)
    assert opened().channels() == (
        ChannelHealth(name="team", at=261.0, failing_since=201.0, problem="refused again"),
    )
    (delivery,) = opened().listed(1)[0].deliveries
    assert (delivery.state, delivery.attempts, delivery.next_try) == ("waiting", 2, 380.0)


def test_what_waits_goes_out_as_soon_as_the_channel_works(opened: Opened) -> None:
    opened().tell(SLOW)
    for moment in (200.0, 260.0, 380.0):
        opened().settle(claimed(opened, "team", moment), "refused", moment)
    assert due(opened, 400.0) == []
    opened().tried("team", "", 400.0)
    assert opened().channels() == (ChannelHealth(name="team", at=400.0),)
    assert due(opened, 400.0) == [("a-2", "team")]


def test_a_claim_is_left_alone_where_the_channel_works(opened: Opened) -> None:
    opened().tell(SLOW)
    claimed(opened, "team", 200.0)
    opened().tried("team", "", 201.0)
    assert due(opened, 202.0) == []


def test_what_is_old_is_forgotten(opened: Opened) -> None:
    opened().tell(DOWN)
    opened().tell(replace(DOWN, id="again", at=150.0))
    opened().tell(SLOW)
    opened().forget(before=160.0)
    assert [each.alert.id for each in opened().listed(9)] == ["a-2"]
    assert due(opened, 1e9) == [("a-2", "team")]
    opened().forget(before=1e9)
    assert (opened().listed(9), due(opened, 1e9)) == ((), [])
    assert opened().tell(replace(SLOW, at=2e9))
    assert due(opened, 3e9) == [("a-2", "team")]
