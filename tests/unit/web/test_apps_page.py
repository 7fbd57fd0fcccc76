"""The list of apps and the page of one: what is shown, to whom, and what its buttons do."""

import asyncio
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.troubled import ESCAPED, HOSTILE, INCIDENT, incident, reading, release, troubled
from tests.web_clients import BASE, Site, csrf_in, site
from tests.worlds import job_of
from twinsmith.core.operating.action import Action
from twinsmith.core.operating.app import App
from twinsmith.core.operating.instance import HOSTS, InstanceStatus
from twinsmith.core.people.override import Override
from twinsmith.runs import apps as known
from twinsmith.runs.apps import AppView
from twinsmith.runs.health import AppHealth
from twinsmith.web.console.app import comparison
from twinsmith.web.console.apps import busy, state_of, under_way
from twinsmith.web.pages import part, templates
from twinsmith.wiring.delivering import overrides_of

CART = App(name="cart", host="local", port=8101, serving=3, good=1)
RUNS = InstanceStatus(name="cart-3", state="running")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A server with apps, one of them in trouble."""
    made = site(tmp_path_factory.mktemp("site"))
    troubled(made, time.time())
    return made


@pytest.fixture(scope="module")
def operator(place: Site) -> TestClient:
    return place.signed_in("olga", "operator")


def health(app: App = CART, *, ago: float | None = 1.0, incidents: bool = False) -> AppHealth:
    """How an app does that gets twelve requests a second."""
    seen = tuple(reading(1_795_000_000.0 + second) for second in range(30))
    trouble = (incident(0.0),) if incidents else ()
    return AppHealth(app=app, readings=seen, incidents=trouble, ago=ago)


def view(app: App = CART, status: InstanceStatus | None = RUNS, problem: str = "") -> AppView:
    return AppView(app=app, status=status, override=None, problem=problem, under_way=("r-1",))


def test_the_host_and_the_monitor_together_tell_the_state() -> None:
    assert state_of(view(), health()) == "well"
    assert state_of(view(), health(incidents=True)) == "needs a person"
    assert state_of(view(), health(ago=None)) == "running"
    assert state_of(view(status=None, problem="no docker"), health()) == "unknown"
    fresh = replace(CART, serving=0)
    assert state_of(view(fresh, None), health(fresh, ago=None)) == "never served"


def test_how_busy_an_app_is_is_told_only_where_somebody_counts() -> None:
    assert busy(health()) == "12 requests/s now"
    assert busy(health(ago=None)) == "nobody counts its requests just now"
    assert busy(health(replace(CART, wanted="stopped"))) == "it is stopped"
    assert busy(health(replace(CART, serving=0))) == "nothing serves yet"
    idle = [reading(1_795_000_000.0 + second, requests=0) for second in range(30)]
    assert busy(replace(health(), readings=tuple(idle))) == "no requests now"
    few = [reading(1_795_000_000.0 + second, requests=second % 2) for second in range(30)]
    assert busy(replace(health(), readings=tuple(few))) == "0.5 requests/s now"


def test_an_action_that_no_worker_has_taken_is_under_way_all_the_same() -> None:
    mine = Action(run="r-2", kind="stop", app="cart")
    found = under_way(view(), [(mine, "queued"), (replace(mine, app="old"), "driven")])
    assert [(each.run, each.title, each.state) for each in found] == [
        ("r-2", "stop cart", "queued"),
        ("r-1", "", ""),
    ]


def test_a_release_is_compared_with_the_one_that_served_before_it() -> None:
    releases = [release(1, "replaced", 1.0), release(2, "rolled back", 2.0, parent=1)]
    releases.append(release(3, "serving", 3.0, parent=1))
    third = comparison(releases, "3")
    assert third is not None
    assert (third.new, third.old) == (3, 1)
    assert "-print(1)" in third.text
    assert "+print(3)" in third.text
    first = comparison(releases, "1")
    assert first is not None
    assert (first.old, first.cut) == (0, False)
    assert comparison(releases, "7") is None
    assert comparison(releases, "") is None


def test_apps_in_trouble_come_first_with_what_they_do(operator: TestClient) -> None:
    page = operator.get("/apps").text
    assert "1 incident not over" in page
    assert page.index(f"/incidents/{INCIDENT}") < page.index("3 apps")
    listed = page[page.index("3 apps") :]
    assert listed.index("/apps/cart") < listed.index("/apps/new") < listed.index("/apps/old")
    assert "requests: 12 /s last" in listed
    assert "<polyline" in listed
    assert "needs a person" in listed
    assert "never served" in listed
    told = operator.get("/apps.json").json()
    assert told["health"]["cart"] == "needs a person"


def test_no_apps_teach_how_there_will_be_one(tmp_path: Path) -> None:
    page = site(tmp_path).signed_in("ann", "viewer").get("/apps").text
    assert "twinsmith deploy RUN" in page
    assert 'href="/runs?state=solved"' in page


@pytest.mark.parametrize("address", ["/apps", "/apps/cart?diff=4", "/apps/new", "/apps/old"])
def test_nothing_of_a_page_is_markup_but_its_own(operator: TestClient, address: str) -> None:
    page = operator.get(address)
    assert page.status_code == 200
    assert HOSTILE not in page.text
    assert " style=" not in page.text
    assert page.text.count("<svg") == page.text.count("</svg>")
    assert 'role="img"' in page.text or "cart" not in address
    if "cart" in address:
        assert ESCAPED in page.text


def test_the_page_of_an_app_tells_all_of_it(operator: TestClient) -> None:
    page = operator.get("/apps/cart").text
    for words in ("release 3", "The last 10 minutes", "12 requests/s now", "Releases", "Log"):
        assert words in page
    assert page.count('class="mark ') >= 7, "marks go through every row"
    assert "The same as a table" in page
    assert "restart cart by ann (done)" in page
    told = operator.get("/apps/cart.json").json()
    assert [each["number"] for each in told["releases"]] == [4, 3, 2, 1]
    assert told["figures"]["names"][0] == ["requests", "/s"]
    assert "source" in told["releases"][0]
    assert "deliverable" not in told["releases"][0]


def test_a_span_is_chosen_by_its_address(operator: TestClient) -> None:
    assert "One row for each 2 min" in operator.get("/apps/cart?span=1h").text
    assert "The last day" in operator.get("/apps/cart?span=1d").text
    assert "The last 10 minutes" in operator.get("/apps/cart?span=9y").text


def test_a_diff_is_shown_where_it_is_asked_for(operator: TestClient) -> None:
    page = operator.get("/apps/cart?diff=3").text
    assert "What release 3 changes in release 1" in page
    assert "<ins>+<span" in page
    assert "+print(3)" in re.sub(r"<[^>]+>", "", page)
    assert "What release 3" not in operator.get("/apps/cart").text


def test_what_cannot_be_read_says_why(operator: TestClient) -> None:
    assert "No release serves yet" in operator.get("/apps/new").text
    assert "never served" in operator.get("/apps/new").text
    assert "is stopped: there was nothing to look at" in operator.get("/apps/old").text
    missing = operator.get("/apps/nothing", headers={"accept": "text/html"})
    assert missing.status_code == 404
    told = part("app_log", app=CART, log="", problem=f"Its host cannot be asked: {HOSTILE}")
    assert ESCAPED in told


def test_buttons_are_there_for_those_only_who_may_press_them(
    place: Site, operator: TestClient
) -> None:
    deeds = ("/apps/cart/stop", "/apps/cart/restart", "/apps/cart/rollback", "/apps/cart/remove")
    mine = operator.get("/apps/cart").text
    theirs = place.signed_in("vera", "viewer").get("/apps/cart").text
    for deed in (*deeds, "/overrides"):
        assert f'action="{deed}"' in mine
        assert f'action="{deed}"' not in theirs
    assert "Stops release 3 of cart, 12 requests/s now" in mine
    assert "This cannot be undone" in mine
    stopped = operator.get("/apps/old").text
    assert 'action="/apps/old/start"' in stopped
    assert 'action="/apps/old/stop"' not in stopped


def test_a_hold_is_told_and_can_be_lifted(place: Site, operator: TestClient) -> None:
    held = Override(
        scope="old", kind="pause", reason=HOSTILE, by="user:ann", at="2026-11-18T10:00:00+00:00"
    )
    overrides_of(place.settings).put(held)
    page = operator.get("/apps/old").text
    assert f"(pause): {ESCAPED}" in page
    assert "Lift the hold" in page
    assert "Lift the hold" not in operator.get("/apps/cart").text


def pressed(browser: TestClient, place: str, deed: str, **form: str) -> str:
    """The notice on the page that a deed leads to."""
    token = csrf_in(browser.get(place))
    page = browser.post(deed, data={"csrf": token, **form}, headers={"referer": f"{BASE}{place}"})
    assert page.status_code == 200
    return page.text.partition('class="notice" role="status">')[2].partition("</p>")[0]


def actions(place: Site) -> list[Action]:
    return [action for action, _ in known.wanted(place.book)]


def test_deeds_are_actions_for_the_workers_with_their_reasons(tmp_path: Path) -> None:
    place = site(tmp_path)
    troubled(place, time.time())
    browser = place.signed_in("olga", "operator")
    told = pressed(browser, "/apps/cart", "/apps/cart/stop", reason=f"it leaks {HOSTILE}")
    assert told.startswith("stop cart: run ")
    (stop,) = actions(place)
    assert f"/runs/{stop.run}" in told
    assert (stop.kind, stop.app, stop.by) == ("stop", "cart", "user:olga")
    assert stop.about == (f"olga: it leaks {HOSTILE}",)
    assert "stop cart" in browser.get("/apps/cart").text, "it is under way"
    pressed(browser, "/apps/cart", "/apps/cart/restart")
    pressed(browser, "/apps/cart", "/apps/cart/rollback", to="2", reason="worse")
    pressed(browser, "/apps/cart", "/apps/cart/remove", data="true", reason="nobody needs it")
    pressed(browser, "/apps/old", "/apps/old/start")
    found = {(each.kind, each.app, each.to, each.data) for each in actions(place)}
    assert found == {
        ("stop", "cart", 0, False),
        ("restart", "cart", 0, False),
        ("rollback", "cart", 2, False),
        ("remove", "cart", 0, True),
        ("start", "old", 0, False),
    }


def test_what_cannot_be_done_is_told_and_not_done(place: Site, operator: TestClient) -> None:
    assert "needs a reason" in pressed(operator, "/apps/cart", "/apps/cart/stop")
    assert "no release 9" in pressed(
        operator, "/apps/cart", "/apps/cart/rollback", to="9", reason="x"
    )
    assert "has never served" in pressed(operator, "/apps/cart", "/apps/new/restart")
    assert actions(place) == []


def test_the_form_to_deploy_names_every_host_and_escapes_its_run() -> None:
    macro = '{% from "deploy_form.html" import deploy_form %}{{ deploy_form(run, hosts) }}'
    made = templates().from_string(macro).render(run=f'r-1"{HOSTILE}')
    assert HOSTILE not in made
    for host in HOSTS:
        assert f"<option>{host}</option>" in made


def solved(place: Site, folder: Path, kind: str) -> str:
    """A run whose result lies in a folder."""
    folder.mkdir()
    (folder / "solution.py").write_text("print('a shop')\n")
    (folder / "report.json").write_text(json.dumps({"run": "r-0", "kind": kind, "task": "a shop"}))
    job = replace(job_of(), run="20261118-080000-a3f9", out=str(folder))
    place.book.keep(job)
    asyncio.run(place.book.tell_started(job))
    asyncio.run(place.book.end(job.run, "solved", {}))
    return job.run


def test_a_run_becomes_an_app_from_its_page(tmp_path: Path) -> None:
    place = site(tmp_path)
    run = solved(place, tmp_path / "result", "service")
    browser = place.signed_in("dora", "developer")
    page = browser.get(f"/runs/{run}").text
    assert f'action="/runs/{run}/deploy"' in page
    assert f"/runs/{run}/deploy" not in place.signed_in("vera", "viewer").get(f"/runs/{run}").text
    told = pressed(
        browser, f"/runs/{run}", f"/runs/{run}/deploy", name="shop", host="podman", replace="true"
    )
    assert told.startswith("deploy shop: run ")
    (wanted,) = actions(place)
    assert (wanted.kind, wanted.app, wanted.host, wanted.port) == ("deploy", "shop", "podman", 0)
    assert wanted.replace
    assert wanted.deliverable is not None
    assert wanted.by == "user:dora"


def test_what_is_no_service_is_not_deployed(tmp_path: Path) -> None:
    place = site(tmp_path)
    run = solved(place, tmp_path / "result", "cli")
    browser = place.signed_in("dora", "developer")
    told = pressed(browser, f"/runs/{run}", f"/runs/{run}/deploy", name="shop", port="")
    assert "only services are deployed" in told
    assert "Not done" in pressed(browser, f"/runs/{run}", f"/runs/{run}/deploy", host="moon")
    assert actions(place) == []
