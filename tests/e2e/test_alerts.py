"""Alerts through the real command: a test of channels, the list, and what doctor says."""

import asyncio
import json
import time
from collections.abc import Iterator

import pytest

from tests.conftest import Command
from tests.receivers import Webhook, webhook
from twinsmith.core.operating.alert import Alert
from twinsmith.core.people.actor import Actor
from twinsmith.runs.alerts import deliver_due, raise_alert
from twinsmith.runs.book import Book
from twinsmith.settings import load

TOKEN = "T0kenQ83hfGGq0zz91Lm"


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as made:
        yield made


def components(command: Command) -> dict[str, dict[str, str]]:
    report = json.loads(command("doctor", "--json", code=None).stdout)
    return {row["name"]: row for row in report["components"]}


def test_without_a_channel_nothing_is_lost(command: Command) -> None:
    assert command("alerts").stdout == "no alerts yet\n"
    assert json.loads(command("alerts", "--json").stdout) == []
    refused = command("alerts", "test", code=2).stderr
    assert refused.startswith("twinsmith: no alert channel is configured; name one in alerts.chan")
    assert refused.count("\n") == 1
    shown = components(command)["alerts"]
    assert shown["value"] == "no alert channel: alerts are kept, see twinsmith alerts"


def test_each_channel_says_whether_a_test_was_delivered(command: Command, hook: Webhook) -> None:
    command.env["TWINSMITH_ALERTS_CHANNELS"] = "team:warning,pager"
    command.env["TWINSMITH_ALERT_TEAM"] = hook.address(TOKEN)
    done = command("alerts", "test", code=1)
    assert done.stdout == (
        "team: delivered\npager: not delivered: no address in TWINSMITH_ALERT_PAGER\n"
    )
    assert hook.bodies[0]["title"] == "[warning] twinsmith test message"
    assert hook.paths == [f"/{TOKEN}"]
    assert command("alerts", "test", "team").stdout == "team: delivered\n"
    report = json.loads(command("alerts", "test", "pager", "--json", code=3).stdout)
    problem = "no address in TWINSMITH_ALERT_PAGER"
    assert report == {
        "delivered": False,
        "channels": [{"channel": "pager", "problem": problem}],
    }
    unknown = command("alerts", "test", "nobody", code=2).stderr
    assert "alert channel 'nobody' is not configured; there are: team, pager" in unknown
    rows = components(command)
    assert rows["alert channel team"]["value"] == "ready"
    assert rows["alert channel pager"]["value"] == f"{problem}: nothing is sent there"
    assert [rows[f"alert channel {name}"]["health"] for name in ("team", "pager")] == [
        "ok",
        "warning",
    ]


def test_a_dead_channel_is_shown_until_it_works_again(command: Command, hook: Webhook) -> None:
    command.env["TWINSMITH_ALERTS_CHANNELS"] = "team"
    command.env["TWINSMITH_ALERT_TEAM"] = hook.address(TOKEN)
    command.env["TWINSMITH_ALERT_STRAY"] = hook.address()
    hook.status = 503
    book = Book(load(command.environment), Actor(name="ann", way="terminal"))
    down = Alert(
        id="a-1",
        app="shop",
        severity="critical",
        title="shop is down",
        text="no answer",
        key="down",
        at=time.time(),
    )
    asyncio.run(raise_alert(book, down))
    asyncio.run(deliver_due(book))
    listed = command("alerts").stdout
    assert "critical  shop                  shop is down" in listed
    assert "team: failed, 1 try, next 20" in listed
    rows = components(command)
    assert rows["alert channel team"]["health"] == "warning"
    said = rows["alert channel team"]["value"]
    assert said.startswith("last delivery failed, and every one since 20")
    assert "503" in said
    assert "TWINSMITH_ALERT_STRAY is set, and" in rows["alert channel stray"]["value"]
    assert TOKEN not in listed + json.dumps(rows)
    hook.status = 200
    assert command("alerts", "test").stdout == "team: delivered\n"
    assert components(command)["alert channel team"]["value"] == "ready"
    # What waited for the channel is due at once.
    assert [each.problem for each in asyncio.run(deliver_due(book))] == [""]
    assert hook.bodies[-1]["title"] == "[critical] shop: shop is down"
    (record,) = json.loads(command("alerts", "--json").stdout)
    assert record["deliveries"][0]["state"] == "delivered"
    assert "team: delivered 20" in command("alerts").stdout
    kept = [path for path in command.home.rglob("*") if path.is_file()]
    assert not [path for path in kept if TOKEN.encode() in path.read_bytes()]
