"""Names and types of parameters, in the spelling of six languages."""

import pytest

from twinsmith.core.checks.parameters import annotations_in, parameters_in


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("int f(const char *b, int c[]) {", "c", ("b", "c")),
        ("vector<int> f(map<string, int> a, vector<int>& b){", "cpp", ("a", "b")),
        ("func f(a, b int, c map[string]int) int {", "go", ("a", "b", "c")),
        ("fn f(mut a: Vec<(i32, i32)>, b: i32) -> i32 {", "rust", ("a", "b")),
        ("def f(a, b=[1, 2], *, c):", "python", ()),
        ("def f(a, b=(1, 2)):", "python", ("a", "b")),
        ("def f(a, *more):", "python", ()),
        ("def f(a b):", "python", ()),
        ("int f() {", "c", ()),
        ("the function f(x, y) adds", "c", ()),
        ("return f(x, y);\nint f(int z)\n{", "c", ("z",)),
        ("/*\n>>> f({})\n\n>>> f({1})\n*/\nint f(vector<int> a) {", "cpp", ("a",)),
        ("int f(int a, int b = 2) {", "cpp", ()),
        ("fn f(&self) -> i32 {", "rust", ()),
        ("sub f { my ($a) = @_;", "perl", ()),
        ("def f(" + "(" * 5000, "python", ()),
        ("def g(a): pass", "python", ()),
    ],
)
def test_names_stand_where_the_function_is_declared(
    text: str, language: str, names: tuple[str, ...]
) -> None:
    assert tuple(each.name for each in parameters_in(text, "f", language)) == names


@pytest.mark.parametrize(
    ("text", "language", "types"),
    [
        ("def f(a: int, b: List[str]) -> bool:", "python", ("int", "List[str]")),
        (
            "def f(\n    a: int,\n    b: dict[str, float],\n):",
            "python",
            ("int", "dict[str, float]"),
        ),
        ("def f(a, b: int):", "python", ()),
        (
            "fn f(a: &[f64], b: &str, c: Option<u8>) {",
            "rust",
            ("list[float]", "str", "optional[int]"),
        ),
        ("pub fn f<'a>(a: &'a str) {", "rust", ("str",)),
        ("fn f<T: Ord>(a: T) {", "rust", ()),
        ("fn f(a: &'static str, b: Box<i64>) {", "rust", ("str", "int")),
        ("fn f(a: Vec<(i32, char)>) -> i32 {", "rust", ("list[tuple[int, chr]]",)),
        ("fn f(a: [i32; 3]) {", "rust", ()),
        ("fn f(a: impl Iterator<Item = i32>) {", "rust", ()),
        ("fn f(a: HashMap<String, Vec<bool>>) {", "rust", ("dict[str, list[bool]]",)),
        (
            "func f(a, b int, c map[string][]float64) int {",
            "go",
            ("int", "int", "dict[str, list[float]]"),
        ),
        ("func f(a []interface{}) (int, error) {", "go", ()),
        ("func f(r rune, s string) (int, error) {", "go", ("chr", "str")),
        (
            "long long f(unsigned long long a, const std::vector<int>& b) {",
            "cpp",
            ("int", "list[int]"),
        ),
        ("vector<string> f(pair<int, char> a, string s) {", "cpp", ("tuple[int, chr]", "str")),
        (
            "auto f(unsigned a, std::map<std::string, double> b) {",
            "cpp",
            ("int", "dict[str, float]"),
        ),
        ("int f(Tree *a) {", "cpp", ()),
        ("int f(const int *xs, size_t n, int k) {", "c", ("list[int]", "int")),
        ("int *f(int xs[], int n, int *returned) {", "c", ("list[int]",)),
        ("bool f(const char *s, double d, char c) {", "c", ("str", "float", "chr")),
        ("int f(char **words, int count) {", "c", ("list[str]",)),
        (f"void f({'vector<' * 30}int{'>' * 30} a) {{", "cpp", ()),
    ],
)
def test_types_are_annotations_if_all_are_known(
    text: str, language: str, types: tuple[str, ...]
) -> None:
    assert annotations_in(text, "f", language) == types
