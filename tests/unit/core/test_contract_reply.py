import json

import pytest

from tests.service_scripts import CART, PLAN
from twinsmith.core.errors import BadReply
from twinsmith.core.events import Json
from twinsmith.core.planning.completing import CREDENTIALS, joined, who_and_password
from twinsmith.core.planning.contract import Contract, Field, Refusal, Table, signature
from twinsmith.core.planning.contract_reply import (
    kind_named,
    named_paths,
    normal_path,
    read_contract,
)

ACCOUNTS = "with user accounts"


def route(**more: Json) -> dict[str, Json]:
    plain: dict[str, Json] = {"function": "do", "method": "GET", "path": "/do", "status": 200}
    return {**plain, "takes": {}, "gives": {"a": 1}, "refuses": [], **more}


def planned(
    *routes: dict[str, Json],
    tables: dict[str, Json] | None = None,
    task: str = "",
    login: str = "",
) -> Contract:
    text = json.dumps({"tables": tables or {}, "routes": list(routes)})
    return read_contract(text, task, login=login)


def shapes(contract: Contract) -> list[str]:
    return [f"{each.method} {each.path}" for each in contract.operations]


class TestReading:
    def test_a_whole_plan(self) -> None:
        found = read_contract(PLAN, CART, login=ACCOUNTS)
        assert shapes(found) == [
            "GET /health",
            "POST /register",
            "POST /login",
            "POST /cart/items",
            "DELETE /cart/items/{id}",
            "GET /cart/total",
        ]
        add = found.called("add_item")
        assert (add.login, add.status, add.accepts) == (True, 201, "json")
        assert add.takes == (
            Field(name="product", example='"apple"'),
            Field(name="quantity", kind="integer", example="2"),
            Field(name="unit_price", kind="number", example="1.5"),
        )
        remove = found.called("remove_item")
        assert (remove.gives, remove.answers) == ("", "nothing")
        assert remove.refuses == (Refusal(status=404, when="there is no such item"),)
        assert [table.text() for table in found.tables] == [
            "items(id: int, user: str, product: str, quantity: int, unit_price: float)"
        ]

    def test_what_small_models_get_wrong_is_put_right(self) -> None:
        found = planned(
            route(
                function=" change ",
                method="put",
                path="notes/<int:note_id>/",
                takes={"text": "str", "stars": "<int>", "note_id": 3, "due date": "2026-01-31"},
                status="200 OK",
                refuses=[{"status": "404", "when": "gone"}, "no", {"status": 418, "when": "tea"}],
            )
        )
        (change,) = found.pieces
        assert (change.method, change.path, change.status) == ("PUT", "/notes/{note_id}", 200)
        assert change.takes == (
            Field(name="text"),
            Field(name="stars", kind="integer"),
            Field(name="due_date", example='"2026-01-31"'),
        )
        assert change.refuses == ()

    def test_a_fenced_reply(self) -> None:
        text = json.dumps({"routes": [route()]})
        found = read_contract(f"Here:\n```json\n{text}\n```\n", "", login="")
        assert shapes(found) == ["GET /health", "GET /do"]

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
        ("word", "kind"),
        [
            ("str", "string"),
            ("<INT>", "integer"),
            ("array", "list"),
            ("list", "list"),
            ("Emma", None),
        ],
    )
    def test_kinds_by_name(self, word: str, kind: str | None) -> None:
        assert kind_named(word) == kind

    def test_the_same_route_counts_once_with_all_that_both_say(self) -> None:
        found = planned(
            route(method="POST", path="/a/{id}", takes={"x": 1}),
            route(function="other", method="post", path="/a/:key", takes={"x": 2, "y": "z"}),
        )
        (both,) = found.pieces
        assert [(field.name, field.example) for field in both.takes] == [("x", "1"), ("y", '"z"')]

    def test_get_and_delete_take_their_values_in_the_query(self) -> None:
        get, delete = planned(
            route(takes={"word": "tea"}), route(function="drop", method="DELETE", path="/drop")
        ).pieces
        assert (get.accepts, delete.accepts) == ("query", "query")

    @pytest.mark.parametrize(
        ("gives", "status", "answers"),
        [
            ("hello", 200, "text"),
            ("<p>hello</p>", 200, "html"),
            (None, 200, "nothing"),
            ({}, 200, "json"),
            ({"a": 1}, 200, "json"),
        ],
    )
    def test_what_is_answered(self, gives: Json, status: int, answers: str) -> None:
        (found,) = planned(route(gives=gives, status=status)).pieces
        assert found.answers == answers

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("no json", "has no stubs; write stubs"),
            ("[" * 100_000, "has no stubs; write stubs"),
            ('{"routes": 5}', "no list of routes"),
            ('{"routes": ["GET /"]}', "not an object"),
            (json.dumps({"routes": [route(method="FETCH")]}), "'FETCH' of /do is none of"),
            (json.dumps({"routes": [route(path="/a b")]}), "cannot be asked"),
            (json.dumps({"routes": [route(function="class")]}), "has no name"),
        ],
    )
    def test_what_cannot_be_used_is_said_in_one_line(self, text: str, why: str) -> None:
        with pytest.raises(BadReply, match=why) as caught:
            read_contract(text, "", login="")
        assert "\n" not in str(caught.value)

    def test_paths_that_the_task_names_are_kept(self) -> None:
        task = "POST /api/notes adds one, GET /api/notes/<id> shows it; see https://x.org/docs"
        assert named_paths(task) == ("/api/notes", "/api/notes/{}")
        with pytest.raises(BadReply, match="the task names /api/notes, and no route has that"):
            planned(route(path="/notes"), task=task)
        whole = planned(
            route(method="POST", path="/api/notes"),
            route(function="show", path="/api/notes/{key}"),
            task=task,
        )
        assert len(whole.pieces) == 2

    def test_nothing_is_called_as_a_word_of_python_is(self) -> None:
        sent: Json = {"from": "ann", "to": "bob"}
        send = route(method="POST", path="/{class}", takes=sent, gives=[{"from": "ann"}])
        kept: Json = {"id": "integer", "from": "string", "to": "string"}
        found = planned(send, tables={"transfers": kept})
        (made,) = found.pieces
        assert signature(made, found) == "def do(class_: str, from_: str, to: str):"
        assert (made.path, made.example()) == ("/{class_}", [{"from_": "ann"}])
        assert found.tables[0].text() == "transfers(id: int, from_: str, to: str)"

    def test_functions_have_names_of_their_own(self) -> None:
        # What checks, the kit and Python itself call by these names would be gone.
        taken = ("http", "store", "answer", "text", "query", "list", "sum", "create", "Answer")
        found = planned(
            route(function="list_all", path="/b"),
            route(function="list_all", path="/c"),
            *(route(function=name, path=f"/{name}/now") for name in taken),
        )
        names = [each.function for each in found.operations]
        assert len(set(names)) == len(names) == 12
        assert not set(taken) & set(names)
        assert all(name.isidentifier() for name in names)


