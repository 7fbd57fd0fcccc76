"""What every request meets: limits, keys that make it happen once, tags, problems."""

import json
import re
from pathlib import Path

import pytest
from fastapi import Response

from tests.web_clients import Site, site
from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.identity.answers import MemoryAnswers
from twinsmith.core.people.answered import KEPT_SECONDS, Asking
from twinsmith.web.guard import rule_of
from twinsmith.web.once import TIDY_SECONDS, Once

KEY = {"title": "x", "scopes": ["read"]}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site(tmp_path_factory.mktemp("site"))


def test_a_request_with_a_key_is_done_once_and_answered_alike(tmp_path: Path) -> None:
    place = site(tmp_path)
    header = place.key("ann", "admin") | {"idempotency-key": "one"}
    task = {"task": "Write a Python function double(n) that doubles a number"}
    first = place.client.post("/api/v1/runs", headers=header, json=task)
    again = place.client.post("/api/v1/runs", headers=header, json=task)
    assert first.status_code == again.status_code == 202
    assert first.json() == again.json()
    assert first.headers["location"] == again.headers["location"]
    assert again.headers["idempotency-replayed"] == "true"
    assert len(place.book.journal.runs()) == 1
    other = place.client.post("/api/v1/runs", headers=header, json={**task, "seed": 4})
    assert other.status_code == 422
    mine = place.client.post(
        "/api/v1/runs", headers=place.key("bob", "admin") | {"idempotency-key": "one"}, json=task
    )
    assert mine.json()["run"] != first.json()["run"]


def test_what_failed_may_be_tried_again_and_a_secret_is_kept_nowhere(tmp_path: Path) -> None:
    place = site(tmp_path)
    header = place.key("ann", "viewer") | {"idempotency-key": "two"}
    wrong = place.client.post("/api/v1/keys", headers=header, json={**KEY, "days": 365.9})
    assert wrong.status_code == 201
    secret = wrong.json()["secret"]
    again = place.client.post("/api/v1/keys", headers=header, json={**KEY, "days": 365.9})
    assert "secret" not in again.json()
    assert again.status_code == 201
    files = [each.read_bytes() for each in place.settings.home.rglob("*") if each.is_file()]
    own = secret.split("_")[2]
    assert not any(own.encode() in each for each in files)
    header["idempotency-key"] = "three"
    bad = {"title": " ", "scopes": ["read"]}
    assert place.client.post("/api/v1/keys", headers=header, json=bad).status_code == 400
    assert place.client.post("/api/v1/keys", headers=header, json=KEY).status_code == 201


def test_every_post_is_done_once_for_its_key_and_deletes_and_patches_need_none(
    tmp_path: Path,
) -> None:
    place = site(tmp_path)
    header = place.key("ann", "admin")
    posts = [route for method, route in place.routes() if method == "POST"]
    assert len(posts) > 40
    for number, route in enumerate(posts):
        if rule_of(route) == "open":
            continue
        path = re.sub(r"{\w+}", "nothing", route.path)
        known = header | {"idempotency-key": f"k{number}"}
        answers = [place.client.post(path, headers=known, follow_redirects=False) for _ in range(2)]
        assert {each.status_code for each in answers} == {answers[0].status_code}, path
        # What failed was not done, so it is tried again.
        replayed = ["idempotency-replayed" in each.headers for each in answers]
        assert replayed == [False, answers[0].status_code < 400], path


async def test_an_answer_that_nobody_will_ask_for_again_is_forgotten() -> None:
    answers, clock = MemoryAnswers(), ManualClock()
    once = Once(answers, clock)
    asking = Asking(who="ann", key="k", digest="d")
    done: list[int] = []

    async def work() -> Response:
        done.append(1)
        return Response("x", 201, headers={"location": "/there"})

    for passed in (0.0, TIDY_SECONDS + 1, KEPT_SECONDS):
        await clock.sleep(passed)
        answer = await once.done(asking, work, shown_once=False)
        assert answer.headers["location"] == "/there"
    assert len(done) == 2


def test_an_answer_that_somebody_has_is_not_sent_again(shared: Site) -> None:
    header = shared.key("ann", "viewer")
    first = shared.client.get("/api/v1/runs", headers=header)
    again = shared.client.get(
        "/api/v1/runs", headers=header | {"if-none-match": f'"x", W/{first.headers["etag"]}'}
    )
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]


def test_somebody_who_asks_too_often_is_told_when_to_come_again(tmp_path: Path) -> None:
    place = site(tmp_path, per_second=1, burst=3)
    header = place.key("ann", "viewer")
    statuses = [place.client.get("/api/v1/me", headers=header).status_code for _ in range(6)]
    assert statuses.count(200) == 3
    late = place.client.get("/api/v1/me", headers=header)
    assert late.status_code == 429
    assert int(late.headers["retry-after"]) >= 1
    assert place.client.get("/api/v1/me", headers=place.key("bob", "viewer")).status_code == 200


