"""Single edits of a program."""

import ast

import pytest

from twinsmith.core.variants import variants


def bodies(expression: str) -> set[str]:
    """What can stand behind `return` after one edit."""
    edited = variants(f"def f(x, y):\n    return {expression}\n", 1000)
    return {each.split("return ", 1)[1].strip() for each in edited if "return " in each}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("bin(x)[2:]", "bin(x)"),
        ("x < y", "x <= y"),
        ("x + 1", "x + 2"),
        ("x + 1", "x - 1"),
        ("x / y", "x // y"),
        ("x", "str(x)"),
        ("str(x)", "x"),
        ("x.strip()", "x"),
        ("x.lower()", "x.upper()"),
        ("max(x)", "min(x)"),
        ("sorted(x)", "sorted(x, reverse=True)"),
        ("sorted(x, reverse=True)", "sorted(x)"),
        ("sum(range(x))", "sum(range(x + 1))"),
        ("x and y", "x or y"),
        ("not x", "x"),
        ("True", "False"),
        ("' '.join(x)", "''.join(x)"),
        ("x if y else 0", "x"),
        ("x", "x[::-1]"),
        ("x", "not x"),
        ("x in y", "x not in y"),
    ],
)
def test_a_near_miss_is_one_edit_away(wrong: str, right: str) -> None:
    assert right in bodies(wrong)


LOOP = """
def f(xs: list[int] = [1]) -> list[int]:
    \"\"\"Three 3.\"\"\"
    out = []
    for x in xs:
        if x > 0:
            out.append(x)
            break
    return out
"""


def test_every_variant_is_a_program_of_its_own() -> None:
    found = variants(LOOP, 1000)
    assert len(found) == len(set(found)) > 15
    assert ast.unparse(ast.parse(LOOP)) not in {each.rstrip() for each in found}
    for each in found:
        ast.parse(each)
        # What explains and what types say is left alone.
        assert "Three 3." in each
        assert "-> list[int]:" in each
    assert any("break" not in each for each in found)
    assert any("if not x > 0" in each for each in found)


def test_there_are_no_more_than_asked_for_and_they_are_spread() -> None:
    some, every = variants(LOOP, 5), variants(LOOP, 1000)
    assert len(some) == 5
    places = [every.index(each) for each in some]
    assert places == sorted(places)
    assert places[-1] > len(every) // 2
    assert variants(LOOP, 5) == some
    assert variants(LOOP, 0) == ()


@pytest.mark.parametrize(
    "source", ["def f(:", "", "x = 1\n" * 3000, "f(" * 500 + ")" * 500, "a\0b", "-" * 5000 + "1"]
)
def test_what_cannot_be_read_has_none(source: str) -> None:
    assert variants(source, 10) == ()
