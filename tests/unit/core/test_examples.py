"""Examples in a task's own words."""

import pytest

from twinsmith.core.checks.examples import read_examples
from twinsmith.core.probe import Call


def read(text: str, *parameters: str) -> list[tuple[tuple[str, ...], str]]:
    found = read_examples(text, function="f", parameters=parameters)
    assert all(call.function == "f" for call in found.calls)
    return [(call.args, call.expected) for call in found.calls]


@pytest.mark.parametrize(
    "text",
    [
        ">>> f(1, [2])\n'a b'",
        ">>> f(1, [2])  # a note\n    'a b'\n",
        ">>> f(1, [2]) == 'a b'",
        ">>> f(1, [2]) 'a b'",
        "f(1, [2]) == 'a b'",
        "f(1,[2])=='a b'",
        "f(1, [2]) = 'a b'",
        "f(1, [2]) ➞ 'a b'",
        "f(1, [2]) -> 'a b'",
        "f(1, [2]) --> 'a b'",
        "f(1, [2]) => 'a b'",
        "f(1, [2]) ==> 'a b'  (because)",
        "f(1, [2]) # => 'a b'",
        "f(1, [2])   # returns 'a b'",
        "f(1, [2]) returns 'a b'.",
        "f(1, [2]) should\n    return 'a b', and so on.",
        "f(1, [2]) gives 'a b'; f(n, m) gives 'c'",
        "`f(1, [2])` gives `'a b'`",
        "f(1, [2]) must be equal to 'a b'",
        "f(1, [2]) returns the string 'a b'",
        "assert f(1, [2]) == 'a b', 'wrong'",
        "f(\n  1,\n  [2]\n) == 'a b'",
        "f(1, [2]) → “a b”",
    ],
)
def test_a_call_and_what_it_gives(text: str) -> None:
    assert read(text) == [(("1", "[2]"), "'a b'")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def f() -> None:",
        "f(x) == 1, where x is a number",
        "f(n) == f(n - 1) + 1",
        "f(1) != 2",
        "f(1) should not return 2",
        "f(1) == g(2)",
        "f(1) == 2 if it is Monday",
        "f(1) == ''a'",
        "f(1) == [1, 2, ...]",
        "f(1) == 1, 2",
        "f(1) == 2 + x",
        "f(1) == 19 - 5 - 6 = 8",
        "f(ab) => True\nf(aa) => False",
        "f(1) == 1.2.3",
        "f(1 == 2",
        "other.f(1) == 2",
        "f('unclosed) == 2",
        ">>> f(1) == 2\nFalse",
        "f(1) raises ValueError",
        "f(((((((",
    ],
)
def test_what_is_not_surely_an_example_is_left_out(text: str) -> None:
    assert read(text) == []


def test_several_in_a_sentence_of_prose() -> None:
    text = "Write slugify: slugify('A b') gives 'a-b' and slugify('') should return ''."
    found = read_examples(text, function="slugify")
    assert [(call.args, call.expected) for call in found.calls] == [
        (("'A b'",), "'a-b'"),
        (("''",), "''"),
    ]


def test_a_doctest_may_fill_several_lines_or_say_nothing_at_all() -> None:
    text = ">>> f([])\n\n>>> f(['a'])\n['a',\n 'b']\n"
    assert read(text) == [(("[]",), "None"), (("['a']",), "['a', 'b']")]


def test_words_of_other_languages_are_read_but_not_inside_of_strings() -> None:
    assert read("f([true, null], 'true') => false") == [(("[True, None]", "'true'"), "False")]


def test_brackets_and_quotes_inside_of_strings_are_only_letters() -> None:
    assert read("f('[]]]]]]][[[[[]', \"it's )\") ➞ True") == [
        (("'[]]]]]]][[[[[]'", '"it\'s )"'), "True")
    ]


def test_a_full_stop_ends_a_sentence_and_a_point_belongs_to_a_number() -> None:
    assert read("f(1) should return 16. f(2) == 6.00\nf(3) is -1.5.") == [
        (("1",), "16"),
        (("2",), "6.0"),
        (("3",), "-1.5"),
    ]