class TestTables:
    def test_every_row_is_found_by_something(self) -> None:
        found = planned(
            route(), tables={"Books": {"title": "str"}, "Sales": {"sale_id": "int"}, "odd": 5}
        )
        assert [table.text() for table in found.tables] == [
            "books(id: int, title: str)",
            "sales(sale_id: int)",
        ]

    def test_who_can_log_in_is_kept_by_the_kit(self) -> None:
        users: dict[str, Json] = {"users": {"id": "integer", "password_hash": "string"}}
        assert planned(route(login=True), tables=users, login=ACCOUNTS).tables == ()
        assert planned(route(), tables=users).tables != ()

    def test_rows_belong_to_who_the_token_names(self) -> None:
        (table,) = planned(
            route(), tables={"carts": {"user_id": "integer", "product": "string"}}, login=ACCOUNTS
        ).tables
        assert table == Table(
            name="carts",
            columns=(
                Field(name="id", kind="integer"),
                Field(name="user"),
                Field(name="product"),
            ),
        )


class TestCompleting:
    def test_accounts_are_there_where_the_task_has_words_for_them(self) -> None:
        assert shapes(planned(route(), login=ACCOUNTS)) == [
            "GET /health",
            "POST /register",
            "POST /login",
            "GET /do",
        ]
        assert shapes(planned(route())) == ["GET /health", "GET /do"]

    def test_nobody_needs_a_token_where_nobody_can_log_in(self) -> None:
        assert not planned(route(login=True)).pieces[0].login
        assert planned(route(login=True), login=ACCOUNTS).pieces[0].login

    def test_routes_of_the_plan_that_the_kit_brings_keep_their_paths_and_names(self) -> None:
        fields: Json = {"email": "ann@example.com", "passwd": "x7-secret"}
        found = planned(
            route(function="join", method="POST", path="/api/signup", takes=fields),
            route(
                function="enter",
                method="POST",
                path="/api/session",
                takes=fields,
                gives={"access_token": "…"},
            ),
            login=ACCOUNTS,
        )
        register, login = found.part("register"), found.part("login")
        assert register is not None
        assert login is not None
        assert (register.path, login.path) == ("/api/signup", "/api/session")
        assert found.pieces == ()

    def test_who_only_registers_logs_in_with_the_same(self) -> None:
        fields: Json = {"email": "ann@example.com", "age": 31, "password": "x7-secret"}
        found = planned(
            route(function="join", method="POST", path="/register", takes=fields), login=ACCOUNTS
        )
        login = found.part("login")
        assert login is not None
        assert [field.name for field in login.takes] == ["email", "password"]

    def test_who_asks_comes_with_the_token_and_never_twice(self) -> None:
        (found,) = planned(
            route(
                method="POST",
                path="/users/{username}/notes",
                login=True,
                takes={"user_id": 3, "text": "tea"},
                gives={"id": 1, "owner": "bob", "text": "tea"},
            ),
            login=ACCOUNTS,
        ).pieces
        assert found.path == "/notes"
        assert [field.name for field in found.takes] == ["text"]
        assert found.example() == {"id": 1, "user": "ann", "text": "tea"}

    def test_a_path_that_the_task_names_stays_with_who_asks_in_it(self) -> None:
        mine = route(path="/users/{user_id}/notes", login=True)
        task = "notes of a user lie at /users/<user_id>/notes"
        assert "GET /users/{user_id}/notes" in shapes(planned(mine, task=task, login=ACCOUNTS))
        plan, more = planned(mine, task=task, login=ACCOUNTS), planned(route(), login=ACCOUNTS)
        named = named_paths(task)
        assert set(named) <= {each.shape[1] for each in plan.operations}
        whole = joined(plan, more, login=ACCOUNTS, named=named)
        assert "GET /users/{user_id}/notes" in shapes(whole)
        # Where nobody names it, who asks comes with the token alone.
        assert "GET /notes" in shapes(planned(mine, login=ACCOUNTS))

    def test_a_plan_is_joined_with_what_it_lacks(self) -> None:
        books: dict[str, Json] = {"books": {"id": "integer", "title": "string"}}
        more: dict[str, Json] = {"books": {"id": "integer", "fee": "number"}, "fines": {"a": "int"}}
        plan = planned(route(), tables=books)
        added = route(function="pay", path="/fee")
        both = joined(plan, planned(route(), added, tables=more), login="")
        assert shapes(both) == ["GET /health", "GET /do", "GET /fee"]
        assert len({each.function for each in both.operations}) == 3
        owned = joined(planned(route(), login=ACCOUNTS), plan, login=ACCOUNTS)
        assert [each.function for each in owned.operations if each.part] == [
            "health",
            "register",
            "login",
        ]
        assert {table.text() for table in both.tables} == {
            "books(id: int, title: str, fee: float)",
            "fines(id: int, a: int)",
        }

    def test_a_route_of_the_same_name_and_method_is_not_added_again(self) -> None:
        first = planned(route(function="open_cart", method="POST", path="/open_cart"))
        again = planned(route(function="open_cart", method="POST", path="/cart"), route())
        assert shapes(joined(first, again, login="")) == [
            "GET /health",
            "POST /open_cart",
            "GET /do",
        ]

    def test_a_way_in_without_a_password_is_the_kits(self) -> None:
        odd = route(function="enrol", method="POST", path="/register", takes={"user": "a"})
        found = planned(odd, route(), login=ACCOUNTS)
        register = found.part("register")
        assert register is not None
        assert register.takes == CREDENTIALS
        assert shapes(found).count("POST /register") == 1

    def test_who_asks_is_known_before_a_piece_is_called(self) -> None:
        refuses: Json = [
            {"status": 401, "when": "nobody is logged in"},
            {"status": 404, "when": "the user is not found"},
            {"status": 409, "when": "the page is taken"},
        ]
        (found,) = planned(
            route(path="/a/{id}", login=True, refuses=refuses), login=ACCOUNTS
        ).pieces
        assert [each.when for each in found.refuses] == ["the page is taken"]

    def test_one_text_that_is_called_the_body_is_sent_as_it_is(self) -> None:
        (found,) = planned(route(method="POST", takes={"body": "a b"})).pieces
        assert found.accepts == "text"
        (other,) = planned(route(method="POST", takes={"body": "a b", "title": "c"})).pieces
        assert other.accepts == "json"


