"""Examples in the words of other languages, as calls that can be made in any."""

import pytest

from twinsmith.core.checks.examples import read_examples
from twinsmith.core.checks.foreign import asserts_at_home, at_home
from twinsmith.core.checks.proposed import counted
from twinsmith.core.wording import entry_in, kind_in, signature_in

GO = """import (
    "math"
)

// Whether two numbers are closer than a threshold.
// >>> Close([]float64{1.0, 2.0}, 0.5)
// false
// >>> Close([]float64{}, 0.3)
// true
func Close(numbers []float64, threshold float64) bool {
"""
CPP = """/*
Inserts a number between two neighbours: "vector {1, 2}".
>>> intersperse({}, 4)
{}
>>> intersperse({1, 2, 3}, 4)
{1, 4, 2, 4, 3}
>>> intersperse({9}, 1)

*/
#include<vector>
using namespace std;
vector<int> intersperse(vector<int> numbers, int delimeter){
"""
RUST = """/// Joins words.
/// join(vec!["a".to_string(), String::from("b")], "-") => "a-b"
/// join(&["a"], &"-") => "a"
fn join(words: Vec<String>, by: &str) -> String {
"""


@pytest.mark.parametrize(
    ("text", "language", "entry", "expected"),
    [
        (GO, "go", "Close", [("[1.0, 2.0]", "0.5", "False"), ("[]", "0.3", "True")]),
        (
            CPP,
            "cpp",
            "intersperse",
            [("[]", "4", "[]"), ("[1, 2, 3]", "4", "[1, 4, 2, 4, 3]")],
        ),
        (RUST, "rust", "join", [("['a', 'b']", "'-'", "'a-b'"), ("['a']", "'-'", "'a'")]),
    ],
)
def test_examples_are_read_in_the_languages_own_spelling(
    text: str, language: str, entry: str, expected: list[tuple[str, ...]]
) -> None:
    assert entry_in(text) == entry
    calls = read_examples(text, function=entry, language=language).calls
    assert [(*call.args, call.expected) for call in calls] == expected


def test_values_of_named_parameters_are_examples_too() -> None:
    text = "For lst = {1,2,3} the output should be 14\nint squares(vector<float> lst){\n"
    (call,) = read_examples(text, function="squares", language="cpp").calls
    assert (call.args, call.expected) == (("[1, 2, 3]",), "14")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('{"a{b}": {1, 2}}', '{"a{b}": [1, 2]}'),
        ("int f() {\n  return 1;\n}", "int f() {\n  return 1;\n}"),
        ('map[string][]int{"a": {1}}', '{"a": [1]}'),
        ("map[string]int{}", "map[string]int[]"),
        ("[2][]int{{1}, {}}", "[[1], []]"),
        ("# of items #1", " of items #1"),
        ("std::vector<std::string>{}", "[]"),
        ("a } b { c", "a } b { c"),
    ],
)
def test_what_is_no_literal_is_left_alone(text: str, same: str) -> None:
    assert at_home(text) == same


def test_a_definition_in_c_is_one_by_its_brace() -> None:
    text = "static unsigned long *make (int n) {\n  if (n) {\n  } else if (n > 1) {\n"
    assert entry_in(text) == "make"
    assert signature_in(text, "make") == "static unsigned long *make (int n) {"
    assert kind_in("an API?\nint f(int n){") == "function"
    assert entry_in("say hello to everybody (all of them); then stop") == ""


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("    assert!(f(vec![1.0, 2.0], 0.5)); // near", "assert f([1.0, 2.0], 0.5)"),
        ("assert!(!f(vec![], 0.5));", "assert not f([], 0.5)"),
        ("assert_eq!(f(vec![1, 2], 3), vec![4, 5]);", "assert f([1, 2], 3) == [4, 5]"),
        ('assert_eq!(f("a, b".to_string()), 7);', 'assert f("a, b") == 7'),
        ("assert(f({1, 2}) == 3);", "assert f([1, 2]) == 3"),
        ("assert f(1) == 2", "assert f(1) == 2"),
        ("assert_eq!(f(1));", "assert_eq!(f(1));"),
    ],
)
def test_critics_may_answer_in_the_language_of_the_task(line: str, same: str) -> None:
    assert asserts_at_home(line) == same


def test_such_asserts_are_checks() -> None:
    lines = "    assert_eq!(f(vec![1, 2]), 3);\n    assert!(f(vec![]) == 0);\n"
    text = f"```rust\nfn main() {{\n{lines}}}\n```"
    found = counted(asserts_at_home(text), "f")
    assert [probe.call.args for probe in found if probe.call] == [("[1, 2]",), ("[]",)]


@pytest.mark.parametrize(
    ("language", "function", "read"),
    [
        ("go", "func Least(lst []int) interface{} {", ["2", "None", "None"]),
        ("rust", "fn Least(lst: Vec<i32>) -> Option<i32> {", ["2", "None", "None"]),
        ("cpp", "int Least(vector<int> lst){", ["2"]),
        ("c", "int Least(const int *lst, size_t n) {", ["2"]),
    ],
)
def test_nothing_is_a_result_where_the_language_has_it(
    language: str, function: str, read: list[str]
) -> None:
    text = f"// Least([3, 2]) == 2\n// Least([]) == nil\n// >>> Least([1])\n// None\n{function}\n"
    calls = read_examples(text, function="Least", language=language).calls
    assert [call.expected for call in calls] == read


def test_silence_below_a_call_is_no_result_in_other_languages() -> None:
    text = "// >>> Least([1])\n//\n// >>> Least([2])\n// 2\nfunc Least(lst []int) interface{} {\n"
    (call,) = read_examples(text, function="Least", language="go").calls
    assert (call.args, call.expected) == (("[2]",), "2")
