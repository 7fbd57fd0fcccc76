"""Properties that can be read off a task."""

import pytest

from twinsmith.core.checks.properties import LONGEST_INPUT, MOST, properties
from twinsmith.core.probe import Call

NUMBERS = "[3, 1, 2]"


def call(*args: str, gives: str = "", of: str = "f") -> Call:
    return Call(function=of, args=args, expected=gives)


def read(text: str, *seen: Call, names: tuple[str, ...] = ()) -> list[str]:
    found = properties(text, "f", names, seen)
    assert all(line.startswith("assert ") for line in found)
    for line in found:
        compile(line, "check", "exec")
    return [line.removeprefix("assert ") for line in found]


RISES = f"list(f({NUMBERS})) == sorted(f({NUMBERS}))"
FALLS = f"list(f({NUMBERS})) == sorted(f({NUMBERS}), reverse=True)"
SAME_ITEMS = f"sorted(f({NUMBERS})) == sorted({NUMBERS})"
ONCE = f"f(f({NUMBERS})) == f({NUMBERS})"


@pytest.mark.parametrize(
    ("text", "seen", "expected"),
    [
        ("Sort a list of integers.", call(NUMBERS), [RISES, SAME_ITEMS, ONCE]),
        ("Sort a list of integers in descending order.", call(NUMBERS), [FALLS, SAME_ITEMS, ONCE]),
        (
            "Return a sorted list of the n largest integers, in descending order.",
            call(NUMBERS, "2"),
            [f"list(f({NUMBERS}, 2)) == sorted(f({NUMBERS}, 2), reverse=True)"],
        ),
        ("Compute the GCD of two numbers.", call("3", "5"), ["f(3, 5) == f(5, 3)"]),
    ],
)
def test_every_kind_is_an_assert(text: str, seen: Call, expected: list[str]) -> None:
    assert read(text, seen) == expected


def test_a_second_argument_goes_along() -> None:
    text = "Remove all digits from a list of strings."
    assert read(text, call("['a1', 'b']", "'x'")) == [
        "f(f(['a1', 'b'], 'x'), 'x') == f(['a1', 'b'], 'x')"
    ]


def test_what_is_left_of_duplicates_may_stand_in_any_order() -> None:
    text = "Remove duplicates from a list."
    assert read(text, call("[2, 1, 2]")) == ["sorted(f(f([2, 1, 2]))) == sorted(f([2, 1, 2]))"]
    assert read(text, call("[2, 'a', 2]")) == []


def test_an_order_that_says_nothing_is_left_out() -> None:
    text = "Compute the GCD of two numbers."
    assert read(text, call("3", "3"), call("-3", "5"), call("3", "'5'"), call("3", "5", "7")) == []


@pytest.mark.parametrize(
    ("there", "back"),
    [
        ("encode", "decode"),
        ("encode_text", "decode_text"),
        ("encodeText", "decodeText"),
        ("to_json", "from_json"),
        ("compress", "decompress"),
        ("escape_html", "unescape_html"),
        ("serialize", "deserialize"),
    ],
)
def test_there_and_back(there: str, back: str) -> None:
    seen = [call("'ab'", of=there), call("'cd'", of=back)]
    assert read("A library for texts.", *seen, names=(back, there)) == [
        f"{back}({there}('ab')) == 'ab'",
        f"{back}({there}({back}('cd'))) == {back}('cd')",
    ]


def test_a_key_goes_there_and_back() -> None:
    seen = call("'ab'", "'key'", of="encrypt")
    assert read("Encrypt and decrypt texts.", seen, names=("encrypt", "decrypt")) == [
        "decrypt(encrypt('ab', 'key'), 'key') == 'ab'"
    ]


@pytest.mark.parametrize(
    ("there", "back"), [("int_to_roman", "roman_to_int"), ("format_time", "parse_time")]
)
def test_weaker_names_need_words(there: str, back: str) -> None:
    seen = call("90", of=there, gives="'XC'")
    assert read("Two functions.", seen, names=(there, back)) == []
    assert f"{back}({there}(90)) == 90" in read("There and back.", seen, names=(there, back))


@pytest.mark.parametrize(
    "names",
    [
        ("encode", "count"),
        ("encode_a", "decode_b"),
        ("to_a", "to_b"),
        ("decode",),
        ("parse", "load"),
    ],
)
def test_names_that_are_no_pair(names: tuple[str, ...]) -> None:
    assert read("There and back.", *(call("'ab'", of=name) for name in names), names=names) == []


