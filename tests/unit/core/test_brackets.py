"""Parts of lists and closed parentheses in the texts of programs."""

import pytest

from twinsmith.core.brackets import closed, parts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("a", ["a"]),
        (" a: i32 , b: &str,", ["a: i32", "b: &str"]),
        ("m: HashMap<String, i32>, n: i32", ["m: HashMap<String, i32>", "n: i32"]),
        ("t: (i32, i32), f: [int, int]", ["t: (i32, i32)", "f: [int, int]"]),
        ("v = {1, 2}, w", ["v = {1, 2}", "w"]),
    ],
)
def test_a_list_is_not_cut_inside_brackets(text: str, found: list[str]) -> None:
    assert parts(text) == found


def test_a_list_may_be_parted_by_something_else() -> None:
    assert parts("[i32; 4]; 3", ";") == ["[i32; 4]", "3"]


def test_a_parenthesis_ends_where_it_is_closed() -> None:
    assert closed("a: (i32, [u8; 2])) -> i32 {}") == ("a: (i32, [u8; 2])", " -> i32 {}")
    assert closed(") behind") == ("", " behind")


def test_a_parenthesis_that_nobody_closes_has_no_inside() -> None:
    assert closed("a: i32, b") is None
