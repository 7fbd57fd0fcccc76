"""What services cannot do is named at once, and what names it is not met."""

import json
from dataclasses import replace

import pytest

from tests.cart import Cart, cart_job
from tests.one_answer import OneAnswer
from tests.service_scripts import CART
from twinsmith.core.model import Prompt
from twinsmith.core.planning.requirement import NOTHING_REQUIRED, Requirement
from twinsmith.core.planning.standing import Asked, Standing
from twinsmith.core.planning.unsupported import unsupported_in, without_unsupported
from twinsmith.core.program import Kind
from twinsmith.core.task import Task
from twinsmith.flow.build.unsupported import unsupported

ASKED = "A service answers HTTP requests and keeps rows"
BIDS = "An auction: bids go to all browsers over WebSockets"
TASK = Task(text=BIDS, language="python", kind="service")


@pytest.mark.parametrize(
    ("reply", "task", "what"),
    [
        ("WebSocket", BIDS, "WebSocket"),
        (" websocket.\nTask:", BIDS, "WebSocket"),
        ("e-mail", "every issue is mailed", "e-mail"),
        ("payment provider", "orders are paid with PayPal", "payment provider"),
        ("file upload", "guests send files", "file upload"),
        ("file upload", "a list of marks", ""),
        # What has a name is only wanted where it is named.
        ("GraphQL", "An API for messages", ""),
        ("e-mail", "a phone book", ""),
        ("nothing", BIDS, ""),
        ("a WebSocket, and more", BIDS, ""),
        ("", BIDS, ""),
    ],
)
def test_a_reply_counts_where_the_task_holds_the_name(reply: str, task: str, what: str) -> None:
    assert unsupported_in(reply, task) == what


def test_the_requirement_that_names_it_is_not_met_and_others_stay() -> None:
    pushed = Standing(
        requirement=Requirement(number=1, what="bids", quote="bids go over WebSockets"),
        shown=("a check",),
    )
    other = Standing(requirement=Requirement(number=2, what="x", quote="an auction"), shown=("y",))
    asked = Asked(requirements=NOTHING_REQUIRED, standings=(pushed, other))
    first, second = without_unsupported(asked, "WebSocket").standings
    assert (first.met, first.shown, first.why) == (False, (), "not supported: WebSocket")
    assert second == other
    added = without_unsupported(asked, "gRPC").standings[2]
    assert (added.requirement.quote, added.why) == ("gRPC", "not supported: gRPC")
    assert without_unsupported(asked, "e-mail") == without_unsupported(asked, "") == asked


@pytest.mark.parametrize(
    ("kind", "spec", "asked"), [("service", "", 1), ("service", "{}", 0), ("cli", "", 0)]
)
async def test_only_services_in_words_are_asked_about(kind: Kind, spec: str, asked: int) -> None:
    slow = OneAnswer("WebSocket")
    found = await unsupported(replace(TASK, kind=kind, spec=spec), slow)
    assert (found, len(slow.asked)) == ("WebSocket" if asked else "", asked)
    assert all((each.tokens, each.temperature) == (8, 0.0) for each in slow.asked)
    assert await unsupported(TASK, OneAnswer("")) == ""


async def test_it_is_told_at_once_and_the_rest_is_built() -> None:
    world = Cart()
    right = world.say

    def say(prompt: Prompt) -> str:
        return "cookies" if ASKED in prompt.text else right(prompt)

    world.say = say
    job = cart_job(text=f"{CART}, with cookies")
    outcome = await world.build(job)
    assert not outcome.solved
    assert "not shown: 'cookies' (not supported: cookies)" in outcome.reason
    notes = {stage.name: stage.note for stage in world.progress.stages}
    assert notes["clarify"] == "python service, 0 examples; not supported: cookies"
    # Before a plan is asked for, and before a line is written.
    order = [prompt.text for prompt in world.asked]
    assert next(n for n, text in enumerate(order) if ASKED in text) == 1
    report = json.loads(world.files(job)["report.json"])
    assert report["unsupported"] == "cookies"
    assert [each["met"] for each in report["requirements"]] == [True] * 4 + [False]
    assert "\nNot supported, and therefore not built: cookies.\n" in world.files(job)["report.md"]
    assert "rejected/solution.py" in world.files(job)


async def test_what_can_be_built_is_not_spoken_of() -> None:
    world, job = Cart(), cart_job()
    assert (await world.build(job)).solved
    assert "ot supported" not in world.files(job)["report.md"]