@pytest.mark.parametrize(
    "text",
    [
        "Encode a text; the result is upper-case.",
        "Encode a text with a lossy code.",
        "Encode a text, ignoring blanks.",
        "Encode a number rounded to two places.",
    ],
)
def test_what_loses_something_does_not_come_back(text: str) -> None:
    assert read(text, call("'ab'", of="encode"), names=("encode", "decode")) == []


@pytest.mark.parametrize("value", ["0.1", "[0.1]", "(1, 2)", "{1: 'a'}", "7", "{1, 2}"])
def test_what_may_come_back_as_something_else(value: str) -> None:
    assert read("A pair.", call(value, of="encode"), names=("encode", "decode")) == []


@pytest.mark.parametrize("value", ["[1, 'a', None]", "{'a': [1]}", "b'ab'"])
def test_what_comes_back_as_itself(value: str) -> None:
    found = read("A round trip.", call(value, of="encode"), names=("encode", "decode"))
    assert found == [f"decode(encode({value})) == {value}"]


def test_a_digit_may_be_taken_for_a_count() -> None:
    text, names = "Run-length encoding, and the way back.", ("encode", "decode")
    seen = [call("'a1'", of="encode"), call("'aab'", of="encode")]
    assert read(text, *seen, names=names) == ["decode(encode('aab')) == 'aab'"]


def test_a_pair_whose_results_were_seen_to_differ_is_none() -> None:
    names = ("encode", "decode")
    there = call("'ab'", of="encode", gives="'xy'")
    assert read("A pair.", there, call("'xy'", of="decode", gives="'ab'"), names=names)
    assert read("A pair.", there, call("'xy'", of="decode", gives="'AB'"), names=names) == []
    assert read("A pair.", there, call("'z1'", of="decode", gives="0.5"), names=names) == []


@pytest.mark.parametrize(
    ("text", "args", "result"),
    [
        ("Sort a list of integers.", NUMBERS, "'1 2 3'"),
        ("Return a sorted list of the digits.", NUMBERS, "[3, 2, 1]"),
        ("Return a sorted list of the digits.", NUMBERS, "6"),
        ("Return a sorted list of the digits in descending order.", NUMBERS, "[1, 2, 3]"),
        ("Remove all spaces from a string.", "'a B'", "1"),
    ],
)
def test_a_result_that_was_seen_decides(text: str, args: str, result: str) -> None:
    assert read(text, call(args))
    assert read(text, call(args, gives=result)) == []


def test_a_result_that_keeps_it_is_no_objection() -> None:
    text = "Sort a list of integers in descending order."
    assert read(text, call(NUMBERS, gives="[3, 2, 1]")) == [FALLS, SAME_ITEMS, ONCE]


@pytest.mark.parametrize(
    "value",
    [
        "[]",
        "[1]",
        "['b', 'A']",
        "['10', '9']",
        "[1, None]",
        "[True, False]",
        "['é', 'e']",
        "x",
        "1(",
    ],
)
def test_inputs_of_which_little_is_known_are_left_out(value: str) -> None:
    assert read("Return a sorted list of the digits.", call(value)) == []


def test_letters_that_are_several_in_some_languages_are_left_out() -> None:
    assert read("Reverse a string.", call("'hé'")) == []


def test_the_smallest_come_first_and_they_are_few() -> None:
    text = "Sort a list of integers."
    seen = [call(f"[{', '.join('9' * n)}]") for n in range(9, 1, -1)]
    found = read(text, *seen)
    assert len(found) == MOST
    assert found[0] == "list(f([9, 9])) == sorted(f([9, 9]))"
    assert found[3] == "list(f([9, 9, 9])) == sorted(f([9, 9, 9]))"
    assert read(text, call(str([1] * LONGEST_INPUT))) == []


def test_calls_of_others_say_nothing() -> None:
    assert read("Sort a list of integers.", call(NUMBERS, of="g")) == []
    assert properties("Sort a list of integers.", "sorted", (), [call(NUMBERS, of="sorted")]) == ()
    assert properties("Sort a list of integers.", "", (), [call(NUMBERS)]) == ()


def test_a_long_text_that_begins_like_many_rules_is_read_to_its_end() -> None:
    for piece in ("a ", "return the list ", "sort a given ", "(", "function ", "'''", "f("):
        assert read(piece * 20_000, call(NUMBERS)) == []
