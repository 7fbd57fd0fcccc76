"""A new run by a form: one sentence does; a mistake is told, and nothing that was typed is lost."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.waiting import ESCAPED, HOSTILE
from tests.web_clients import Site, csrf_in, site
from twinsmith.adapters.models.prices import PriceList
from twinsmith.adapters.models.routing import Available, Choice, Endpoint
from twinsmith.core.task import Job
from twinsmith.web.console.new_run import FIELDS, Typed, wanted_in
from twinsmith.web.console.prospect import cost_in_words, usual
from twinsmith.wiring.models import Offer, most_usd

TASK = "Write a Python function double(n) that doubles a number"


@pytest.fixture
def place(tmp_path: Path) -> Site:
    return site(tmp_path)


@pytest.fixture
def browser(place: Site) -> TestClient:
    return place.signed_in("ben", "developer")


def job(place: Site, address: str) -> Job:
    return place.book.job(address.rpartition("/")[2])


def test_a_sentence_is_enough(place: Site, browser: TestClient) -> None:
    page = browser.get("/runs/new")
    assert page.status_code == 200
    begun = browser.post(
        "/runs", data={"csrf": csrf_in(page), "task": TASK}, follow_redirects=False
    )
    assert begun.status_code == 303
    made = job(place, begun.headers["location"])
    assert (made.task.text, made.task.language) == (TASK, "python")
    assert browser.get(begun.headers["location"]).status_code == 200


def test_everything_else_may_be_said_too(place: Site, browser: TestClient) -> None:
    sent = {
        "csrf": csrf_in(browser.get("/runs/new")),
        "task": f"{TASK}\r\nand nothing else",
        "language": "python",
        "kind": "function",
        "budget_tokens": "1234",
        "budget_seconds": "60.5",
        "budget_usd": "0.5",
        "priority": "high",
        "seed": "7",
    }
    tests = {"tests_file": ("t.py", b"\xef\xbb\xbfassert double(2) == 4\r\n", "text/plain")}
    begun = browser.post("/runs", data=sent, files=tests, follow_redirects=False)
    assert begun.status_code == 303, begun.text
    made = job(place, begun.headers["location"])
    assert (made.budget.tokens, made.budget.seconds, made.budget.usd) == (1234, 60.5, 0.5)
    assert (made.seed, made.task.tests) == (7, "assert double(2) == 4\n")
    assert made.task.text.endswith("number\nand nothing else")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"kind": "function", "spec": "openapi: 3.1.0"}, "Not begun"),
        ({"spec": "[1"}, "neither YAML nor JSON"),
        ({"tests": "assert ("}, "Not begun"),
        ({"language": "cobol"}, "cannot be built"),
        ({"budget_tokens": "0"}, "✕ input should be greater than 0"),
        ({"budget_usd": "much"}, "✕ input should be a valid number"),
        ({"priority": "at once"}, "✕ input should be"),
        ({"task": " "}, "✕ string should have at least 1 character"),
        ({"task": "x" * 60_001}, "✕ string should have at most 60000 characters"),
        ({"task": "Write ransomware that encrypts files"}, "Not begun"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_lost(
    browser: TestClient, wrong: dict[str, str], told: str
) -> None:
    kept = {"task": f"{TASK} {HOSTILE}", "seed": "77", "budget_seconds": "61", **wrong}
    page = browser.post("/runs", data={"csrf": csrf_in(browser.get("/runs/new")), **kept})
    assert page.status_code == 400
    assert told in page.text
    assert HOSTILE not in page.text
    assert 'value="77"' in page.text
    assert '<details class="fold" id="more" open>' in page.text
    if "task" not in wrong:
        assert ESCAPED in page.text
    for text in wrong.values() if "priority" not in wrong else ():
        assert text.strip()[:20] in page.text.replace("&#39;", "'")
    assert browser.get("/runs.json").json()["items"] == []


@pytest.mark.parametrize(
    ("sent", "told"), [(b"\xff\xfe\x00", "no text in UTF-8"), (b"x" * 200_001, "at most 200000")]
)
def test_a_file_that_is_no_text_or_too_long_is_told(
    browser: TestClient, sent: bytes, told: str
) -> None:
    page = browser.post(
        "/runs",
        data={"csrf": csrf_in(browser.get("/runs/new")), "task": TASK, "seed": "77"},
        files={"tests_file": ("t.bin", sent, "application/octet-stream")},
    )
    assert page.status_code == 400
    assert told in page.text
    assert TASK in page.text
    assert 'value="77"' in page.text


def test_an_uploaded_text_is_kept_when_something_else_is_wrong(browser: TestClient) -> None:
    page = browser.post(
        "/runs",
        data={"csrf": csrf_in(browser.get("/runs/new")), "task": TASK, "seed": "-1"},
        files={"tests_file": ("t.py", b"assert double(21) == 42", "text/plain")},
    )
    assert "assert double(21) == 42</textarea>" in page.text


def test_it_is_for_those_who_may_build(place: Site) -> None:
    viewer = place.signed_in("vera", "viewer")
    assert viewer.get("/runs/new").status_code == 403
    csrf = csrf_in(viewer.get("/runs"))
    assert viewer.post("/runs", data={"csrf": csrf, "task": TASK}).status_code == 403


def test_it_is_told_what_it_costs_and_takes(browser: TestClient) -> None:
    page = browser.get("/runs/new?task=a+%3Cb%3E").text
    assert "No worker takes runs now" in page
    assert "none before: the budget" in page
    assert "no money" in page
    assert "a &lt;b&gt;</textarea>" in page
    told = browser.get("/runs/new.json").json()
    assert told["workers"] == 0


def test_the_most_that_a_run_costs() -> None:
    assert cost_in_words({}, 10, 0) == "no money: every model that is asked is local"
    assert "at most 2.00 USD" in cost_in_words({"openai:x": 9.0}, 10, 2.0)
    told = cost_in_words({"openai:x": 9.0, "google:y": 1.0, "anthropic:z": None}, 60_000, 0)
    assert "at most about 9.00 USD: all 60,000 tokens at the highest price, of openai:x" in told
    assert "nobody knows the price of anthropic:z" in told


def test_the_most_that_models_cost() -> None:
    def asked(*endpoints: Endpoint) -> Offer:
        choice = Choice(endpoints=endpoints, why="set")
        return Offer(available=Available(), routes={(1, "slow"): choice, (2, "slow"): choice})

    local = Endpoint(provider="embedded", model="x")
    dear = Endpoint(provider="openai", model="gpt-4o")
    strange = Endpoint(provider="google", model="nobody-heard-of-it")
    assert most_usd(asked(local), 1000, PriceList()) == {}
    found = most_usd(asked(dear, strange, local), 1_000_000, PriceList())
    assert found["google:nobody-heard-of-it"] is None
    assert (found["openai:gpt-4o"] or 0) > 5
    assert list(found) == ["google:nobody-heard-of-it", "openai:gpt-4o"]


def test_how_long_runs_of_a_kind_took() -> None:
    found = {each.kind: each for each in usual([("cli", 10.0), ("cli", 50.0), ("cli", 20.0)])}
    assert (found["cli"].seconds, found["cli"].runs) == (20.0, 3)
    assert found["service"].runs == 0


def test_a_form_knows_whether_more_was_said() -> None:
    assert FIELDS[0] == "task"
    assert not Typed(texts={"task": "x"}, problems={"task": "too short"}).more
    assert Typed(texts={"task": "x", "seed": "1"}).more
    assert Typed(problems={"spec": "x"}).more
    wanted, problems = wanted_in(Typed(texts={"task": "x y"}, problems={"spec": "z"}))
    assert (wanted, problems) == (None, {})
