"""OpenAPI documents as contracts: what they say holds, and what cannot be built is told."""

import json

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Json
from twinsmith.core.planning.contract import Contract, Field, Refusal
from twinsmith.core.planning.spec import MOST_OPERATIONS, contract_from

NOTE: dict[str, Json] = {
    "type": "object",
    "required": ["title"],
    "properties": {
        "title": {"type": "string", "example": "Milk"},
        "priority": {"type": "integer"},
    },
}
KEPT: dict[str, Json] = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "title": {"$ref": "#/components/schemas/Title"}},
}
COMPONENTS: dict[str, Json] = {
    "schemas": {"Note": NOTE, "Kept": KEPT, "Title": {"type": "string", "enum": ["Milk", "Tea"]}},
    "parameters": {"Id": {"name": "id", "in": "path", "required": True, "schema": {}}},
    "responses": {"Gone": {"description": "there is\n no such note"}},
}
BODY: Json = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}}}}
ANSWER: Json = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Kept"}}}}


def document(paths: Json, **more: Json) -> dict[str, Json]:
    return {"openapi": "3.0.3", "paths": paths, "components": COMPONENTS, **more}


def one(operation: Json, path: str = "/notes", method: str = "post", **more: Json) -> Contract:
    return contract_from(document({path: {method: operation}}, **more))


def refusal(raw: dict[str, Json]) -> str:
    with pytest.raises(ConfigError) as raised:
        contract_from(raw)
    assert "\n" not in str(raised.value)
    return str(raised.value)


class TestRead:
    def test_references_lead_to_names_kinds_and_examples(self) -> None:
        found = one({"requestBody": BODY, "responses": {"201": ANSWER}, "operationId": "addNote"})
        add = found.called("add_note")
        assert add.takes == (
            Field(name="title", example='"Milk"'),
            Field(name="priority", kind="integer", example="1", required=False),
        )
        assert (add.status, add.answers, add.example()) == (201, "json", {"id": 1, "title": "Milk"})

    def test_what_is_posted_is_kept_in_a_table_with_a_key(self) -> None:
        (table,) = one({"requestBody": BODY, "responses": {"201": ANSWER}}).tables
        assert table.text() == "notes(title: str, priority: int, id: int)"
        (keyless,) = one(
            {
                "requestBody": BODY,
                "responses": {
                    "200": {"content": {"application/json": {"example": {"title": "Milk"}}}}
                },
            }
        ).tables
        assert keyless.key == Field(name="id", kind="integer")

    def test_refusals_are_told_in_a_line_and_401_comes_with_the_token(self) -> None:
        gone: Json = {"$ref": "#/components/responses/Gone"}
        responses: Json = {"204": {"description": "done"}, "404": gone, "401": gone}
        found = one({"responses": responses}, "/notes/{id}", "delete")
        (delete,) = found.pieces
        assert delete.refuses == (Refusal(status=404, when="there is no such note"),)
        assert (delete.status, delete.answers, delete.gives) == (204, "nothing", "")

    def test_parameters_of_a_path_are_shared_and_those_of_a_query_are_taken(self) -> None:
        word: Json = {"name": "word", "in": "query", "required": True, "schema": {"type": "string"}}
        most: Json = {"name": "most", "in": "query", "schema": {"type": "integer"}, "example": 9}
        shared: Json = [{"$ref": "#/components/parameters/Id"}, most]
        path: Json = {"parameters": shared, "get": {"parameters": [word], "responses": {}}}
        (search,) = contract_from(document({"/notes/{id}/find": path})).pieces
        assert search.accepts == "query"
        assert [(f.name, f.kind, f.required, f.example) for f in search.takes] == [
            ("most", "integer", False, "9"),
            ("word", "string", True, '"text"'),
        ]

    @pytest.mark.parametrize(
        ("media", "accepts", "names"),
        [
            ("application/x-www-form-urlencoded", "form", ["title", "priority"]),
            ("text/plain", "text", ["text"]),
            ("application/merge-patch+json", "json", ["title", "priority"]),
        ],
    )
    def test_bodies_that_are_sent_otherwise(
        self, media: str, accepts: str, names: list[str]
    ) -> None:
        body: Json = {"content": {media: {"schema": NOTE}}}
        (found,) = one({"requestBody": body, "responses": {}}).pieces
        assert (found.accepts, [field.name for field in found.takes]) == (accepts, names)

    def test_a_service_of_a_document_with_tokens_has_accounts(self) -> None:
        components: Json = {"securitySchemes": {"t": {"type": "http", "scheme": "Bearer"}}}
        secured: Json = {"responses": {}, "security": [{"t": []}]}
        paths: Json = {"/mine": {"get": secured}, "/all": {"get": {"responses": {}}}}
        found = contract_from({"openapi": "3.1.0", "paths": paths, "components": components})
        assert [each.part for each in found.operations] == ["health", "register", "login", "", ""]
        assert [each.login for each in found.pieces] == [True, False]

    def test_security_of_the_whole_document_holds_unless_a_route_says_otherwise(self) -> None:
        paths: Json = {
            "/mine": {"get": {"responses": {}}},
            "/all": {"get": {"responses": {}, "security": []}},
        }
        found = contract_from(document(paths, security=[{"t": []}]))
        assert [each.login for each in found.pieces] == [True, False]

    def test_paths_of_the_document_stay_where_somebody_is_named_in_them(self) -> None:
        found = one({"responses": {}, "security": [{"t": []}]}, "/users/{user_id}/notes", "get")
        assert [each.path for each in found.pieces] == ["/users/{user_id}/notes"]

    def test_names_are_functions_of_their_own(self) -> None:
        paths: Json = {
            "/a": {"get": {"operationId": "list", "responses": {}}},
            "/b": {"get": {"operationId": "fetchAll", "responses": {}}},
            "/notes": {"get": {"operationId": "fetch-all", "responses": {}}},
            "/d": {"get": {"operationId": "2fast", "responses": {}}},
            "/e": {"get": {"operationId": "import", "responses": {}}},
        }
        names = [each.function for each in contract_from(document(paths)).pieces]
        assert names == ["list_a", "fetch_all", "fetch_all_notes", "do_2fast", "do_import"]

    @pytest.mark.parametrize(
        ("schema", "sample"),
        [
            ({"type": "string", "format": "date"}, "2026-01-31"),
            ({"type": "string", "format": "email"}, "ann@example.com"),
            ({"type": "array", "items": {"type": "number"}}, [1.5]),
            ({"type": ["null", "boolean"]}, True),
            ({"type": "integer", "examples": [4, 5]}, 4),
            ({"$ref": "#/components/schemas/Title"}, "Milk"),
        ],
    )
    def test_a_sample_of_every_kind(self, schema: Json, sample: Json) -> None:
        answer: Json = {"content": {"application/json": {"schema": schema}}}
        (found,) = one({"responses": {"200": answer}}, method="get").pieces
        assert found.example() == sample

    def test_a_schema_that_holds_itself_ends(self) -> None:
        tree: Json = {"type": "object", "properties": {"up": {"$ref": "#/components/schemas/T"}}}
        answer: Json = {
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/T"}}}
        }
        paths: Json = {"/t": {"get": {"responses": {"200": answer}}}}
        found = contract_from(
            {"openapi": "3.0.0", "paths": paths, "components": {"schemas": {"T": tree}}}
        )
        assert len(json.dumps(found.pieces[0].example())) < 200


