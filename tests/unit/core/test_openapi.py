import json

import pytest

from tests.service_scripts import CART, PLAN
from twinsmith.core.events import Json
from twinsmith.core.planning.contract import (
    Accepts,
    Answers,
    Contract,
    Field,
    Operation,
    Refusal,
)
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.openapi import openapi_of, schema_of
from twinsmith.core.planning.spec import contract_from

CONTRACT = read_contract(PLAN, CART, login="with user accounts")


def told(*operations: Operation) -> dict[str, Json]:
    document = openapi_of(Contract(operations=operations, title="T"))
    # As whoever reads it has it.
    read: dict[str, Json] = json.loads(json.dumps(document))
    return read


def at(document: Json, *names: str) -> Json:
    for name in names:
        assert isinstance(document, dict)
        document = document[name]
    return document


def test_every_route_is_there_once_with_all_that_it_answers() -> None:
    document = openapi_of(CONTRACT)
    assert document["openapi"] == "3.1.0"
    paths = at(document, "paths")
    assert isinstance(paths, dict)
    assert set(paths) == {each.path for each in CONTRACT.operations}
    total = at(paths, "/cart/total", "get")
    assert at(total, "operationId") == "see_total"
    assert at(total, "summary") == "see the total"
    assert at(total, "security") == [{"token": []}]
    assert at(total, "responses", "200", "content", "application/json", "example") == {"total": 3.0}
    assert at(total, "responses", "401")
    assert at(paths, "/cart/items/{id}", "delete", "responses", "404") == {
        "description": "there is no such item"
    }
    assert at(document, "components", "securitySchemes", "token", "scheme") == "bearer"


def test_a_body_has_its_kinds_and_says_what_is_needed() -> None:
    add = at(openapi_of(CONTRACT), "paths", "/cart/items", "post")
    schema = at(add, "requestBody", "content", "application/json", "schema")
    assert at(schema, "required") == ["product", "quantity", "unit_price"]
    assert at(schema, "properties", "quantity") == {"type": "integer", "examples": [2]}
    assert at(add, "responses", "400")


def test_names_in_a_path_are_its_parameters() -> None:
    remove = at(openapi_of(CONTRACT), "paths", "/cart/items/{id}", "delete")
    assert at(remove, "parameters") == [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    ]


def test_a_query_is_no_body() -> None:
    takes = (Field(name="word"), Field(name="most", kind="integer", required=False))
    search = Operation(function="s", method="GET", path="/s", accepts="query", takes=takes)
    found = at(told(search), "paths", "/s", "get")
    assert isinstance(found, dict)
    assert "requestBody" not in found
    assert found["parameters"] == [
        {"name": "word", "in": "query", "required": True, "schema": {"type": "string"}},
        {"name": "most", "in": "query", "required": False, "schema": {"type": "integer"}},
    ]


@pytest.mark.parametrize(
    ("accepts", "kind"),
    [("text", "text/plain"), ("form", "application/x-www-form-urlencoded")],
)
def test_what_is_sent_otherwise(accepts: Accepts, kind: str) -> None:
    takes = (Field(name="a"),)
    sent = Operation(function="s", method="POST", path="/s", accepts=accepts, takes=takes)
    content = at(told(sent), "paths", "/s", "post", "requestBody", "content")
    assert isinstance(content, dict)
    assert list(content) == [kind]


@pytest.mark.parametrize(
    ("answers", "gives", "content"),
    [
        ("text", '"hello"', "text/plain"),
        ("text", "", "text/plain"),
        ("html", '"<p>"', "text/html"),
        ("nothing", "", ""),
        ("redirect", "", ""),
    ],
)
def test_what_is_answered(answers: Answers, gives: str, content: str) -> None:
    asked = Operation(function="f", method="GET", path="/f", answers=answers, gives=gives)
    good = at(told(asked), "paths", "/f", "get", "responses", "200")
    assert isinstance(good, dict)
    kinds = good.get("content", {})
    assert isinstance(kinds, dict)
    assert list(kinds) == ([content] if content else [])


def test_without_accounts_nothing_is_said_of_tokens() -> None:
    document = told(Operation(function="f", method="GET", path="/f", gives='{"a": 1}'))
    assert "components" not in document
    assert "401" not in json.dumps(document)


def test_two_methods_of_a_path_stand_beside_each_other() -> None:
    one = Operation(function="a", method="GET", path="/f")
    other = Operation(
        function="b", method="DELETE", path="/f", refuses=(Refusal(status=409, when="lent"),)
    )
    found = at(told(one, other), "paths", "/f")
    assert isinstance(found, dict)
    assert set(found) == {"get", "delete"}


@pytest.mark.parametrize(
    ("example", "schema"),
    [
        (True, {"type": "boolean"}),
        (1, {"type": "integer"}),
        (1.5, {"type": "number"}),
        ("x", {"type": "string"}),
        ([], {"type": "array"}),
        ([1], {"type": "array", "items": {"type": "integer"}}),
        ({"a": [None]}, {"type": "object", "properties": {"a": {"type": "array", "items": {}}}}),
        (None, {}),
    ],
)
def test_the_type_of_an_example(example: Json, schema: Json) -> None:
    assert schema_of(example) == schema


def test_what_is_written_can_be_built_from_again() -> None:
    again = contract_from(json.loads(json.dumps(openapi_of(CONTRACT))))
    assert {each.shape for each in again.operations} == {each.shape for each in CONTRACT.operations}
    for each in CONTRACT.pieces:
        same = next(other for other in again.operations if other.shape == each.shape)
        assert (same.login, same.status) == (each.login, each.status)
        assert [(f.name, f.kind) for f in same.takes] == [(f.name, f.kind) for f in each.takes]
        assert same.example() == each.example()