def test_keywords_go_to_their_places() -> None:
    assert read("f(1, b=2) == 3", "a", "b") == [(("1", "2"), "3")]
    assert read("f(1, c=2) == 3", "a", "b") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("For s = 'ab', n = 2 the output should be 4.", "4"),
        ("For n = 2, s = 'ab' the sum is 3 the output should be '4'.", "'4'"),
        ("Input: s = 'ab', n = 2\nOutput: [4]", "[4]"),
        ("s = 'ab'\nn = 2\n  -> first [1]\n  -> then [2]\nreturn [3]", "[3]"),
    ],
)
def test_parameters_by_name(text: str, expected: str) -> None:
    assert read(text, "s", "n") == [(("'ab'", "2"), expected)]


def test_an_assignment_without_a_result_says_nothing() -> None:
    assert read("Let n = 5. Return 0 if n is even.", "n") == []
    assert read("Let n = 5. The rest is told elsewhere." + " " * 400 + "Output: 3", "n") == []


def test_inputs_and_outputs_without_names() -> None:
    text = "Example 1:\n  Input: [4,2]\n  Output: (2, 1)\nExample 2:\n  Input: []\n  Output: ()"
    assert read(text, "x") == [(("[4, 2]",), "(2, 1)"), (("[]",), "()")]
    other_names = "Input:\n  grid : [[0, 1]]\n  size : 2\nOutput: 6"
    assert read(other_names, "rows", "capacity") == [(("[[0, 1]]", "2"), "6")]
    assert read(other_names, "rows") == []


def test_bare_arrows_when_there_is_nothing_better() -> None:
    assert read("Roman numbers: 'IV' -> 4, 'X' → 10.", "text") == [
        (("'IV'",), "4"),
        (("'X'",), "10"),
    ]
    assert read("'IV' -> 4; f('V') == 5", "text") == [(("'V'",), "5")]
    assert read("'IV' -> 4", "text", "other") == []


def test_one_other_name_used_all_through_is_meant_for_the_function() -> None:
    assert read("g([1]) ==> 2\ng([2]) ==> 3", "x") == [(("[1]",), "2"), (("[2]",), "3")]
    assert read("g([1]) ==> 2\nh([2]) ==> 3", "x") == []
    assert read("g(1, 2) ==> 2", "x") == []


def test_a_definition_before_the_examples_is_not_one_of_them() -> None:
    text = "The sequence: f(1) = 3\nf(2) = 2\nExamples:\nf(3) = [1, 3, 2]"
    assert read(text) == [(("3",), "[1, 3, 2]")]
    mixed = "Examples:\nf('a b') == ['a', 'b']\nf('ab') == 1"
    assert len(read(mixed)) == 2


def test_contradictions_are_told_and_decide_nothing() -> None:
    found = read_examples("f(1) == 2\nf(3) == 4\nf(1) == 3\nf(3) == 4.0", function="f")
    one, other = (
        Call(function="f", args=("1",), expected="2"),
        Call(function="f", args=("1",), expected="3"),
    )
    assert found.contradictions == ((one, other),)
    assert {call.args for call in found.calls} == {("3",)}


def test_a_call_inside_of_an_expression_is_a_check() -> None:
    found = read_examples(">>> round(f([1, 2]), 2) # 1 + 2x\n-0.5\n", function="f")
    assert found.checks == ("assert round(f([1, 2]), 2) == -0.5",)
    assert found.calls == ()


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        ("f(1) == 2", "True"),
        ("f(1) < 1", "False"),
        ("f(1) > 1 and f(2)", "3"),
        ("f(0) or 'none'", "'none'"),
        ("not f(1)", "False"),
        ("f(1) if f(0) else 7", "7"),
    ],
)
def test_a_doctest_is_compared_as_a_whole(asked: str, result: str) -> None:
    [check] = read_examples(f">>> {asked}\n{result}", function="f").checks
    assert check == f"assert ({asked}) == {result}"


PROMPT = '''
import math

def g(s: str = "x"):
    """Another one.
    >>> g("no")
    'no'
    """
    return s

def f(text: str, n=3):
    """Its own words.
    >>> f("a\\nb", 1)
    'a\\nb'
    """
'''


def test_of_code_only_the_functions_own_docstring_is_read_as_it_is_written() -> None:
    found = read_examples(PROMPT, function="f")
    assert [(call.args, call.expected) for call in found.calls] == [
        (("'a\\nb'", "1"), "'a\\nb'"),
    ]


def test_long_texts_are_bounded() -> None:
    text = "\n".join(f"f({n}) == {n}" for n in range(200))
    assert len(read(text)) == 50
    assert read("f(" * 20_000) == []
    assert read(f"f({'[' * 3000}{']' * 3000}) == 1") == []
