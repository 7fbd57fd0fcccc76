"""Where a service has what was wanted, what was delivered, and what truth says of it."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench.programs_asked import Asked, Wanted
from bench.programs_routes import Field, Route, found, openapi_routes, source_routes
from bench.programs_truth import (
    Delivered,
    Judged,
    delivered,
    dialogues,
    judge,
    judged,
    prepared,
    setup_of,
    trials,
)
from twinsmith.adapters.sandbox.canned import EmptySandbox
from twinsmith.core.execution import Execution, ProbeResult

ASKED = Asked(name="x", language="python", kind="service", text="A service.", truth="# a\nb")


# Routes


BOOK = Wanted(
    name="book",
    methods=("POST",),
    words=("book",),
    fields=(("room", ("room",)), ("end", ("end", "to"))),
    without=("cancel",),
)
CANCEL = Wanted(
    name="cancel", methods=("DELETE", "POST"), words=("cancel", "book"), fields=(("id", ("id",)),)
)


def test_what_was_wanted_is_found_by_method_words_and_fields() -> None:
    routes = (
        Route(method="GET", path="/bookings"),
        Route(method="POST", path="/rooms", fields=(Field(name="roomName", place="body"),)),
        Route(
            method="POST",
            path="/bookings",
            fields=(
                Field(name="customer", place="body", sample="ann"),
                Field(name="roomName", place="body"),
                Field(name="note", place="body", needed=False),
                Field(name="endTime", place="body"),
            ),
        ),
        Route(method="POST", path="/b/{which}/cancel", fields=(Field(name="which", place="path"),)),
    )
    assert found((BOOK, CANCEL), routes) == {
        "book": {
            "method": "POST",
            "path": "/bookings",
            "fields": {
                "room": {"name": "roomName", "place": "body"},
                "end": {"name": "endTime", "place": "body"},
            },
            "others": [{"name": "customer", "place": "body", "value": "ann"}],
        },
        "cancel": {
            "method": "POST",
            "path": "/b/{which}/cancel",
            "fields": {"id": {"name": "which", "place": "path"}},
            "others": [],
        },
    }


def test_a_short_word_stands_by_itself() -> None:
    fields = (Field(name="room", place="body"), Field(name="customer", place="body"))
    assert found((BOOK,), (Route(method="POST", path="/book", fields=fields),)) == {}
    fields = (Field(name="room", place="body"), Field(name="valid_to", place="body"))
    assert "book" in found((BOOK,), (Route(method="POST", path="/book", fields=fields),))


def test_a_route_that_is_ruled_out_or_lacks_a_field_is_none() -> None:
    fields = (Field(name="room", place="body"), Field(name="end", place="body"))
    assert found((BOOK,), (Route(method="POST", path="/book/cancel", fields=fields),)) == {}
    assert found((BOOK,), (Route(method="POST", path="/book", fields=fields[:1]),)) == {}
    assert found((BOOK,), (Route(method="POST", path="/make", title="book", fields=fields),))


def test_routes_are_read_off_an_openapi_document() -> None:
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/rooms/{room}/bookings": {
                "parameters": [{"$ref": "#/components/parameters/room"}],
                "post": {
                    "operationId": "book",
                    "summary": "Book it",
                    "parameters": [{"name": "dry", "in": "query", "schema": {"type": "boolean"}}],
                    "requestBody": {
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/b"}}
                        }
                    },
                },
                "get": {},
            },
            "/odd": "text",
        },
        "components": {
            "parameters": {"room": {"name": "room", "in": "path", "example": "A"}},
            "schemas": {
                "b": {
                    "required": ["end", "seats"],
                    "properties": {
                        "end": {"type": "string", "examples": ["10:00"]},
                        "seats": {"type": ["integer", "null"]},
                        "note": {"type": "string"},
                    },
                }
            },
        },
    }
    room = Field(name="room", place="path", sample="A")
    assert openapi_routes(json.dumps(document)) == (
        Route(
            method="POST",
            path="/rooms/{room}/bookings",
            title="book Book it",
            fields=(
                room,
                Field(name="dry", place="query", needed=False, sample=True),
                Field(name="end", place="body", sample="10:00"),
                Field(name="seats", place="body", sample=1),
                Field(name="note", place="body", needed=False),
            ),
        ),
        Route(method="GET", path="/rooms/{room}/bookings", fields=(room,)),
    )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"paths": 5}', "no JSON", '{"paths": {"/": 1}}'])
def test_what_is_no_openapi_document_has_no_routes(text: str) -> None:
    assert openapi_routes(text) == ()


def test_routes_are_read_off_flask_and_fastapi() -> None:
    source = (
        "class Job(BaseModel):\n    payload: str\n    priority: int = 1\n\n"
        '@app.route("/items/<int:item_id>", methods=["GET", "PUT"])\ndef a(item_id):\n'
        '    data = request.get_json()\n    return data["name"], data.get("count")\n'
        "@app.post('/jobs')\ndef b(job: Job):\n    pass\n"
        '@app.route("/search")\ndef c():\n    return request.args.get("q")\n'
    )
    in_path = Field(name="item_id", place="path")
    assert source_routes(source) == (
        Route(method="GET", path="/items/{item_id}", fields=(in_path,)),
        Route(
            method="PUT",
            path="/items/{item_id}",
            fields=(in_path, Field(name="name", place="body"), Field(name="count", place="body")),
        ),
        Route(
            method="POST",
            path="/jobs",
            fields=(Field(name="payload", place="body"), Field(name="priority", place="body")),
        ),
        Route(method="GET", path="/search", fields=(Field(name="q", place="query", needed=False),)),
    )


def test_routes_are_read_off_go() -> None:
    source = (
        'type s struct {\n\tText string `json:"text"`\n}\n'
        'http.HandleFunc("/s", save)\nhttp.HandleFunc("DELETE /s/{key}", gone)\n'
        'http.HandleFunc("/s/", one)\nif r.Method == http.MethodGet { }\n'
    )
    routes = {(route.method, route.path) for route in source_routes(source)}
    assert {("DELETE", "/s/{key}"), ("GET", "/s/{id}"), ("GET", "/s")} <= routes


# What was delivered, and what truth says


def test_a_result_is_read_accepted_or_rejected(tmp_path: Path) -> None:
    assert delivered(tmp_path) is None
    assert delivered(tmp_path / "none") is None
    rejected = tmp_path / "rejected"
    (rejected / "inner").mkdir(parents=True)
    (rejected / "solution.go").write_text("package main")
    (rejected / "store.go").write_text("more")
    (rejected / "inner" / "deep.go").write_text("deep")
    (rejected / "solution_test.go").write_text("no")
    (tmp_path / "report.json").write_text('{"frame": 0.5}')
    made = delivered(tmp_path)
    assert made is not None
    assert (made.language, made.source, made.report) == ("go", "package main", {"frame": 0.5})
    assert [file.name for file in made.files] == ["inner/deep.go", "store.go"]
    (tmp_path / "solution.py").write_text("accepted")
    (tmp_path / "openapi.json").write_text("{}")
    (tmp_path / "test_solution.py").write_text("no")
    (tmp_path / "report.json").write_text("no JSON")
    assert delivered(tmp_path) == Delivered(language="python", source="accepted", openapi="{}")


def test_dialogues_are_paragraphs_and_run_together_or_alone() -> None:
    checks = dialogues("\n# one\na = 1\nb = 2\n\n# two\nc\n\n# nothing in it")
    assert [(check.name, check.source) for check in checks] == [
        ("one", "a = 1\nb = 2"),
        ("two", "c"),
    ]
    assert [len(probes.checks) for probes in trials(checks, "", fresh=False)] == [2]
    assert [len(probes.checks) for probes in trials(checks, "", fresh=True)] == [1, 1]


def test_truth_knows_the_routes_of_this_service() -> None:
    asked = replace(ASKED, wanted=(CANCEL,))
    source = '@app.delete("/book/<number>")\ndef cancel(number): pass\n'
    setup = setup_of(asked, Delivered(language="python", source=source))
    assert "'path': '/book/{number}'" in setup
    ast.parse(setup)
    ast.parse(setup_of(replace(ASKED, kind="cli"), Delivered(language="c", source="")))


def test_a_line_comes_before_a_program_but_after_its_future() -> None:
    assert prepared("a\n", "") == "a\n"
    assert prepared("a\n", "x") == "x\na\n"
    future = '"""Text."""\nfrom __future__ import annotations\n'
    assert prepared(f"{future}a\n", "x") == f"{future}x\na\n"


def result(name: str, outcome: str, detail: str = "") -> Execution:
    seen = ProbeResult(name=name, outcome=outcome, detail=detail)  # type: ignore[arg-type]
    return Execution(candidate=0, results=(seen,))


def test_truth_sums_up_dialogues_and_attacks() -> None:
    seen = judged(
        2,
        [result("a", "passed"), result("b", "failed", "no")],
        [
            result("x", "passed"),
            result("y", "failed", "withstands('y') (exploited: XSS, SQL): GET / gave (1)"),
            result("z", "raised", "RuntimeError: could not be tried"),
            Execution(candidate=0, results=(), problem="does not compile"),
        ],
    )
    assert (seen.works, seen.passed, seen.total, seen.problem) == (False, 1, 2, "b: no")
    assert (seen.weaknesses, seen.tried, seen.untried) == (("SQL", "XSS"), 2, 2)
    assert judged(1, [result("a", "passed")], []) == Judged(passed=1, total=1)
    broken = judged(1, [Execution(candidate=0, results=(), problem="does not compile: x")], [])
    assert (broken.works, broken.problem) == (False, "does not compile: x")


async def test_nothing_or_another_language_does_not_work() -> None:
    seen = await judge(ASKED, None, EmptySandbox())
    assert (seen.works, seen.total, seen.problem) == (False, 1, "nothing was delivered")
    seen = await judge(ASKED, Delivered(language="go", source=""), EmptySandbox())
    assert seen.problem == "it is written in go, not in python"
