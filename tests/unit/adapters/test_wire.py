"""Values that cross the pipe between a program and its judge."""

import json
import math
from collections.abc import Iterator

import pytest

from twinsmith.adapters.sandbox.inside import wire
from twinsmith.adapters.sandbox.inside.wire import Opaque, decode, encode


def crossed(value: object) -> object:
    return decode(json.loads(json.dumps(encode(value))))


@pytest.mark.parametrize(
    "value",
    [
        *(
            None,
            True,
            False,
            0,
            -1,
            2**53,
            -(2**200),
            1.5,
            -0.0,
            float("inf"),
            3 + 4j,
            "",
            "é\ud800",
        ),
        *([], [1, [2, (3,)]], (), (1, "a"), {1, 2}, frozenset({3}), b"\x00\xff", bytearray(b"x")),
        *({}, {"a": 1, 2: (3,), (4, 5): {6}, None: [7]}, {"$": "int", "v": "0x1"}),
    ],
)
def test_a_value_arrives_as_it_was(value: object) -> None:
    arrived = crossed(value)
    assert arrived == value
    assert type(arrived) is type(value)


def test_not_a_number_stays_one() -> None:
    arrived = crossed(float("nan"))
    assert isinstance(arrived, float)
    assert math.isnan(arrived)


def test_one_and_one_point_zero_and_true_stay_apart() -> None:
    assert [type(crossed(v)).__name__ for v in (1, 1.0, True)] == ["int", "float", "bool"]


def test_an_iterator_arrives_as_an_iterator_and_endless_ones_are_cut() -> None:
    arrived = crossed(n for n in range(3))
    assert isinstance(arrived, Iterator)
    assert repr(arrived) == "iter([0, 1, 2])"
    assert list(arrived) == [0, 1, 2]
    endless = crossed(iter(int, 1))
    assert isinstance(endless, Iterator)
    assert len(list(endless)) == 10_000


def test_what_cannot_cross_equals_nothing() -> None:
    class Sly:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

    arrived = crossed(Sly())
    assert arrived != 4
    assert isinstance(arrived, Opaque)
    assert "Sly" in repr(arrived)


def test_subclasses_lose_their_tricks() -> None:
    class SlyInt(int):
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

    assert crossed(SlyInt(3)) != 4
    assert type(crossed(SlyInt(3))) is int


@pytest.mark.parametrize("value", [None, [1, 2.5, "é\n\ud800", {"a": []}], {"b": True}, -0.0])
def test_json_without_its_module_is_json(value: object) -> None:
    assert json.loads(wire.dumps(value)) == value
    assert wire.loads(json.dumps(value)) == value


@pytest.mark.parametrize("text", ["", "[1", "[1] 2", "nope", "[" * 100_000, "{1: 2}"])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        wire.loads(text)


def test_frames_come_whole_or_not_at_all() -> None:
    two = wire.frame({"a": 1}) + wire.frame({"b": 2})
    buffer = bytearray()
    seen: list[dict[str, object]] = []
    for byte in two:
        buffer.append(byte)
        seen.extend(wire.frames(buffer))
    assert seen == [{"a": 1}, {"b": 2}]
    assert buffer == b""


@pytest.mark.parametrize("bad", [b"\xff\xff\xff\xff", b"\0\0\0\2[]", b"\0\0\0\1{", b"\0\0\0\1\xff"])
def test_a_frame_that_is_none_is_said_to_be_none(bad: bytes) -> None:
    with pytest.raises(wire.BadFrame):
        list(wire.frames(bytearray(bad)))


def test_values_of_other_languages_are_compared_by_what_they_mean() -> None:
    assert wire.plain({1: (2, {3})}) == {"1": [2, [3]]}
    assert wire.same([1, [2, 3]], (1, (2, 3)))
    assert wire.same([3, 1], {1, 3})
    assert wire.same({"1": "a"}, {1: "a"})
    assert not wire.same([1, 2], (2, 1))
    assert not wire.same("1", 1)
