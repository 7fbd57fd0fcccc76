"""Couriers: the fake, and Apprise against real servers on the loopback."""

import logging
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_string

import pytest

from tests.receivers import MailServer, Webhook, mail_server, webhook
from twinsmith.adapters.alerts.apprise_courier import AppriseCourier
from twinsmith.adapters.alerts.memory import NotingCourier
from twinsmith.core.operating.alert import Alert
from twinsmith.ports import Courier
from twinsmith.settings import load

DOWN = Alert(
    id="a-1", app="shop", severity="critical", title="it is down", text="a\nb", key="down", at=100.0
)
TOKEN = "T0kenQ83hfGGq0zz91Lm"


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as made:
        yield made


@pytest.fixture
def mails() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


@pytest.fixture
def nobody() -> int:
    """A port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(params=["noting", "apprise"])
def courier(request: pytest.FixtureRequest, hook: Webhook, nobody: int) -> Courier:
    if request.param == "noting":
        return NotingCourier({"dead": "nobody is there"})
    dead = f"json://127.0.0.1:{nobody}/"
    return AppriseCourier({"team": hook.address(), "dead": dead}, str)


async def test_a_courier_says_nothing_or_why_not(courier: Courier) -> None:
    assert await courier.send("team", DOWN) == ""
    assert await courier.send("dead", DOWN) != ""
    assert await courier.send("team", DOWN) == ""


async def test_a_webhook_gets_the_words_and_the_severity(hook: Webhook) -> None:
    courier = AppriseCourier({"team": hook.address(f"services/{TOKEN}")}, str)
    assert await courier.send("team", DOWN) == ""
    assert await courier.send("team", replace(DOWN, severity="warning", app="")) == ""
    first, second = hook.bodies
    assert hook.paths[0] == f"/services/{TOKEN}"
    assert (first["title"], first["message"]) == ("[critical] shop: it is down", "a\nb")
    assert (first["type"], second["type"]) == ("failure", "warning")
    assert second["title"] == "[warning] it is down"


async def test_what_looks_like_a_language_arrives_as_it_is(hook: Webhook) -> None:
    text = "# no heading\n*no* _stress_ ${HOME} :smile: \\n {{ x }}"
    courier = AppriseCourier({"team": hook.address()}, str)
    assert await courier.send("team", replace(DOWN, text=text)) == ""
    assert hook.bodies[0]["message"] == text


async def test_mail_arrives(mails: MailServer) -> None:
    address = (
        f"mailto://127.0.0.1:{mails.port}?from=me@example.org&to=ops@example.org&mode=insecure"
    )
    courier = AppriseCourier({"mail": address}, str)
    assert await courier.send("mail", DOWN) == ""
    mail = message_from_string(mails.mails[0])
    assert "[critical] shop: it is down" in str(mail["Subject"])
    assert [each.upper() for each in mails.recipients] == ["RCPT TO:<OPS@EXAMPLE.ORG>"]


async def test_a_refusal_names_its_status_and_not_the_address(
    hook: Webhook, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    hook.status = 403
    environment = {"TWINSMITH_ALERT_TEAM": hook.address(f"services/{TOKEN}")}
    settings = load({"TWINSMITH_HOME": "/nowhere", **environment})
    courier = AppriseCourier(settings.alert_addresses, settings.masking.text)
    with caplog.at_level(logging.DEBUG):
        problem = await courier.send("team", DOWN)
    assert "403" in problem
    assert TOKEN not in problem + caplog.text + "".join(capfd.readouterr())
    assert TOKEN not in repr(settings)


async def test_not_a_word_of_the_address_is_in_the_reason(nobody: int) -> None:
    courier = AppriseCourier({"team": f"json://annmarie:hush%20hush@127.0.0.1:{nobody}/x"}, str)
    problem = await courier.send("team", DOWN)
    assert problem == "A Connection error occurred sending JSON notification to [masked]."


async def test_an_address_that_calls_itself_optional_is_no_excuse(hook: Webhook) -> None:
    hook.status = 500
    courier = AppriseCourier({"team": f"{hook.address()}?optional=yes"}, str)
    assert "500" in await courier.send("team", DOWN)


async def test_a_server_that_never_answers_is_left_alone(hook: Webhook) -> None:
    hook.hold.clear()
    courier = AppriseCourier({"team": f"{hook.address()}?rto=300"}, str, seconds=0.5)
    begun = time.monotonic()
    assert await courier.send("team", DOWN) != ""
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("", "no address in TWINSMITH_ALERT_TEAM"),
        (f"nowhere://{TOKEN}", "the address in TWINSMITH_ALERT_TEAM is none that Apprise knows"),
        (":::", "the address in TWINSMITH_ALERT_TEAM is none that Apprise knows"),
        (
            "json://127.0.0.1/a, json://127.0.0.1/b",
            "TWINSMITH_ALERT_TEAM holds 2 addresses; name a channel for each",
        ),
    ],
)
async def test_an_address_that_cannot_be_used_is_told(
    address: str, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    courier = AppriseCourier({"team": address}, str)
    assert (courier.lacks("team"), await courier.send("team", DOWN)) == (says, says)
    assert TOKEN not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "address",
    [
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
        "pagerduty://A1BRTD4JDA1BRTD4JDA1BRTD4JDAAAAA@TIiajkdnlazkcOXrIdev",
        "mailto://user:secret@example.org",
        "jsons://example.org/hook",
    ],
)
def test_the_usual_addresses_are_known(address: str) -> None:
    assert AppriseCourier({"team": address}, str).lacks("team") == ""
