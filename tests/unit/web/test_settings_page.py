"""One's own settings, and everybody's for administrators: secrets are shown once and nowhere."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.waiting import HOSTILE
from tests.web_clients import PASSWORD, Site, csrf_in, site
from twinsmith.core.errors import ConfigError, Unknown
from twinsmith.core.people.role import PERMISSIONS
from twinsmith.runs import accounts
from twinsmith.web.console.users import in_force
from twinsmith.wiring.identity import accounts_of, keys_of, sessions_of

OTHER = "another battery 12 horse"
ADMIN_ONLY = ("/settings/users", "/settings/values")


@pytest.fixture
def place(tmp_path: Path) -> Site:
    return site(tmp_path)


def shown(page: str) -> str:
    """What is shown this once."""
    return page.split('<pre class="log" tabindex="0">')[1].partition("</pre>")[0]


def sessions(place: Site, name: str) -> int:
    return len(sessions_of(place.settings).listed(name))


def test_everybody_sees_who_they_are_and_what_roles_permit(place: Site) -> None:
    browser = place.signed_in("vera", "viewer")
    page = browser.get("/settings").text
    assert "vera" in page
    assert "What roles permit" in page
    assert "/settings/users" not in page
    assert browser.get("/settings.json").json()["permissions"] == ["read"]
    for address in ADMIN_ONLY:
        assert browser.get(address).status_code == 403
        assert browser.get(f"{address}.json").status_code == 403


def test_a_new_key_is_shown_once_and_works(place: Site) -> None:
    browser = place.signed_in("ben", "developer")
    page = browser.get("/settings")
    assert 'value="build"' in page.text
    assert 'value="decide"' not in page.text, "a key may no more than its owner"
    sent = {"csrf": csrf_in(page), "title": f"CI {HOSTILE}", "days": "7", "scopes": ["read"]}
    made = browser.post("/settings/keys", data=sent)
    secret = shown(made.text)
    assert secret.startswith("tws_")
    assert HOSTILE not in made.text
    assert made.headers["cache-control"] == "no-store"
    header = {"authorization": f"Bearer {secret}"}
    assert place.client.get("/api/v1/me", headers=header).json()["permissions"] == ["read"]
    again = browser.get("/settings").text
    assert secret not in again
    assert HOSTILE not in again
    files = [each.read_bytes() for each in place.settings.home.rglob("*") if each.is_file()]
    assert not any(secret.split("_")[2].encode() in each for each in files)


def test_a_key_of_more_rights_or_without_any_is_refused(place: Site) -> None:
    browser = place.signed_in("ben", "developer")
    csrf = csrf_in(browser.get("/settings"))
    for more in ({"scopes": ["administer"]}, {}, {"scopes": ["read"], "days": "9999"}):
        page = browser.post("/settings/keys", data={"csrf": csrf, "title": "x", **more})
        assert "Not done" in page.text
    assert keys_of(place.settings).listed() == ()


def test_a_key_is_revoked_by_its_owner_or_an_administrator(place: Site) -> None:
    ben, root = place.signed_in("ben", "developer"), place.signed_in("root", "admin")
    place.person("eve", "viewer")
    key, _ = asyncio.run(accounts.issue(place.book, "eve", "x", ["read"], 1))
    csrf = csrf_in(ben.get("/settings"))
    refused = ben.post(
        f"/settings/keys/{key.id}/revoke",
        data={"csrf": csrf},
        headers={"referer": "http://127.0.0.1:8400/settings"},
    )
    assert "another person" in refused.text
    assert not keys_of(place.settings).listed()[0].revoked
    csrf = csrf_in(root.get("/settings/users"))
    root.post(f"/settings/keys/{key.id}/revoke", data={"csrf": csrf})
    assert keys_of(place.settings).listed()[0].revoked


def test_a_new_password_ends_all_other_sessions_and_keeps_this_one(place: Site) -> None:
    browser = place.signed_in("ben", "developer")
    elsewhere = TestClient(place.client.app, base_url=str(place.client.base_url))
    elsewhere.post("/login", data={"name": "ben", "password": PASSWORD})
    assert elsewhere.get("/settings").url.path == "/settings"
    csrf = csrf_in(browser.get("/settings"))
    sent = {"csrf": csrf, "current": PASSWORD, "wanted": OTHER, "again": OTHER}
    for wrong in (
        {"current": "no horse"},
        {"again": "x" * 20},
        {"wanted": "short", "again": "short"},
    ):
        page = browser.post("/settings/password", data=sent | wrong)
        assert "Not done" in page.text
        assert OTHER not in page.text
    done = browser.post("/settings/password", data=sent)
    assert "everywhere else you are signed out" in done.text
    assert done.url.path == "/settings"
    assert browser.get("/settings").url.path == "/settings"
    assert elsewhere.get("/settings").url.path == "/login"
    assert sessions(place, "ben") == 1


def test_guessing_the_password_before_makes_the_account_wait(place: Site) -> None:
    place.signed_in("ben", "developer")
    for _ in range(5):
        with pytest.raises(ConfigError, match="not right"):
            asyncio.run(accounts.change_password(place.book, "ben", "no", OTHER, "x"))
    with pytest.raises(ConfigError, match=r"not right; try again in \d+ seconds"):
        asyncio.run(accounts.change_password(place.book, "ben", PASSWORD, OTHER, "x"))


def test_one_session_or_all_of_them_are_ended(place: Site) -> None:
    browser = place.signed_in("ben", "developer")
    office = place.app.state.office
    office.identity.by_password("ben", PASSWORD, "elsewhere <b>")
    page = browser.get("/settings")
    assert "elsewhere &lt;b&gt;" in page.text
    held = accounts.sessions(place.book, "ben")
    other = next(each.id for each in held if each.where == "elsewhere <b>")
    csrf = csrf_in(page)
    assert "Not done" in browser.post("/settings/sessions/xyz/end", data={"csrf": csrf}).text
    with pytest.raises(Unknown):
        asyncio.run(accounts.end_session(place.book, "eve", other))
    browser.post(f"/settings/sessions/{other}/end", data={"csrf": csrf})
    assert [each.id for each in accounts.sessions(place.book, "ben")] != []
    assert sessions(place, "ben") == 1
    out = browser.post("/settings/sign-out", data={"csrf": csrf})
    assert out.url.path == "/login"
    assert sessions(place, "ben") == 0


def test_a_program_has_no_password_and_no_sessions(place: Site) -> None:
    header = place.key("ben", "developer")
    assert place.client.post("/settings/sign-out", headers=header).status_code == 403
    sent = {"current": PASSWORD, "wanted": OTHER, "again": OTHER}
    assert place.client.post("/settings/password", headers=header, data=sent).status_code == 403


def test_an_administrator_adds_changes_and_shuts_users(place: Site) -> None:
    root = place.signed_in("root", "admin")
    page = root.get("/settings/users")
    csrf = csrf_in(page)
    made = root.post("/settings/users", data={"csrf": csrf, "name": "Dora ", "roles": ["viewer"]})
    link = shown(made.text)
    assert "/welcome?token=" in link
    assert link not in root.get("/settings/users").text
    assert place.client.get(link.partition("8400")[2]).status_code == 200
    for wrong in (
        {"name": "dora", "roles": ["viewer"]},
        {"name": HOSTILE, "roles": ["viewer"]},
        {"name": "x"},
    ):
        told = root.post("/settings/users", data={"csrf": csrf, **wrong})
        assert "Not done" in told.text
        assert HOSTILE not in told.text
    where = "/settings/users/dora"
    root.post(f"{where}/roles", data={"csrf": csrf, "roles": ["operator", "approver"]})
    known = accounts_of(place.settings).get("dora")
    assert known is not None
    assert known.roles == ("approver", "operator")
    root.post(f"{where}/shut", data={"csrf": csrf, "disabled": "true"})
    known = accounts_of(place.settings).get("dora")
    assert known is not None
    assert known.disabled
    root.post(f"{where}/shut", data={"csrf": csrf, "disabled": "false"})
    again = shown(root.post(f"{where}/invite", data={"csrf": csrf}).text)
    assert again != link
    assert place.client.get(link.partition("8400")[2]).status_code == 400
    root.post(f"{where}/sign-out", data={"csrf": csrf})
    last = root.post("/settings/users/root/shut", data={"csrf": csrf, "disabled": "true"})
    assert "last administrator" in last.text


def test_settings_in_force_are_told_without_secrets(place: Site) -> None:
    root = place.signed_in("root", "admin")
    assert "approvals.needed" in root.get("/settings/values?q=approvals").text
    assert "approvals.needed" not in root.get("/settings/values?q=server").text
    assert "No setting is like that" in root.get("/settings/values?q=nothing").text
    changed = root.get("/settings/values.json?changed=1").json()
    assert [each["key"] for each in changed] == ["models.ollama"]
    values = place.settings.values
    url = "postgresql://ann:s3cretpassw0rd@db.example.org/x"
    database = values.database.model_copy(update={"url": url})
    hidden = replace(place.settings, values=values.model_copy(update={"database": database}))
    told = {each.key: each.value for each in in_force(hidden)}
    assert "s3cretpassw0rd" not in told["database.url"]
    assert told["approvals.needed"] == "schema_change, data_touched, risk_high, heal"


def test_every_permission_has_a_row(place: Site) -> None:
    page = place.signed_in("vera", "viewer").get("/settings").text
    assert all(f'<th scope="row">{each}</th>' in page for each in PERMISSIONS)
