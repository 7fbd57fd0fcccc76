"""The inbox, a request, editing it, the queue, the override: what is shown and what is done."""

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.waiting import DIFF, ESCAPED, HOSTILE, SHOP, app, asked, question, queued
from tests.web_clients import Site, csrf_in, site
from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.action import Action, Queued, Terms
from twinsmith.core.operating.app import App
from twinsmith.core.people.approval import Decision
from twinsmith.core.people.override import Override
from twinsmith.runs.approvals import request_named
from twinsmith.runs.override import overrides
from twinsmith.web.console.approval_edit import Typed, changed_terms, changes
from twinsmith.web.console.dossier import approving, changes_in, sign_of, size_of
from twinsmith.web.console.held import Reach, consequence, reached
from twinsmith.wiring.delivering import approvals_of, overrides_of

RUN = "20261118-101500-aaaa"
AT = "2026-11-18T10:00:00+00:00"
HELD = Override(scope="shop", kind="pause", reason=HOSTILE, by="user:ann", at=AT)
PLACES = ("/approvals", "/approvals?all=1", f"/approvals/{RUN}.a1", f"/approvals/{RUN}.a1/edit")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A server on which much waits for people."""
    made = site(tmp_path_factory.mktemp("site"))
    asked(made, RUN, by="user:ann")
    asked(made, "20261118-101500-bbbb", ago=7200.0, within=-60.0)
    question(made, 1)
    question(made, 2, "yes", HOSTILE)
    app(made, "shop")
    queued(made, RUN, "asking")
    queued(made, "20261118-101500-cccc", "running")
    queued(made, "20261118-101500-dddd", "queued")
    overrides_of(made.settings).put(HELD)
    return made


@pytest.fixture(scope="module")
def admin(place: Site) -> TestClient:
    return place.signed_in("root", "admin")


def decided(place: Site, name: str) -> Decision:
    decision = request_named(place.book, name).decision
    assert decision is not None
    return decision


@pytest.mark.parametrize("address", PLACES)
def test_what_a_model_or_a_person_wrote_is_shown_as_text(admin: TestClient, address: str) -> None:
    page = admin.get(address)
    assert page.status_code == 200
    assert HOSTILE not in page.text
    if not address.endswith("/edit"):
        assert ESCAPED in page.text
    assert admin.get(f"{address.partition('?')[0]}.json").status_code == 200


def test_the_inbox_shows_what_waits_and_what_happens_otherwise(admin: TestClient) -> None:
    page = admin.get("/approvals").text
    assert "1 request for your word" in page
    assert "rejected <time" in page
    assert "2 questions" in page
    assert f'href="/approvals/{RUN}.a1"' in page
    assert "bbbb.a1" not in page, "nobody can answer it any more"
    assert "nobody answered: rejected" in admin.get("/approvals?all=1").text


def test_the_queue_tells_what_is_waited_for(admin: TestClient, place: Site) -> None:
    assert "its hold to be lifted" in admin.get("/approvals").text
    overrides_of(place.settings).lift("shop", "now")
    try:
        page = admin.get("/approvals").text
        assert "a person's word" in page.replace("&#39;", "'")
        assert 'deploy <a href="/runs/20261118-101500-cccc">' in page
    finally:
        overrides_of(place.settings).put(HELD)


def test_buttons_are_there_for_those_only_who_may_press_them(place: Site) -> None:
    viewer, approver = place.signed_in("vera", "viewer"), place.signed_in("ada", "approver")
    shown = viewer.get("/approvals").text
    assert "You may not override" in shown
    assert "/overrides" not in shown
    assert "/cancel" not in shown
    one = viewer.get(f"/approvals/{RUN}.a1").text
    assert "You may look at this" in one
    assert "/approve" not in one.replace("/approvals", "")
    assert viewer.get(f"/approvals/{RUN}.a1/edit").status_code == 403
    assert 'data-key="a"' in approver.get(f"/approvals/{RUN}.a1").text


def test_a_request_is_approved_and_rejected_by_forms(tmp_path: Path) -> None:
    place = site(tmp_path)
    first, second = asked(place, RUN), asked(place, "20261118-101500-eeee")
    browser = place.signed_in("ada", "approver")
    csrf = csrf_in(browser.get(f"/approvals/{first.id}"))
    done = browser.post(
        f"/approvals/{first.id}/approve",
        data={"csrf": csrf, "note": "seen"},
        headers={"referer": f"http://127.0.0.1:8400/approvals/{first.id}"},
    )
    assert "approved" in done.text
    assert second.id in done.text, "the next one that is open"
    assert (decided(place, first.id).said, decided(place, first.id).by) == ("approve", "user:ada")
    empty = browser.post(f"/approvals/{second.id}/reject", data={"csrf": csrf})
    assert empty.status_code == 422
    browser.post(f"/approvals/{second.id}/reject", data={"csrf": csrf, "reason": "not now"})
    assert (decided(place, second.id).said, decided(place, second.id).note) == ("reject", "not now")
    late = browser.post(f"/approvals/{second.id}/approve", data={"csrf": csrf})
    assert "Not done: request" in late.text


def test_whoever_asked_may_not_decide_where_the_policy_says_so(tmp_path: Path) -> None:
    place = site(tmp_path)
    policy = place.settings.values.approvals.model_copy(update={"own": False})
    values = place.settings.values.model_copy(update={"approvals": policy})
    place.app.state.office.book.settings = replace(place.settings, values=values)
    mine = asked(place, RUN, by="user:ada")
    browser = place.signed_in("ada", "approver")
    page = browser.get(f"/approvals/{mine.id}")
    assert "ada asked for it" in page.text
    assert browser.get(f"/approvals/{mine.id}/edit").status_code == 403


def test_an_edited_source_goes_back_whole_and_what_was_typed_is_never_lost(tmp_path: Path) -> None:
    place = site(tmp_path)
    request = asked(place, RUN)
    browser = place.signed_in("ada", "approver")
    page = browser.get(f"/approvals/{request.id}/edit")
    assert "a shop" in page.text
    sent = {
        "csrf": csrf_in(page),
        "file:solution.py": "print('a better shop')\r\n",
        "file:store.py": "KEPT = {}\r\n",
        "file:requirements.txt": "flask\r\n",
        "term:memory_mb": "3",
        "note": f"mine {HOSTILE}",
    }
    wrong = browser.post(f"/approvals/{request.id}/modify", data=sent)
    assert wrong.status_code == 400
    assert "Memory in MB: 3.0 cannot be" in wrong.text
    assert "a better shop" in wrong.text
    assert HOSTILE not in wrong.text
    right = browser.post(f"/approvals/{request.id}/modify", data=sent | {"term:memory_mb": "256"})
    assert "it goes through all gates again" in right.text
    kept = decided(place, request.id)
    assert kept.said == "modify"
    assert kept.terms == {"memory_mb": 256.0}
    assert kept.files is not None
    assert kept.files["solution.py"] == "print('a better shop')\n"
    assert {"store.py", "report.json", "checks.json", "openapi.json"} <= set(kept.files)
    assert browser.get(f"/approvals/{request.id}/edit").status_code == 409


def test_an_override_is_given_and_lifted_by_forms(tmp_path: Path) -> None:
    place = site(tmp_path)
    browser = place.signed_in("olga", "operator")
    csrf = csrf_in(browser.get("/approvals"))
    given = {"csrf": csrf, "command": "pause", "scope": "all"}
    assert "Not done" in browser.post("/overrides", data=given).text, "it needs a reason"
    paused = browser.post("/overrides", data=given | {"reason": "the disk is full"})
    assert "everything is held" in paused.text
    assert [each.reason for each in overrides(place.book)] == ["the disk is full"]
    browser.post("/overrides", data=given | {"command": "release", "reason": "done"})
    assert all(each.lifted for each in overrides(place.book))
    none = browser.post("/overrides", data=given | {"scope": "nothing", "reason": "x"})
    assert "is not known" in none.text
    assert place.signed_in("vera", "viewer").post("/overrides", data=given).status_code == 403


def test_an_empty_inbox_teaches(tmp_path: Path) -> None:
    page = site(tmp_path).signed_in("vera", "viewer").get("/approvals").text
    assert "Nothing waits for your word" in page
    assert "The queue is empty" in page


def test_the_size_of_a_diff() -> None:
    size = size_of(DIFF + "\n--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n+--- no head\n+++x")
    assert (size.files, size.added, size.removed) == (2, 3, 1)
    assert size_of("").files == 0
    assert sign_of("high")[1] == "bad"
    assert sign_of("unheard of")[1] == "plain"


@pytest.mark.parametrize(
    ("kind", "data", "leads", "undo"),
    [
        ("deploy", False, "10 % of requests", "roll it back"),
        ("remove", True, "its data and its secrets", "cannot be undone"),
        ("remove", False, "its data stays", "deploy it again"),
        ("rollback", False, "earlier release", "later one"),
        ("stop", False, "in its turn", "queued"),
    ],
)
def test_what_an_approval_leads_to(kind: str, data: bool, leads: str, undo: str) -> None:
    action = Action(run="r", kind=kind, app="shop", data=data)  # type: ignore[arg-type]
    told = approving(action, Terms())
    assert leads in told[0]
    assert undo in told[1]
    assert "at once" in approving(replace(action, kind="deploy"), Terms(canary_share=0))[0]
    assert approving(None, Terms())[0] == "Lets it be done, in its turn."


def test_what_was_changed_in_words() -> None:
    said = Decision(said="modify", by="user:a", at="", files={}, terms={"canary_share": 0.0})
    assert changes_in(said) == ("the source was edited", "canary_share = 0")


def test_changes_are_those_that_differ() -> None:
    from twinsmith.core.operating.modified import AskedFor

    now = AskedFor(terms=Terms(), deliverable=SHOP)
    with pytest.raises(ConfigError, match="nothing is different"):
        changes(now, Typed(files={"store.py": "KEPT = {}\r\n"}, terms={"memory_mb": " 512 "}))
    assert changed_terms(Terms(), {"battery": "0", "canary_share": ""}) == {"battery": 0.0}
    for wrong in ({"memory_mb": "much"}, {"processes": "10.5"}, {"canary_share": "51"}):
        with pytest.raises(ConfigError, match=r"no number|cannot be"):
            changed_terms(Terms(), wrong)


def test_what_an_override_reaches() -> None:
    shop = App(name="shop", host="local", port=1, serving=3, good=2)
    other = replace(shop, name="cart", good=3)
    queue = [
        Queued(run=f"r{n}", app=name, kind="stop", state="queued")
        for n, name in enumerate(("shop", "shop", "cart"))
    ]
    every = Override(scope="all", kind="pause", reason="x", by="user:a", at="3")
    own = Override(scope="shop", kind="cancel", reason="x", by="user:a", at="2")
    all_of_it = reached("all", [shop, other], queue, [])
    assert "2 apps and 3 actions" in consequence("pause", all_of_it)
    mine = reached("shop", [shop, other], queue, [own, every])
    assert (mine.own, mine.override) == (True, every)
    assert not reached("cart", [shop, other], queue, [own, every]).own
    assert not reached("shop", [shop], queue, [replace(own, lifted="now")]).own
    assert "Cancels 2 actions of shop" in consequence("cancel", mine)
    assert "release 2, the last one known to be good," in consequence("rollback", mine)
    late = Reach(scope="cart", apps=(other,), actions=(), override=None)
    assert "the release before 3" in consequence("rollback", late)
    assert "Lifts what holds shop" in consequence("release", mine)


def test_a_later_request_of_a_run_starts_from_what_was_changed_before(tmp_path: Path) -> None:
    from twinsmith.runs.approvals import release_of

    place = site(tmp_path)
    first = asked(place, RUN, ago=100.0)
    said = Decision(said="modify", by="user:a", at=AT, terms={"canary_share": 0.0})
    approvals_of(place.settings).decide(first.id, said)
    second = asked(place, RUN, ago=50.0, number=2)
    assert release_of(place.book, second).terms.canary_share == 0
    assert release_of(place.book, first).terms.canary_share == 10
    page = place.signed_in("ada", "approver").get(f"/approvals/{first.id}").text
    assert f'href="/approvals/{second.id}"' in page
    assert "canary_share = 0" in page
