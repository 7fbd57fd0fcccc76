"""How requests go to a server: sent again where that is safe, problems as our errors."""

import json
import ssl
from collections.abc import Callable

import httpx2
import pytest

from twinsmith.client import Client
from twinsmith.client.address import checked_address
from twinsmith.client.shapes import NewRun
from twinsmith.client.wire import PATIENCE_SECONDS, TRIES
from twinsmith.core.errors import (
    ConfigError,
    Conflict,
    EngineError,
    Forbidden,
    InternalError,
    RunBusy,
    RunCancelled,
    TwinsmithError,
    Unknown,
    UnknownRun,
)

URL = "https://twin.example"
KEY = "tws_ab12cd34_swordfish"
ME = {"name": "ann", "permissions": ["read"], "by": "key"}
BEGUN = {"run": "r1", "state": "queued", "workers": 1}
TASK = NewRun(task="double a number")
Answer = httpx2.Response | Exception


class Server:
    """Answers one after the other, the last one again and again; keeps what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[httpx2.Request] = []
        self.waited: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, key: str = KEY) -> Client:
        transport = httpx2.MockTransport(self)
        return Client(URL, key, transport=transport, sleep=self.waited.append)


def told(data: object, status: int = 200, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(status, json=data, headers=named)


def problem(status: int, detail: str = "no", kind: str = "", **headers: str) -> httpx2.Response:
    body = {"title": "t", "status": status, "detail": detail, "number": "1a2b"}
    body["type"] = f"urn:twinsmith:error:{kind}" if kind else "about:blank"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(
        status,
        content=json.dumps(body),
        headers={"content-type": "application/problem+json", **named},
    )


def test_a_request_carries_the_key_and_an_answer_becomes_a_value() -> None:
    server = Server(told(ME))
    with server.client() as client:
        assert client.me().permissions == ("read",)
    (request,) = server.asked
    assert str(request.url) == f"{URL}/api/v1/me"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "idempotency-key" not in request.headers


def test_a_deed_that_got_no_answer_is_sent_again_under_the_same_key() -> None:
    server = Server(httpx2.ReadError("gone"), httpx2.ConnectError("away"), told(BEGUN, 202))
    assert server.client().runs.submit(TASK).run == "r1"
    keys = {each.headers["idempotency-key"] for each in server.asked}
    assert len(server.asked) == 3
    assert len(keys) == 1
    assert len({each.content for each in server.asked}) == 1
    assert server.waited == [0.25, 0.5]


def test_two_deeds_have_two_keys_and_a_person_may_give_one() -> None:
    server = Server(told(BEGUN, 202))
    client = server.client()
    client.runs.submit(TASK)
    client.runs.submit(TASK)
    client.runs.submit(TASK, key="mine")
    first, second, third = (each.headers["idempotency-key"] for each in server.asked)
    assert first != second
    assert third == "mine"


def test_a_server_that_is_away_is_asked_a_few_times_and_named() -> None:
    server = Server(httpx2.ConnectError("Connection refused"))
    with pytest.raises(EngineError, match=r"https://twin.example cannot be reached: Conn") as error:
        server.client().me()
    assert len(server.asked) == TRIES
    assert KEY not in str(error.value)


@pytest.mark.parametrize("status", [429, 503, 409])
def test_who_is_told_to_come_again_does_so(status: int) -> None:
    server = Server(problem(status, retry_after="3"), problem(status, retry_after="2"), told(ME))
    assert server.client().me().name == "ann"
    assert server.waited == [3.0, 2.0]


def test_patience_ends() -> None:
    server = Server(problem(429, "too many requests", retry_after="20"))
    with pytest.raises(EngineError, match="too many requests"):
        server.client().me()
    assert sum(server.waited) <= PATIENCE_SECONDS
    assert len(server.asked) == 4


@pytest.mark.parametrize("told_to_wait", ["", "soon", "-1", "1.5"])
def test_what_is_not_to_come_again_is_told_at_once(told_to_wait: str) -> None:
    server = Server(problem(503, "no model", retry_after=told_to_wait))
    with pytest.raises(EngineError, match="no model"):
        server.client().me()
    assert len(server.asked) == 1


def test_a_change_that_may_be_done_already_is_not_sent_again() -> None:
    server = Server(httpx2.ReadError("gone"))
    with pytest.raises(EngineError):
        server.client().keys.revoke("ab")
    with pytest.raises(EngineError):
        server.client().users.change("ann", disabled=True)
    assert len(server.asked) == 2
    away = Server(httpx2.ConnectError("away"))
    with pytest.raises(EngineError):
        away.client().keys.revoke("ab")
    assert len(away.asked) == TRIES


def test_a_certificate_that_does_not_hold_is_not_tried_again() -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        try:
            raise ssl.SSLCertVerificationError("self-signed certificate")
        except ssl.SSLError as error:
            raise httpx2.ConnectError(str(error)) from error

    asked: list[httpx2.Request] = []
    client = Client(URL, KEY, transport=httpx2.MockTransport(refuse))
    with pytest.raises(EngineError, match=r"certificate that does not hold.*SSL_CERT_FILE"):
        client.me()
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "", ConfigError),
        (401, "", ConfigError),
        (403, "", Forbidden),
        (404, "", Unknown),
        (404, "UnknownRun", UnknownRun),
        (409, "", Conflict),
        (409, "RunBusy", RunBusy),
        (409, "RunCancelled", RunCancelled),
        (409, "SystemExit", Conflict),
        (409, "TwinsmithError.__init__", Conflict),
        (413, "", ConfigError),
        (422, "", ConfigError),
        (429, "", EngineError),
        (500, "", InternalError),
        (503, "", EngineError),
        (302, "", EngineError),
    ],
)
def test_a_problem_is_the_error_that_it_was_there(
    status: int, kind: str, error: type[TwinsmithError]
) -> None:
    server = Server(problem(status, "why not", kind))
    with pytest.raises(TwinsmithError) as caught:
        server.client().me()
    assert type(caught.value) is error
    assert ("why not" if status != 401 else "twinsmith keys add") in str(caught.value)
    assert "(number 1a2b)" in str(caught.value)


def test_an_answer_of_something_else_says_so() -> None:
    page = httpx2.Response(502, text="<h1>Bad gateway</h1>")
    with pytest.raises(EngineError, match="answered 502; is that a twinsmith server"):
        Server(page).client().me()
    with pytest.raises(EngineError, match="something else than expected"):
        Server(httpx2.Response(200, text="<h1>Welcome</h1>")).client().me()
    with pytest.raises(EngineError, match="name: field required"):
        Server(told({"permissions": [], "by": "key"})).client().me()


def test_nobody_is_sent_elsewhere_with_the_key() -> None:
    server = Server(httpx2.Response(302, headers={"location": "https://evil.example/"}))
    with pytest.raises(EngineError, match="302"):
        server.client().me()
    assert [each.url.host for each in server.asked] == ["twin.example"]


def test_the_key_is_shown_nowhere() -> None:
    server = Server(problem(400, f"you sent {KEY}"))
    client = server.client()
    with pytest.raises(ConfigError) as error:
        client.me()
    shown = f"{error.value} {client!r} {client._wire!r} {client._wire._http.headers!r}"
    assert "swordfish" not in shown
    with pytest.raises(ConfigError) as odd:
        Client(URL, "tws_swordfish\nx-evil: 1")
    assert "swordfish" not in str(odd.value)


def test_what_was_shown_once_and_lost_is_said() -> None:
    lost = told({"note": "this was shown once"}, 201, idempotency_replayed="true")
    with pytest.raises(Conflict, match="undo it and do it anew"):
        Server(lost).client().keys.issue("x", ["read"])


def test_readiness_is_a_value_also_where_it_is_503() -> None:
    body = {"ready": False, "workers": 0, "queued": 2, "monitor": False, "problems": ["no worker"]}
    assert Server(told(body, 503)).client().ready().problems == ("no worker",)


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_what_can_be_no_name_is_not_asked_for(name: str) -> None:
    server = Server(told({}))
    calls: list[Callable[[str], object]] = [server.client().runs.get, server.client().apps.get]
    for call in calls:
        with pytest.raises(Unknown):
            call(name)
    assert server.asked == []


def test_a_name_stays_one_part_of_an_address() -> None:
    server = Server(problem(404))
    with pytest.raises(Unknown):
        server.client().runs.get("../users?x=1#y")
    assert server.asked[0].url.raw_path == b"/api/v1/runs/..%2Fusers%3Fx%3D1%23y"


def test_what_cannot_be_is_said_before_it_is_sent() -> None:
    server = Server(told({}))
    with pytest.raises(ConfigError, match="reason: string should have at least 1 character"):
        server.client().people.override("pause", "all", "")
    with pytest.raises(ConfigError, match="budget_tokens"):
        NewRun.of(task="double a number", budget_tokens=0)
    assert server.asked == []


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://twin.example/", "https://twin.example"),
        ("https://twin.example:8443/behind/", "https://twin.example:8443/behind"),
        ("http://127.0.0.1:8400", "http://127.0.0.1:8400"),
        ("http://localhost:8400/", "http://localhost:8400"),
        ("http://[::1]:8400", "http://[::1]:8400"),
    ],
)
def test_an_address_is_taken(given: str, address: str) -> None:
    assert checked_address(given) == address


@pytest.mark.parametrize(
    "given",
    [
        "",
        "twin.example",
        "ftp://twin.example",
        "https://",
        "https://twin.example:99999",
        "https://ann:swordfish@twin.example",
        "https://twin.example/?key=swordfish",
        "https://twin.example/#x",
        "https://twin example/",
        "http://twin.example",
        "http://10.0.0.7:8400",
        "http://127.0.0.1.evil.example",
    ],
)
def test_an_address_is_refused(given: str) -> None:
    with pytest.raises(ConfigError) as error:
        checked_address(given)
    assert "swordfish" not in str(error.value)


def test_plain_http_is_a_person_s_word() -> None:
    assert checked_address("http://10.0.0.7:8400", plain=True) == "http://10.0.0.7:8400"