def test_passwords_cost_more_than_other_requests(tmp_path: Path) -> None:
    place = site(tmp_path, per_second=1, burst=30)
    tries = [
        place.client.post("/login", data={"name": f"n{number}", "password": "x"})
        for number in range(5)
    ]
    assert [each.status_code for each in tries].count(401) in (2, 3)
    assert tries[-1].status_code == 429
    assert int(tries[-1].headers["retry-after"]) > 1


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"content-length": "99999999"}, b"{}", 413),
        ({"content-length": "many"}, b"{}", 413),
        ({}, b"x" * (3 << 20), 413),
        ({"content-type": "application/json"}, b"{", 422),
        ({"content-type": "application/json"}, b"[]", 422),
        ({"content-type": "application/json"}, b"\xff\xfe", 422),
        ({"content-type": "application/xml"}, b"<a/>", 415),
        ({"content-type": "text/plain"}, b'{"task": "a function that adds"}', 415),
        ({"content-type": ""}, b'{"task": "a function that adds"}', 415),
        ({"content-type": "application/json"}, b'{"task": "x", "extra": 1}', 422),
        ({"content-type": "application/json"}, b'{"task": "\\ud800 a function that adds"}', 422),
        ({"content-type": "application/json"}, b'{"task": "a function\\u0000 that adds"}', 400),
        ({"content-type": "application/json"}, b"[" * 100_000, 400),
        ({"content-type": "application/json"}, b'{"task": "adds", "seed": 1e400}', 422),
        ({"content-type": "multipart/form-data; boundary=x"}, b"--x\r\n\r\n", 415),
        ({"host": "evil.example"}, b"{}", 421),
        ({"idempotency-key": "x" * 300}, b'{"task": "a function that adds"}', 400),
    ],
)
def test_what_cannot_be_read_is_refused_cleanly(
    shared: Site, headers: dict[str, str], body: bytes, status: int
) -> None:
    known = shared.key("ann", "admin") | {"content-type": "application/json"}
    answer = shared.client.post("/api/v1/runs", headers=known | headers, content=body)
    assert answer.status_code == status, answer.text
    problem = json.loads(answer.text)
    assert set(problem) == {"type", "title", "status", "detail", "number"}
    assert "Traceback" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_mistake_is_told_without_what_was_sent(shared: Site) -> None:
    header = shared.key("ann", "admin")
    sent = {"title": "x", "scopes": ["swordfish-4711"]}
    answer = shared.client.post("/api/v1/keys", headers=header, json=sent)
    assert answer.status_code == 422
    assert "body.scopes.0" in answer.json()["detail"]
    assert "swordfish" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/runs/../../etc/passwd",
        "/api/v1/runs/%2e%2e%2f%2e%2e",
        "/api/v1/apps/..%00",
        "/static/..%2f..%2fapp.py",
        "/static/nothing.css",
        "/api/v1/journal?since=yesterday",
        "/api/v1/runs?limit=0",
        "/api/v1/runs?limit=many",
        "/api/v1/runs?cursor=%F0%9F%92%A9",
        "/runs?cursor=" + "x" * 3000,
    ],
)
def test_a_path_that_leads_nowhere_leads_nowhere(shared: Site, path: str) -> None:
    answer = shared.client.get(path, headers=shared.key("ann", "admin"))
    assert answer.status_code in (200, 400, 404, 422)
    assert "root:" not in answer.text
    assert "def " not in answer.text


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/v1/no"), ("PUT", "/api/v1/runs")])
def test_a_stranger_does_not_learn_what_there_is(shared: Site, method: str, path: str) -> None:
    told = shared.client.request(method, path)
    assert told.status_code == 401
    assert told.json()["number"]
    page = shared.client.get("/no", headers={"accept": "text/html"}, follow_redirects=False)
    assert page.headers["location"] == "/login?next=/no"


def test_a_method_that_is_not_there_is_told_with_those_that_are(shared: Site) -> None:
    told = shared.client.put("/api/v1/runs", headers=shared.key("ann", "viewer"))
    assert (told.status_code, told.headers["allow"]) == (405, "GET, POST")
    assert told.headers["content-type"] == "application/problem+json"
    assert "GET, POST" in told.json()["detail"]


def test_who_asks_too_often_for_what_is_not_there_is_told_so(tmp_path: Path) -> None:
    place = site(tmp_path, per_second=1, burst=3)
    answers = [place.client.get("/api/v1/no") for _ in range(6)]
    assert [each.status_code for each in answers].count(401) == 3
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_unknown_things_are_404_and_say_where_to_look(shared: Site) -> None:
    header = shared.key("ann", "admin")
    for path in ("runs/nope", "apps/nope", "incidents/nope", "approvals/nope", "users/nope"):
        answer = shared.client.get(f"/api/v1/{path}", headers=header)
        assert answer.status_code == 404, path
        assert "nope" in answer.json()["detail"]


def test_pages_forbid_what_they_do_not_need(shared: Site) -> None:
    policy = shared.client.get("/login").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
