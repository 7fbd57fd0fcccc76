"""Who may do what: every role at every route, and whoever is not known."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from tests.web_clients import BASE, PASSWORD, Site, csrf_in, site
from twinsmith.core.events import SYSTEM
from twinsmith.core.people.role import PERMISSIONS, PERMITTED, ROLES, Role
from twinsmith.runs import accounts
from twinsmith.web.guard import Guarded, needs, rule_of
from twinsmith.web.welcome import OVER, as_long_as_welcome
from twinsmith.wiring.identity import identity_of

FILLED = {"run": "nowhere", "number": "7", "name": "style.css"}
OPEN = {
    ("GET", "/api/v1/health"),
    ("GET", "/static/{name}"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("GET", "/welcome"),
    ("POST", "/welcome"),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site(tmp_path_factory.mktemp("site"))


def address(route: APIRoute) -> str:
    """An address of a route, about things that are not there."""
    return re.sub(r"{(\w+)(?::\w+)?}", lambda found: FILLED.get(found[1], "nothing"), route.path)


def is_stream(route: APIRoute) -> bool:
    return route.path.startswith("/live") or route.path.endswith("/events")


def test_every_route_has_a_rule_and_strangers_see_only_the_entrance(shared: Site) -> None:
    known = [(method, route) for method, route in shared.routes()]
    assert len(known) > 50
    assert {(m, r.path) for m, r in known if rule_of(r) == "open"} == OPEN
    assert {rule_of(route) for _, route in known} == {*PERMISSIONS, "open"}


def test_every_route_of_the_application_is_guarded(shared: Site) -> None:
    assert all(isinstance(route, Guarded) for route in shared.app.routes)


def test_a_route_without_a_rule_is_a_mistake_that_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    router = APIRouter(route_class=Guarded)
    with pytest.raises(AssertionError, match="/new has no rule"):
        router.get("/new")(lambda: None)
    plain = APIRouter()
    plain.get("/plain", openapi_extra=needs("read"))(lambda: None)
    monkeypatch.setattr("twinsmith.web.app.PAGES", (plain,))
    with pytest.raises(AssertionError, match="is not guarded"):
        site(tmp_path)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_at_every_route(shared: Site, role: Role) -> None:
    header = shared.key(f"the-{role}", role)
    wrong = []
    for method, route in shared.routes():
        rule = rule_of(route)
        if rule == "open" or (is_stream(route) and rule in PERMITTED[role]):
            continue
        answer = shared.client.request(
            method, address(route), headers=header, follow_redirects=False
        )
        refused = answer.status_code == 403 and f"may not {rule}" in answer.text
        if refused == (rule in PERMITTED[role]):
            wrong.append((method, route.path, rule, answer.status_code, answer.text[:200]))
        if answer.status_code >= 500 and answer.status_code != 503:
            wrong.append((method, route.path, rule, answer.status_code, answer.text[:200]))
    assert wrong == []


def test_a_stranger_gets_nothing_but_the_entrance(shared: Site) -> None:
    for method, route in shared.routes():
        if rule_of(route) == "open":
            continue
        answer = shared.client.request(method, address(route), follow_redirects=False)
        to_entrance = answer.status_code == 303 and answer.headers["location"][:7] == "/login?"
        assert answer.status_code == 401 or (method == "GET" and to_entrance), route.path
        assert not to_entrance or not route.path.startswith("/api/")


@pytest.mark.parametrize(
    "header",
    [
        "Bearer ",
        "Bearer tws_",
        "Bearer tws__",
        "Bearer tws_00000000_wrong",
        "Bearer tws_" + "a" * 5000,
        "Bearer eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJhZG1pbiJ9.",
        "Basic YWRtaW46YWRtaW4=",
        "bearer",
        "Bearer tws_\xff_\xfe",
        "tws_aaaa_bbbb",
    ],
)
def test_a_token_that_is_none_of_ours_is_refused(shared: Site, header: str) -> None:
    shared.person("somebody", "admin")
    headers = {b"authorization": header.encode("latin-1")}
    answer = shared.client.get("/api/v1/me", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_key_holds_until_it_is_revoked_over_or_its_owner_is_shut(tmp_path: Path) -> None:
    place = site(tmp_path)
    place.person("boss", "admin")
    place.person("ann", "developer")
    key, secret = await accounts.issue(place.book, "ann", "ci", ["read"], 1)
    other, _ = await accounts.issue(place.book, "ann", "other", ["read"], 1)

    def status(given: str = secret) -> int:
        headers = {"authorization": f"Bearer {given}"}
        return place.client.get("/api/v1/me", headers=headers).status_code

    assert status() == 200
    assert status(secret.replace(key.id, other.id)) == 401
    assert status(secret[:-1]) == 401
    await accounts.change(place.book, "ann", disabled=True)
    assert status() == 401
    await accounts.change(place.book, "ann", disabled=False)
    assert status() == 200
    await accounts.revoke(place.book, key.id)
    assert status() == 401


def test_a_key_may_no_more_than_its_scopes_and_makes_no_key_that_may_more(tmp_path: Path) -> None:
    place = site(tmp_path)
    header = place.key("ann", "admin", scopes=["read"])
    assert place.client.get("/api/v1/me", headers=header).json()["permissions"] == ["read"]
    assert place.client.get("/api/v1/users", headers=header).status_code == 403
    wanted = {"title": "more", "scopes": ["read", "administer"]}
    answer = place.client.post("/api/v1/keys", headers=header, json=wanted)
    assert answer.status_code == 403
    assert "administer" in answer.json()["detail"]


def test_a_form_of_another_session_or_site_does_nothing(tmp_path: Path) -> None:
    place = site(tmp_path)
    browser = place.signed_in("ann", "admin")
    token = csrf_in(browser.get("/runs"))
    form = {"csrf": "wrong"}
    assert browser.post("/logout", data=form, follow_redirects=False).status_code == 403
    assert browser.post("/logout", follow_redirects=False).status_code == 403
    evil = {"origin": "https://evil.example"}
    sent = browser.post("/logout", data={"csrf": token}, headers=evil, follow_redirects=False)
    assert sent.status_code == 403
    wanted = {"name": "eve", "roles": ["admin"]}
    assert browser.post("/api/v1/users", json=wanted).status_code == 403
    header = {"x-csrf-token": token}
    assert browser.post("/api/v1/users", json=wanted, headers=header).status_code == 201
    own = {"origin": BASE}
    left = browser.post("/logout", data={"csrf": token}, headers=own, follow_redirects=False)
    assert left.headers["location"] == "/login"
    assert browser.get("/api/v1/me").status_code == 401


def test_wrong_passwords_make_an_account_wait_and_are_told_alike(tmp_path: Path) -> None:
    place = site(tmp_path)
    place.signed_in("ann", "viewer")

    def sign_in(name: str, password: str) -> tuple[int, str]:
        sent = {"name": name, "password": password}
        answer = place.client.post("/login", data=sent, follow_redirects=False)
        return answer.status_code, re.sub(r"\bann\b|\bnobody\b", "", answer.text)

    assert sign_in("ann", "no")[0] == 401
    assert sign_in("ann", "no") == sign_in("nobody", "no")
    assert sign_in("ann", PASSWORD)[0] == 303
    for _ in range(5):
        refused = sign_in("ann", "no")
    assert "try again in 30 s" in refused[1]
    assert sign_in("ann", PASSWORD)[0] == 401
    told = [entry.event for entry in place.book.journal.entries(SYSTEM)]
    assert "user.refused" in {event.kind for event in told}
    assert PASSWORD not in str([event.data for event in told])


def test_a_cookie_is_for_this_site_alone_and_its_token_is_kept_as_a_hash(tmp_path: Path) -> None:
    place = site(tmp_path)
    browser = place.signed_in("ann", "viewer")
    token = browser.cookies["twinsmith"]
    files = [each.read_bytes() for each in place.settings.home.rglob("*") if each.is_file()]
    assert files
    assert not any(token.encode() in each for each in files)
    sent = {"name": "ann", "password": PASSWORD}
    told = place.client.post("/login", data=sent, follow_redirects=False).headers["set-cookie"]
    assert "HttpOnly" in told
    assert "SameSite=lax" in told
    secure = site(tmp_path, public="https://smith.example", proxies=("testclient",))
    secured = secure.client.post(
        "/login", data=sent, headers={"host": "smith.example"}, follow_redirects=False
    )
    assert secured.headers["set-cookie"].startswith("__Host-twinsmith=")
    assert "Secure" in secured.headers["set-cookie"]
    assert "strict-transport-security" in secured.headers


def test_who_signs_themselves_out_or_changes_their_own_roles_is_signed_out(
    tmp_path: Path,
) -> None:
    place = site(tmp_path)
    place.signed_in("boss", "admin")
    for path, form in (
        ("/settings/users/ann/sign-out", {}),
        ("/settings/users/ann/roles", {"roles": "admin"}),
    ):
        browser = place.signed_in("ann", "admin")
        token = csrf_in(browser.get("/runs"))
        done = browser.post(path, data={"csrf": token, **form}, follow_redirects=False)
        assert done.status_code == 303
        assert browser.get("/api/v1/me").status_code == 401, path


def test_a_mistake_does_not_cost_the_new_token_of_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = site(tmp_path)
    browser = place.signed_in("ann", "viewer")
    before = browser.cookies["twinsmith"]
    monkeypatch.setattr("twinsmith.adapters.identity.local.ROTATE_SECONDS", 0.0)
    monkeypatch.setattr("twinsmith.adapters.identity.local.GRACE_SECONDS", 0.0)
    for path in ("/runs/nope", "/nope", "/api/v1/runs?limit=0"):
        browser.get(path)
        assert browser.cookies["twinsmith"] != before, path
        before = browser.cookies["twinsmith"]
    assert browser.get("/api/v1/me").status_code == 200


async def test_a_stream_ends_when_whoever_listens_is_not_welcome_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinsmith.web.welcome.LOOK_SECONDS", -1.0)
    place = site(tmp_path)
    place.person("boss", "admin")
    place.person("ann", "developer")
    _, secret = await accounts.issue(place.book, "ann", "ci", ["read"], 1)
    identity = identity_of(place.settings)
    person = identity.by_key(secret)
    assert person is not None

    async def lines() -> AsyncIterator[str]:
        while True:
            yield "data: x\n\n"

    seen = []
    async for line in as_long_as_welcome(identity, person, lines()):
        seen.append(line)
        if len(seen) == 3:
            await accounts.change(place.book, "ann", disabled=True)
    assert seen == ["data: x\n\n"] * 3 + [OVER]


def test_where_too_many_listen_one_more_is_told_when_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinsmith.web.streams.MOST_STREAMS", 0)
    monkeypatch.setattr("twinsmith.web.shared.MOST_WATCHERS", 0)
    place = site(tmp_path)
    header = place.key("ann", "admin")
    task = {"task": "a function that adds one to a number"}
    run = place.client.post("/api/v1/runs", headers=header, json=task).json()["run"]
    for path in (f"/api/v1/runs/{run}/events", "/live/runs"):
        told = place.client.get(path, headers=header)
        assert told.status_code == 429, path
        assert int(told.headers["retry-after"]) > 0


@pytest.mark.parametrize("given", ["//evil.example", "https://evil.example", "/\\evil", "x\r\ny"])
def test_signing_in_leads_nowhere_else(tmp_path: Path, given: str) -> None:
    place = site(tmp_path)
    place.signed_in("ann", "viewer")
    sent = {"name": "ann", "password": PASSWORD, "next": given}
    answer = place.client.post("/login", data=sent, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_everything_that_is_done_or_refused_is_in_the_journal_with_who_and_where(
    tmp_path: Path,
) -> None:
    place = site(tmp_path)
    header = place.key("ann", "viewer")
    place.client.post("/api/v1/overrides", headers=header, json={})
    place.client.post("/api/v1/keys", headers=header, json={"title": "x", "scopes": ["read"]})
    events = [entry.event for entry in place.book.journal.entries(SYSTEM)]
    refused = next(each for each in events if each.kind == "person.refused")
    acted = next(each for each in events if each.kind == "person.acted")
    issued = [each for each in events if each.kind == "key.issued"][-1]
    assert (refused.who, refused.data["needs"]) == ("user:ann", "override")
    assert (acted.who, acted.data["route"], acted.data["status"]) == (
        "user:ann",
        "/api/v1/keys",
        201,
    )
    assert re.fullmatch(r"key [0-9a-f]{8} at testclient", str(issued.data["via"]))
    assert place.book.journal.check(SYSTEM).broken is None
