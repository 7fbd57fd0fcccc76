"""Values that cross the pipe between a program and its judge."""

import json
import math

import pytest

from twinsmith.adapters.sandbox.harness import Opaque, decode, encode


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
    assert isinstance(arrived, type(iter([])))
    assert list(arrived) == [0, 1, 2]
    endless = crossed(iter(int, 1))
    assert isinstance(endless, type(iter([])))
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
