"""The page that finds things by words."""

from dataclasses import replace
from pathlib import Path

from tests.unit.web.test_overview import EVIL, begun, incident
from tests.web_clients import site
from twinsmith.core.operating.app import App
from twinsmith.core.people.approval import ApprovalRequest, Decision, Dossier
from twinsmith.core.progress import Progress
from twinsmith.web.console.search import (
    MOST,
    found_apps,
    found_incidents,
    found_requests,
    found_runs,
    group,
    has,
)
from twinsmith.wiring.delivering import apps_of

REQUEST = ApprovalRequest(
    id="r-1.a1",
    run="r-1",
    app="cart",
    by="user:ann",
    dossier=Dossier(what="deploy cart", occasions=()),
    asked="2026-11-18T10:00:00+00:00",
    until="2026-11-19T10:00:00+00:00",
)


def test_every_word_has_to_be_there_however_it_is_written() -> None:
    assert has("CART shop", "a shopping cart")
    assert has("straße", "STRASSE 1")
    assert not has("cart rust", "a shopping cart")


def test_runs_apps_requests_and_incidents_are_found_by_what_they_are_about() -> None:
    runs = [Progress(run="r-1", task="a shopping cart"), Progress(run="r-2", task="csv")]
    assert [each.page for each in found_runs("cart", runs)] == ["/runs/r-1"]
    apps = [App(name="cart", host="local", port=8100, serving=2)]
    assert [(each.page, each.state) for each in found_apps("8100", apps)] == [
        ("/apps/cart", "serving")
    ]
    decided = Decision(said="reject", by="user:bob", at="t", note="too late")
    told = list(found_requests("cart", [REQUEST, replace(REQUEST, decision=decided)]))
    assert [each.state for each in told] == ["waiting", "reject"]
    assert list(found_requests("late", [REQUEST])) == []
    assert [each.page for each in found_incidents("memory grows", [incident()])] == [
        "/incidents/i-1"
    ]


def test_not_too_much_of_a_kind_is_shown_but_all_of_it_counted() -> None:
    runs = [Progress(run=f"r-{n}", task="csv") for n in range(MOST + 5)]
    found = group("Runs", "/runs?q=csv", found_runs("csv", runs))
    assert (len(found.items), found.count) == (MOST, MOST + 5)


def test_what_is_found_is_grouped_and_escaped(tmp_path: Path) -> None:
    place = site(tmp_path)
    begun(place, "20261118-101500-a3f9", f"cart {EVIL}")
    apps_of(place.settings).save(App(name="cart", host="local", port=8100))
    browser = place.signed_in("ann", "viewer")
    page = browser.get("/search", params={"q": "cart"}).text
    assert EVIL not in page
    assert "1 run" in page
    assert "1 app" in page
    assert 'href="/knowledge?q=cart"' in page
    data = browser.get("/search.json", params={"q": "cart"}).json()
    assert [each["count"] for each in data["groups"]] == [1, 1, 0, 0]


def test_nothing_found_and_nothing_asked_say_so(tmp_path: Path) -> None:
    browser = site(tmp_path).signed_in("ann", "viewer")
    nothing = browser.get("/search", params={"q": EVIL}).text
    assert EVIL not in nothing
    assert "Nothing has" in nothing
    assert "Every word has to be there" in browser.get("/search").text
