import json

import pytest

from twinsmith.core.errors import BadReply
from twinsmith.core.services.interface import (
    SCHEMA,
    Field,
    Interface,
    Route,
    completed,
    default_interface,
    normal_path,
    read_interface,
)

AUTHENTICATION = "Create a REST API in Python for user authentication"


def purposes(interface: Interface | None) -> list[str]:
    return [route.purpose for route in interface.routes] if interface else []


def described(*routes: dict[str, object]) -> Interface:
    return read_interface(json.dumps({"routes": routes}))


class TestReading:
    def test_a_whole_route(self) -> None:
        read = described(
            {
                "method": "POST",
                "path": "/notes",
                "purpose": "create",
                "fields": [
                    {"name": "text", "kind": "string"},
                    {"name": "stars", "kind": "integer"},
                ],
                "token": True,
                "ok": 201,
                "gives": ["id"],
            }
        )
        assert read.routes == (
            Route(
                method="POST",
                path="/notes",
                purpose="create",
                fields=(Field(name="text"), Field(name="stars", kind="integer")),
                token=True,
                ok=201,
                gives=("id",),
            ),
        )

    def test_what_small_models_get_wrong_is_put_right(self) -> None:
        (route,) = described(
            {
                "method": "put",
                "path": "notes/<int:note_id>/",
                "purpose": "Update",
                "fields": {"text": "str", "stars": "int", "bad name": "string"},
                "token": "true",
                "ok": "200 OK",
                "gives": "id",
            }
        ).routes
        assert (route.method, route.path, route.purpose) == ("PUT", "/notes/{note_id}", "update")
        assert route.fields == (Field(name="text"), Field(name="stars", kind="integer"))
        assert (route.token, route.ok, route.gives) == (True, 200, ())

    def test_fields_may_be_words_and_nobody_sends_a_body_with_get(self) -> None:
        fields = ["username", "age: int"]
        post, get = described(
            {"method": "POST", "path": "/a", "fields": fields},
            {"method": "GET", "path": "/b", "fields": fields},
        ).routes
        assert post.fields == (Field(name="username"), Field(name="age", kind="integer"))
        assert get.fields == ()

    @pytest.mark.parametrize(
        ("raw", "path"),
        [
            ("notes/:id", "/notes/{id}"),
            ("/notes/<id>", "/notes/{id}"),
            ("/notes/{id:int}", "/notes/{id}"),
            ("http://localhost:8000/notes?page=1", "/notes"),
            ("", "/"),
        ],
    )
    def test_paths(self, raw: str, path: str) -> None:
        assert normal_path(raw) == path

    @pytest.mark.parametrize(
        ("method", "path", "said", "purpose"),
        [
            ("POST", "/api/register", "create", "register"),
            ("POST", "/auth/login", "other", "login"),
            ("GET", "/notes/{id}", "list", "read"),
            ("GET", "/notes", "read", "list"),
            ("PUT", "/notes", "update", "other"),
            ("GET", "/x", "dance", "other"),
            ("POST", "/shorten", "register", "create"),
            ("GET", "/users/{name}", "protected", "other"),
            ("GET", "/shorten/{code}", "login", "other"),
        ],
    )
    def test_purposes_that_cannot_be(self, method: str, path: str, said: str, purpose: str) -> None:
        (route,) = described({"method": method, "path": path, "purpose": said}).routes
        assert route.purpose == purpose

    def test_the_same_route_counts_once(self) -> None:
        found = described(
            {"method": "GET", "path": "/a/{id}"}, {"method": "get", "path": "/a/:key"}
        )
        assert len(found.routes) == 1

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("no json", "the interface is not JSON"),
            ("[" * 100_000, "the interface is not JSON"),
            ('{"routes": 5}', "no list of routes"),
            ('{"routes": []}', "no route"),
            ('{"routes": ["GET /"]}', "not an object"),
            ('{"routes": [{"method": "FETCH", "path": "/"}]}', "method 'FETCH' of / is none of"),
            ('{"routes": [{"method": "GET", "path": "/a b"}]}', "cannot be asked"),
        ],
    )
    def test_what_cannot_be_used_is_said_in_one_line(self, text: str, why: str) -> None:
        with pytest.raises(BadReply, match=why) as caught:
            read_interface(text)
        assert "\n" not in str(caught.value)

    def test_a_fenced_reply(self) -> None:
        text = 'Here:\n```json\n[{"method": "GET", "path": "/health"}]\n```\n'
        assert purposes(read_interface(text)) == ["health"]


