"""Calls that critics propose as data."""

import json

import pytest

from twinsmith.core.checks.call_reply import calls_schema, read_calls
from twinsmith.core.errors import BadReply

CALLS = ("volume(side)", "mix(a, b)", "any_of(...)", "now()")


def sources(*calls: object) -> list[str]:
    return [probe.source for probe in read_calls(json.dumps({"calls": calls}), CALLS)]


def test_calls_are_read_as_literals_of_python() -> None:
    one = {"function": "mix", "args": ["it's", [1, 2.5]], "gives": None}
    two = {"function": "now", "args": [], "gives": {"a": True}}
    found = read_calls(json.dumps({"calls": [one, one, two]}), CALLS)
    assert {probe.source: times for probe, times in found.items()} == {
        """assert mix("it's", [1, 2.5]) == None""": 2,
        "assert now() == {'a': True}": 1,
    }
    call = next(iter(found)).call
    assert call is not None
    assert (call.function, call.args, call.expected) == ("mix", ('"it\'s"', "[1, 2.5]"), "None")


def test_what_cannot_be_called_so_is_left_out() -> None:
    fine = {"function": "volume", "args": [2], "gives": 8}
    free = {"function": "any_of", "args": [1, 2, 3], "gives": True}
    bad = [
        {**fine, "args": [2, 3]},
        {**fine, "function": "area"},
        {**fine, "args": "2"},
        {"function": "volume", "args": [2]},
        {**fine, "args": ["x" * 1000]},
        "volume(2)",
        {**fine, "args": [float("inf")]},
        {**fine, "gives": [float("nan")]},
    ]
    assert sources(fine, free, *bad) == ["assert volume(2) == 8", "assert any_of(1, 2, 3) == True"]
    for text in ("no", "{}", json.dumps({"calls": bad}), '{"calls": 3}'):
        with pytest.raises(BadReply):
            read_calls(text, CALLS)


def test_the_schema_knows_the_functions() -> None:
    calls = json.loads(calls_schema(["volume"], 4))["properties"]["calls"]
    assert calls["maxItems"] == 4
    assert calls["items"]["properties"]["function"] == {"enum": ["volume"]}