class TestRefused:
    @pytest.mark.parametrize(
        ("raw", "told"),
        [
            ({}, "it has no 'openapi' version"),
            ({"swagger": "2.0", "paths": {"/a": {}}}, "it says '2.0'"),
            ({"openapi": 3.1, "paths": {"/a": {}}}, "it says 3.1"),
            ({"openapi": "4.0.0", "paths": {"/a": {}}}, "it says '4.0.0'"),
            ({"openapi": "3.0.0"}, "the spec has no paths"),
            ({"openapi": "3.0.0", "paths": {}}, "the spec has no paths"),
            ({"openapi": "3.0.0", "paths": {"/a": {"options": {}}}}, "the spec has no operation"),
            ({"openapi": "3.0.0", "paths": {"/a": "get"}}, "'/a' is not an object"),
        ],
    )
    def test_what_is_no_openapi_3(self, raw: dict[str, Json], told: str) -> None:
        assert told in refusal(raw)

    def test_two_hundred_routes_are_too_many_and_the_most_is_named(self) -> None:
        paths: dict[str, Json] = {f"/r{n}": {"get": {"responses": {}}} for n in range(200)}
        told = refusal(document(paths))
        assert "the spec has 200 operations" in told
        assert f"at most {MOST_OPERATIONS}" in told
        assert told.endswith("split it")
        most = dict(list(paths.items())[:MOST_OPERATIONS])
        assert len(contract_from(document(most)).pieces) == MOST_OPERATIONS

    @pytest.mark.parametrize(
        ("scheme", "told"),
        [
            ({"type": "apiKey", "in": "header", "name": "X-Key"}, "'apiKey'"),
            ({"type": "oauth2", "flows": {}}, "'oauth2'"),
            ({"type": "http", "scheme": "basic"}, "'basic'"),
        ],
    )
    def test_security_other_than_bearer(self, scheme: Json, told: str) -> None:
        paths: Json = {"/a": {"get": {"responses": {}}}}
        components: Json = {"securitySchemes": {"key": scheme}}
        said = refusal({"openapi": "3.0.0", "paths": paths, "components": components})
        assert said.startswith("the spec's security 'key' is ")
        assert told in said
        assert said.endswith("bearer tokens can be built: use those")

    def test_references_to_other_files(self) -> None:
        body: Json = {"$ref": "other.yaml#/Note"}
        paths: Json = {"/a": {"post": {"requestBody": body, "responses": {}}}}
        assert "refers to 'other.yaml#/Note'" in refusal(document(paths))

    def test_kinds_of_content_that_cannot_be_built(self) -> None:
        xml: Json = {"content": {"application/xml": {"schema": NOTE}}}
        taken: Json = {"/a": {"post": {"requestBody": xml, "responses": {}}}}
        assert "takes 'application/xml'; JSON, forms and text" in refusal(document(taken))
        given: Json = {"/a": {"get": {"responses": {"200": xml}}}}
        assert "answers with 'application/xml'; JSON, text and HTML" in refusal(document(given))

    @pytest.mark.parametrize("name", ["a-b", "2nd", "from", ""])
    def test_names_that_are_none(self, name: str) -> None:
        body: Json = {"content": {"application/json": {"schema": {"properties": {name: {}}}}}}
        paths: Json = {"/a": {"post": {"requestBody": body, "responses": {}}}}
        told = f"the spec's value {name!r} is no name that can be used; rename it"
        assert refusal(document(paths)) == told
        assert refusal(document({f"/a/{{{name}}}": {"get": {"responses": {}}}})) == told