class TestRows:
    def test_what_is_sent_to_a_table_is_kept_in_it(self) -> None:
        push = route(
            function="push",
            method="POST",
            path="/jobs",
            takes={"payload": "x", "priority": 2},
            gives={"id": 1},
        )
        (table,) = planned(push, tables={"jobs": {"id": "integer"}}).tables
        assert table.text() == "jobs(id: int, payload: str, priority: int)"

    def test_a_plan_without_tables_that_takes_in_and_shows_keeps_records(self) -> None:
        beat = route(function="beat", method="POST", path="/beat", takes={"name": "a"})
        (table,) = planned(beat, route(path="/seen")).tables
        assert table.text() == "records(id: int, name: str, a: int)"
        # Nothing is to be kept where nothing is shown later.
        assert planned(beat).tables == ()
        assert planned(route(path="/seen")).tables == ()


def test_who_somebody_is_and_what_proves_it() -> None:
    name, mail, secret = Field(name="age", kind="integer"), Field(name="mail"), Field(name="passwd")
    assert who_and_password((secret, name, mail)) == (mail, secret)
    assert who_and_password((secret,)) == who_and_password((mail,)) == ()
    assert who_and_password(CREDENTIALS) == CREDENTIALS


def test_the_text_says_everything_a_coder_needs() -> None:
    found = read_contract(PLAN, CART, login=ACCOUNTS)
    guarded = "needs the header Authorization: Bearer <token>, else 401"
    item = '{"id": 1, "product": "apple", "quantity": 2, "unit_price": 1.5}'
    takes = "takes JSON product (string), quantity (integer), unit_price (number)"
    assert found.text().splitlines()[3:] == [
        f"POST /cart/items; {takes}; {guarded}; answers 201 with JSON such as {item}",
        f"DELETE /cart/items/{{id}}; {guarded}; answers 204; 404 when there is no such item",
        f'GET /cart/total; {guarded}; answers 200 with JSON such as {{"total": 3.0}}',
    ]
    add = found.called("add_item")
    assert signature(add, found) == (
        "def add_item(user: str, product: str, quantity: int, unit_price: float):"
    )
