"""Alerts on their way: claimed, sent, tried again, and what a kill in between leaves."""

import asyncio
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import until
from tests.receivers import Webhook, webhook
from twinsmith.adapters.alerts.memory import NotingCourier
from twinsmith.core.events import SYSTEM
from twinsmith.core.operating.alert import Alert, Delivery, minute_of_day
from twinsmith.core.people.actor import Actor
from twinsmith.runs.alerts import Sent, deliver_due, latest, post, raise_alert
from twinsmith.runs.book import Book
from twinsmith.settings import load
from twinsmith.wiring.alerting import alerts_of

NOON = 1_795_003_200.0
DOWN = Alert(
    id="a-1", app="shop", severity="critical", title="down", text="no answer", key="down", at=NOON
)
SLOW = replace(DOWN, id="a-2", severity="warning", title="slow", key="slow", at=NOON + 1)


class Clock:
    """Seconds since 1970, moved by hand."""

    def __init__(self) -> None:
        self.now = NOON + 10

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Book]:
    """Opens the book of one home with some settings of alerts."""

    def book(**settings: str) -> Book:
        given = {f"TWINSMITH_{name.upper()}": value for name, value in settings.items()}
        home = {"TWINSMITH_HOME": str(tmp_path / "home")}
        return Book(load({**home, **given}), Actor(name="ann", way="terminal"))

    return book


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as made:
        yield made


def told(book: Book) -> list[str]:
    """The kinds of events about alerts in the system's journal."""
    kinds = [entry.event.kind for entry in book.journal.entries(SYSTEM)]
    return [kind for kind in kinds if kind.startswith("alert.")]


def ways(book: Book) -> dict[str, Delivery]:
    return {each.channel: each for record in latest(book, 9) for each in record.deliveries}


async def test_without_a_channel_alerts_are_kept_and_journalled(
    opened: Callable[..., Book],
) -> None:
    book = opened()
    assert await raise_alert(book, DOWN)
    assert not await raise_alert(book, DOWN)
    assert await deliver_due(book) == ()
    (record,) = latest(book, 9)
    assert (record.alert, record.deliveries) == (DOWN, ())
    assert told(book) == ["alert.raised"]


async def test_a_dead_channel_is_tried_again_and_the_others_go_on(
    opened: Callable[..., Book],
) -> None:
    book, clock = opened(alerts_channels="team,pager:critical"), Clock()
    courier = NotingCourier({"team": "refused"})
    await raise_alert(book, DOWN)
    await raise_alert(book, SLOW)
    table = alerts_of(book.settings)
    assert set(await post(book, table, courier, clock)) == {
        Sent(channel="team", alert="a-1", problem="refused"),
        Sent(channel="pager", alert="a-1"),
    }
    # The second one to the dead channel was not tried: the first had just failed.
    assert [each.alert for each in await post(book, table, courier, clock)] == ["a-2"]
    assert await post(book, table, courier, clock) == ()
    courier.dead.clear()
    clock.now += 60
    assert len(await post(book, table, courier, clock)) == 2
    assert [(name, alert.id) for name, alert in courier.sent] == [
        ("pager", "a-1"),
        ("team", "a-1"),
        ("team", "a-2"),
    ]
    assert told(book).count("alert.failed") == 2
    assert told(book).count("alert.delivered") == 3


async def test_quiet_hours_hold_back_what_is_not_critical(opened: Callable[..., Book]) -> None:
    clock, courier = Clock(), NotingCourier()
    book = opened(alerts_channels="team", alerts_quiet=_around(clock.now))
    await raise_alert(book, DOWN)
    await raise_alert(book, SLOW)
    table = alerts_of(book.settings)
    await post(book, table, courier, clock)
    assert [alert.id for _, alert in courier.sent] == ["a-1"]
    clock.now += 2 * 3600
    await post(book, table, courier, clock)
    assert [alert.id for _, alert in courier.sent] == ["a-1", "a-2"]


def _around(now: float) -> str:
    """The hour around a moment, on the clock of this machine."""
    begin, end = ((minute_of_day(now) + by) % 1440 for by in (-30, 30))
    return f"{begin // 60:02}:{begin % 60:02}-{end // 60:02}:{end % 60:02}"


async def test_two_that_send_at_once_send_once(opened: Callable[..., Book]) -> None:
    clock, courier = Clock(), NotingCourier()
    book = opened(alerts_channels="team")
    for number in range(6):
        await raise_alert(book, replace(SLOW, id=f"a-{number}", key=f"k-{number}"))
    books = [opened(alerts_channels="team") for _ in range(2)]
    await asyncio.gather(*(post(b, alerts_of(b.settings), courier, clock) for b in books))
    assert sorted(alert.id for _, alert in courier.sent) == [f"a-{n}" for n in range(6)]


def _deliver(settings: dict[str, str]) -> None:
    book = Book(load(settings), Actor(name="ann", way="terminal"))
    asyncio.run(deliver_due(book))


async def test_a_kill_between_claim_and_answer_is_another_attempt_later(
    opened: Callable[..., Book], hook: Webhook
) -> None:
    hook.hold.clear()
    given = {"alerts_channels": "team", "alert_team": hook.address("T0kenQ83hfGGq0zz91Lm")}
    book = opened(**given)
    await raise_alert(book, SLOW)
    settings = {f"TWINSMITH_{name.upper()}": value for name, value in given.items()}
    settings["TWINSMITH_HOME"] = str(book.settings.home)
    process = multiprocessing.get_context("spawn").Process(target=_deliver, args=(settings,))
    process.start()
    until(lambda: ways(book)["team"].state == "sending")
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    hook.hold.set()
    left = ways(book)["team"]
    assert (left.state, left.attempts) == ("sending", 1)
    assert left.problem == "it was begun, and how it ended is not known"
    assert await deliver_due(book) == ()
    courier, clock = NotingCourier(), Clock()
    clock.now = left.next_try
    await post(book, alerts_of(book.settings), courier, clock)
    done = ways(book)["team"]
    assert (done.state, done.attempts, len(courier.sent)) == ("delivered", 2, 1)


async def test_no_address_is_ever_kept(
    opened: Callable[..., Book], hook: Webhook, tmp_path: Path
) -> None:
    hook.status = 500
    token = "T0kenQ83hfGGq0zz91Lm"
    book = opened(alerts_channels="team", alert_team=hook.address(token))
    await raise_alert(book, replace(DOWN, text=f"{hook.address(token)} and {token}"))
    (sent,) = await deliver_due(book)
    assert "500" in sent.problem
    assert token not in json.dumps(hook.bodies)
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert len(kept) > 1
    for path in kept:
        assert token.encode() not in path.read_bytes(), path
