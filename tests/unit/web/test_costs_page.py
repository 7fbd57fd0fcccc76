"""The page of costs and the API behind it; who may let a run pass a budget."""

from pathlib import Path

import pytest

from tests.replies import REPLY
from tests.unit.web.test_overview import EVIL, begun, told
from tests.web_clients import BASE, Site, csrf_in, site
from twinsmith.client import Client
from twinsmith.core.costs.allowance import Payer, allowance_in, bounds_of, question_id
from twinsmith.core.costs.report import CostRow
from twinsmith.core.people.question import PersonalQuestion, QuestionRecord
from twinsmith.web.console.costs import curves
from twinsmith.wiring.people import questions_of

MODEL = "openai:gpt-4o"


def spent(place: Site, run: str, *, usd: float = 0.5, model: str = MODEL) -> None:
    begun(place, run, "double a number")
    told(place, run, "model.replied", {**REPLY, "model": model, "usd": usd})


def money_question(place: Site, run: str) -> str:
    (bound,) = bounds_of(
        [allowance_in("day 1 usd")], Payer(run=run), "2026-11-19T10:00:00+00:00", {}
    )
    asked = PersonalQuestion(
        id=question_id(run, bound), run=run, text=EVIL, assumed="stop", choices=("go on", "stop")
    )
    begun(place, run, "double a number")
    record = QuestionRecord(
        question=asked, asked="2026-11-19T10:00:00+00:00", until="2999-01-01T10:00:00+00:00"
    )
    questions_of(place.settings).put(record)
    return asked.id


def test_before_the_first_run_the_page_teaches(tmp_path: Path) -> None:
    page = site(tmp_path).signed_in("ann", "viewer").get("/costs")
    assert page.status_code == 200
    assert "Nothing was spent yet" in page.text


def test_the_page_tells_what_was_spent(tmp_path: Path) -> None:
    place = site(tmp_path)
    spent(place, "r-1", usd=0.5)
    spent(place, "r-2", usd=0.25, model=f"openai:{EVIL}")
    browser = place.signed_in("ann", "viewer")
    page = browser.get("/costs?by=model").text
    assert EVIL not in page
    assert "0.75 USD" in page
    assert "no known price" in page
    data = browser.get("/costs.json?by=person").json()
    assert [(each["calls"], each["usd"]) for each in data["rows"]] == [(2, 0.75)]
    assert {each["model"] for each in data["prices"]} >= {MODEL}
    assert browser.get("/costs?by=moon").status_code == 400


def test_the_api_and_its_client_tell_the_same(tmp_path: Path) -> None:
    place = site(tmp_path)
    spent(place, "r-1")
    header = place.key("ann", "viewer")
    told = place.client.get("/api/v1/costs?by=role", headers=header).json()
    assert [each["name"] for each in told["rows"]] == ["coder"]
    assert place.client.get("/api/v1/costs?since=x", headers=header).status_code == 400
    assert place.client.get("/api/v1/costs?by=x", headers=header).status_code in (400, 422)
    key = header["authorization"].removeprefix("Bearer ")
    with Client(BASE, key, transport=place.client._transport) as client:
        found = client.known.costs("role")
        assert (found.rows[0].name, found.total.tokens) == ("coder", told["total"]["tokens"])


@pytest.mark.parametrize(
    ("role", "status"),
    [("viewer", 403), ("developer", 403), ("operator", 403), ("approver", 200), ("admin", 200)],
)
def test_who_may_let_a_run_pass_a_budget(tmp_path: Path, role: str, status: int) -> None:
    place = site(tmp_path)
    name = money_question(place, "r-1")
    header = place.key("ann", role)  # type: ignore[arg-type]
    said = {"text": "go on"}
    for kind in ("questions", "budgets"):
        answer = place.client.post(f"/api/v1/{kind}/{name}/answer", json=said, headers=header)
        if status == 403:
            assert answer.status_code == 403
    record = questions_of(place.settings).get(name)
    assert record is not None
    assert (record.answer is not None) == (status == 200)


def test_the_inbox_lets_those_answer_who_may(tmp_path: Path) -> None:
    place = site(tmp_path)
    name = money_question(place, "r-1")
    form = f'action="/budgets/{name}/answer"'
    assert form not in place.signed_in("ben", "developer").get("/approvals").text
    browser = place.signed_in("ann", "approver")
    page = browser.get("/approvals")
    assert form in page.text
    assert EVIL not in page.text
    data = {"csrf": csrf_in(page), "text": "go on"}
    done = browser.post(f"/budgets/{name}/answer", data=data, follow_redirects=False)
    assert done.status_code == 303
    record = questions_of(place.settings).get(name)
    assert record is not None
    assert record.answer is not None
    assert (record.answer.text, record.answer.by) == ("go on", "user:ann")


def test_curves_need_two_days() -> None:
    def row(day: str, usd: float) -> CostRow:
        return CostRow(
            name=day,
            calls=1,
            cached=0,
            tokens_in=1,
            tokens_out=1,
            tokens=2,
            seconds=0,
            usd=usd,
            unpriced=0,
            watt_hours=0,
            power_usd=0,
        )

    assert curves([row("2026-11-18", 1.0)]) == ()
    found = curves([row("2026-11-18", 1.0), row("2026-11-19", 3.0)])
    assert [(name, drawn.last, drawn.most) for name, _, drawn in found] == [
        ("cost", 3.0, 3.0),
        ("tokens", 2.0, 2.0),
    ]
