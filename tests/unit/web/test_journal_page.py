"""The journal: filtered, in pages, linked, verified, anchored; what it holds is shown as text."""

import asyncio
import sqlite3
from pathlib import Path
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from tests.waiting import ESCAPED, HOSTILE
from tests.web_clients import Site, csrf_in, site
from twinsmith.core.anchor import anchors_in
from twinsmith.core.events import SYSTEM, Entry, Event, Json
from twinsmith.web.console.journal import MOST, gist_of, line_of, links_of

RUN = "20261118-101500-aaaa"


def tell(place: Site, kind: str, data: dict[str, Json], run: str = SYSTEM) -> None:
    asyncio.run(place.book.tell(run, kind, data))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A server whose journal has more lines than a page."""
    made = site(tmp_path_factory.mktemp("site"))
    for number in range(MOST + 5):
        tell(made, "run.started", {"run": RUN, "task": f"{number} {HOSTILE}", "app": "shop"})
    tell(made, f"kind.{HOSTILE}", {HOSTILE: HOSTILE, "run": HOSTILE, "app": 'x"><b>'})
    tell(made, "stage.started", {"stage": "plan"}, run=RUN)
    return made


@pytest.fixture(scope="module")
def auditor(place: Site) -> TestClient:
    return place.signed_in("ada", "approver")


@pytest.mark.parametrize(
    "address",
    [
        "/journal",
        "/journal/verify",
        f"/journal?run={RUN}",
        "/journal?who=<script>alert(1)</script>",
    ],
)
def test_what_was_written_is_shown_as_text(auditor: TestClient, address: str) -> None:
    page = auditor.get(address)
    assert page.status_code == 200
    assert HOSTILE not in page.text
    assert "<b>" not in page.text.replace("<b>✕", "")


def test_it_is_for_those_who_may_audit(place: Site) -> None:
    browser = place.signed_in("vera", "viewer")
    assert browser.get("/journal").status_code == 403
    assert browser.get("/journal/verify").status_code == 403
    csrf = csrf_in(browser.get("/runs"))
    assert browser.post("/journal/anchor", data={"csrf": csrf}).status_code == 403


def test_pages_follow_one_another_without_a_gap(auditor: TestClient) -> None:
    first = auditor.get("/journal.json?kind=run.").json()
    assert len(first["items"]) == MOST
    page = auditor.get("/journal?kind=run.").text
    assert f"cursor={first['next']}" in page
    second = auditor.get(f"/journal.json?kind=run.&cursor={first['next']}").json()
    assert [each["seq"] for each in second["items"]] == sorted(
        (each["seq"] for each in second["items"]), reverse=True
    )
    assert second["items"][0]["seq"] < first["items"][-1]["seq"]
    assert len(second["items"]) == 5
    assert not second["next"]
    assert "No line is like that" in auditor.get("/journal?kind=nothing.").text


def test_a_wrong_filter_is_told_and_kept(auditor: TestClient) -> None:
    page = auditor.get("/journal?since=yesterday&kind=run.")
    assert page.status_code == 200
    assert "is no time" in page.text
    assert 'value="yesterday"' in page.text
    assert "is not known" in auditor.get("/journal?run=nothing").text
    assert auditor.get("/journal?cursor=x").status_code == 200


def test_lines_of_a_run_and_an_export_of_what_is_filtered(auditor: TestClient) -> None:
    page = auditor.get(f"/journal?run={RUN}").text
    assert "stage.started" in page
    assert f"/api/v1/journal/export?run={RUN}" in page
    assert f'href="/journal/verify?run={RUN}"' in page
    sent = auditor.get(f"/api/v1/journal/export?run={RUN}")
    assert sent.status_code == 200
    assert len(sent.text.splitlines()) == 1


def test_an_anchor_is_shown_on_the_page_that_answers(auditor: TestClient) -> None:
    csrf = csrf_in(auditor.get("/journal"))
    page = auditor.post("/journal/anchor", data={"csrf": csrf})
    line = page.text.split('<pre class="log" tabindex="0">')[1].split("</pre>")[0]
    assert anchors_in(line)[0].lines > MOST
    assert line not in auditor.get("/journal").text


def test_a_broken_chain_is_named_with_its_line_and_the_reason(tmp_path: Path) -> None:
    place = site(tmp_path)
    browser = place.signed_in("ada", "approver")
    tell(place, "stage.started", {"stage": "plan"}, run=RUN)
    tell(place, "stage.started", {"stage": "code"}, run=RUN)
    whole = browser.get("/journal/verify").text
    assert "Every hash holds" in whole
    found = [each for each in place.settings.home.rglob("*.jsonl") if RUN in str(each)]
    if found:
        found[0].write_text(found[0].read_text().replace("plan", "plot"))
    else:
        alter(place.settings.home)
    page = browser.get("/journal/verify").text
    assert "1 chain broken" in page
    assert "✕ line 1 was altered" in page
    assert browser.get("/journal/verify.json").json()["ok"] is False


def alter(home: Path) -> None:
    """Change a line of a journal that is kept in a database."""
    for each in home.rglob("*.db"):
        with sqlite3.connect(each) as connection:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
            for table in tables:
                if "journal" in table and "head" not in table:
                    connection.execute(f"UPDATE {table} SET line = replace(line, 'plan', 'plot')")


def entry(kind: str, data: dict[str, Json]) -> Entry:
    return Entry(
        seq=1,
        at="2026-11-18T10:00:00+00:00",
        event=Event(run=SYSTEM, kind=kind, who="user:a", data=data),
        prev="",
        hash="0" * 64,
    )


def test_an_entry_leads_to_what_it_is_about() -> None:
    found = links_of(
        entry("person.acted", {"about": {"run": "r-1"}, "app": "a b/c", "from": "r-1"})
    )
    assert {each.address for each in found} == {"/runs/r-1", "/apps/a%20b%2Fc"}
    (one,) = links_of(entry("approval.asked", {"id": "r-1.a1"}))
    assert (one.word, unquote(one.address)) == ("request", "/approvals/r-1.a1")
    assert links_of(entry("user.added", {"id": "x", "run": 3, "app": ""})) == ()


def test_the_gist_of_an_entry() -> None:
    assert gist_of(entry("x", {"task": "a\n b", "reason": "c", "other": "d"})) == "a b, c"
    assert len(gist_of(entry("x", {"task": "a" * 900}))) < 130
    assert line_of(entry("x", {"n": [1, {"ä": None}]})).data.count("\n") > 3
    assert ESCAPED not in gist_of(entry("x", {"text": HOSTILE}))
