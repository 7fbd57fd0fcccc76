from typing import cast

import pytest

from twinsmith.core import members
from twinsmith.core.events import Json
from twinsmith.core.members import Object

DATA: Object = {
    "text": "a",
    "whole": 3,
    "number": 1.5,
    "flag": True,
    "list": [1, "a", None, {"x": 1}, True, 2.5, float("nan"), 10**400],
    "object": {"1": "a", "02": "b", "x": "c", "9" * 5000: "d"},
}


def test_what_is_of_its_type_is_read() -> None:
    assert members.text(DATA, "text") == "a"
    assert members.whole(DATA, "whole") == 3
    assert (members.number(DATA, "number"), members.number(DATA, "whole")) == (1.5, 3.0)
    assert members.flag(DATA, "flag")
    assert members.texts(DATA, "list") == ("a",)
    assert members.wholes(DATA["list"]) == (1,)
    assert members.numbers(DATA["list"]) == (1.0, 0.0, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0)
    assert list(members.objects(DATA, "list")) == [{"x": 1}]
    assert list(members.numbered(DATA, "object")) == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    "value", [None, True, 1, 2.5, float("inf"), 10**400, "a", [1], {"a": 1}], ids=repr
)
def test_what_is_of_another_type_counts_as_absent(value: Json) -> None:
    data = cast("Object", {"it": value})
    assert isinstance(members.text(data, "it"), str)
    assert members.whole(data, "it") in (None, 1)
    assert members.number(data, "it", 7.0) in (7.0, 1.0, 2.5)
    assert members.flag(data, "it") == (value is True)
    assert isinstance(members.items(data, "it"), list)
    assert isinstance(members.member(data, "it"), dict)
    assert members.text({}, "it") == ""