class TestDefaults:
    @pytest.mark.parametrize(
        ("task", "expected"),
        [
            (AUTHENTICATION, ["health", "register", "login", "protected"]),
            ("an API where users sign up and log in", ["health", "register", "login", "protected"]),
            (
                "a REST service in Python that stores notes",
                ["health", "create", "list", "read", "update", "delete"],
            ),
            ("a URL shortener service", ["health", "create", "read"]),
            ("a service that shortens links", ["health", "create", "read"]),
            ("a service that tells the weather", []),
            ("a function that adds two numbers", []),
        ],
    )
    def test_what_a_task_names_by_itself(self, task: str, expected: list[str]) -> None:
        assert purposes(default_interface(task)) == expected

    def test_things_are_named_after_the_task(self) -> None:
        found = default_interface("Build a service that manages recipes")
        assert found is not None
        assert {route.path for route in found.routes} == {
            "/health",
            "/recipes",
            "/recipes/{id}",
        }

    def test_passwords_are_not_things_to_list(self) -> None:
        task = "an authentication API that stores passwords hashed"
        assert purposes(default_interface(task)) == ["health", "register", "login", "protected"]


class TestCompleting:
    def test_what_the_task_asks_for_and_the_description_lacks_is_added(self) -> None:
        given = described(
            {"method": "POST", "path": "/signup", "fields": ["email", "password"], "token": True},
            {"method": "POST", "path": "/signin", "purpose": "login", "fields": ["username"]},
        )
        found = completed(given, AUTHENTICATION)
        assert purposes(found) == ["register", "login", "health", "protected"]
        register, login = found.routes[:2]
        assert not register.token
        assert login.fields == register.fields == (Field(name="email"), Field(name="password"))
        assert login.gives == ("token",)

    def test_nobody_registers_without_a_name_and_a_password(self) -> None:
        given = described(
            {"method": "POST", "path": "/register", "fields": ["password"]},
            {"method": "POST", "path": "/login", "fields": ["password"]},
        )
        found = completed(given, "x")
        names = [[field.name for field in route.fields] for route in found.routes[:2]]
        assert names == [["username", "password"]] * 2

    def test_a_path_that_is_taken_is_not_added_again(self) -> None:
        given = described({"method": "GET", "path": "/me", "purpose": "other"})
        paths = [route.path for route in completed(given, AUTHENTICATION).routes]
        assert paths.count("/me") == 1

    def test_nobody_needs_a_token_where_nobody_can_log_in(self) -> None:
        given = described({"method": "GET", "path": "/weather", "token": True})
        assert not any(route.token for route in completed(given, "tell the weather").routes)
        assert any(route.token for route in completed(given, AUTHENTICATION).routes)

    def test_any_service_tells_whether_it_is_well(self) -> None:
        given = described({"method": "GET", "path": "/weather", "purpose": "other"})
        assert purposes(completed(given, "tell the weather")) == ["other", "health"]


def test_the_text_says_everything_a_coder_needs() -> None:
    found = default_interface(AUTHENTICATION)
    assert found is not None
    both = "takes JSON username (string), password (string)"
    guarded = "needs the header Authorization: Bearer <token>, else 401"
    assert found.text().splitlines() == [
        "GET /health; answers 200 with JSON status",
        f"POST /register; {both}; answers 201 with JSON username",
        f"POST /login; {both}; answers 200 with JSON token",
        f"GET /me; {guarded}; answers 200 with JSON username",
    ]


def test_the_schema_is_small_and_asks_for_every_part() -> None:
    route = json.loads(SCHEMA)["properties"]["routes"]["items"]
    assert set(route["required"]) == set(route["properties"]) == set(Route.__slots__)
    assert len(SCHEMA) < 1600
