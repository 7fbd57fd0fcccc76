"""Inputs that nobody had to think of."""

import ast

import pytest

from twinsmith.core.checks.fuzz import LONGEST_LITERAL, fuzz_calls
from twinsmith.core.probe import Call


def seen(*rows: tuple[object, ...]) -> list[Call]:
    return [Call(function="f", args=tuple(map(repr, row)), expected="0") for row in rows]


def values(calls: tuple[Call, ...]) -> list[list[object]]:
    return [[ast.literal_eval(arg) for arg in call.args] for call in calls]


ROWS: list[list[tuple[object, ...]]] = [
    [(3,), (10,)],
    [(-3,), (4,)],
    [(1.5,), (0.25,)],
    [(1e308,), (-1e308,)],
    [("a b",), ("Hello, World",)],
    [("",)],
    [([3, 1, 2],), ([],)],
    [([[1, 2], [3]],), ([[]],)],
    [([],)],
    [(["a", "bc"], "a"), (["x"], "y")],
    [((1, 2), (3, 4))],
    [({"a": 1, "b": 2},), ({},)],
    [(True, None)],
    [(frozenset({1}), b"ab")],
]


@pytest.mark.parametrize("rows", ROWS, ids=repr)
def test_calls_are_new_small_of_the_same_kinds_and_expect_nothing(
    rows: list[tuple[object, ...]],
) -> None:
    given = seen(*rows)
    made = fuzz_calls("f", given, most=30)
    assert len(set(made)) == len(made) <= 30
    assert not {call.args for call in made} & {call.args for call in given}
    for call in made:
        assert call.function == "f"
        assert call.expected == ""
        assert len(call.args) == len(rows[0])
        assert sum(map(len, call.args)) <= LONGEST_LITERAL


@pytest.mark.parametrize("rows", [rows for rows in ROWS if rows[0][0] != frozenset({1})], ids=repr)
def test_a_value_keeps_its_type(rows: list[tuple[object, ...]]) -> None:
    kinds = {type(row[0]) for row in rows}
    made = values(fuzz_calls("f", seen(*rows), most=30))
    # An empty list says nothing of what may be in one.
    assert bool(made) == (rows != [([],)])
    assert {type(row[0]) for row in made} <= kinds


def test_the_same_seed_gives_the_same_calls_and_another_gives_others() -> None:
    given = seen(([1, 2, 3], 2), ([4], 1))
    assert fuzz_calls("f", given, seed=7) == fuzz_calls("f", given, seed=7)
    assert fuzz_calls("f", given, seed=7) != fuzz_calls("f", given, seed=8)


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(fuzz_calls("f", seen(([1, 2, 3],), ([4],)), most=40)) == 40
    assert len(fuzz_calls("f", seen(([1, 2, 3],), ([4],)), most=3)) == 3
    assert fuzz_calls("f", seen(([1],)), most=0) == ()


def test_the_edges_come_first() -> None:
    lists = values(fuzz_calls("f", seen(([4, 5, 6],))))
    assert lists[:3] == [[[]], [[4]], [[4, 4, 4]]]
    assert values(fuzz_calls("f", seen((5,))))[:2] == [[0], [1]]
    assert values(fuzz_calls("f", seen(("ab",))))[0] == [""]


def test_numbers_are_negative_only_where_negative_ones_were_seen() -> None:
    assert all(row[0] >= 0 for row in values(fuzz_calls("f", seen((3,), (9,)))))  # type: ignore[operator]
    assert any(row[0] < 0 for row in values(fuzz_calls("f", seen((-3,), (9,)))))  # type: ignore[operator]


def test_letters_are_those_that_were_seen() -> None:
    made = values(fuzz_calls("f", seen(("(())",), (")(",))))
    assert {letter for row in made for letter in str(row[0])} == set("()")


def test_calls_of_unusual_kinds_are_misuse_and_teach_nothing() -> None:
    given = seen((1, "a"), (2, "b"), ("no", "c"), (3,), (None, "d"))
    assert all(type(row[0]) is int for row in values(fuzz_calls("f", given)))


def test_arguments_of_different_calls_are_mixed() -> None:
    made = values(fuzz_calls("f", seen(([1], "x"), ([2], "y"))))
    assert [[1], "y"] in made or [[2], "x"] in made


def test_what_is_no_literal_is_passed_over() -> None:
    odd = Call(function="f", args=("open('x')",))
    endless = Call(function="f", args=("1e999",))
    assert fuzz_calls("f", [odd, endless]) == ()
    assert fuzz_calls("f", [Call(function="f", args=())]) == ()


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("int", int),
        ("float", float),
        ("str", str),
        ("bool", bool),
        ("chr", str),
        ("list", list),
        ("List[str]", list),
        ("typing.List[int]", list),
        ("Sequence[float]", list),
        ("Tuple[int, str]", tuple),
        ("dict[str, int]", dict),
        ("Dict", dict),
    ],
)
def test_annotations_serve_where_nothing_was_seen(annotation: str, kind: type) -> None:
    made = values(fuzz_calls("f", [], annotations=[annotation, "int"]))
    assert made
    assert all(type(row[0]) is kind and type(row[1]) is int for row in made)


def test_an_optional_one_is_sometimes_nothing() -> None:
    for annotation in ("Optional[str]", "str | None"):
        first = {type(row[0]) for row in values(fuzz_calls("f", [], annotations=[annotation]))}
        assert str in first


@pytest.mark.parametrize(
    "annotation", ["Any", "Matrix", "", "int]", "Callable[[int], int]", "List[Any]", "dict[str, T]"]
)
def test_an_annotation_that_says_nothing_gives_nothing(annotation: str) -> None:
    assert fuzz_calls("f", [], annotations=[annotation]) == ()
