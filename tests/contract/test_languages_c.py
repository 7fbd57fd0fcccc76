import json
import math
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from twinsmith.adapters.sandbox.languages.c import C
from twinsmith.adapters.sandbox.languages.c_signature import signatures
from twinsmith.adapters.sandbox.languages.c_source import bare_source, definitions
from twinsmith.adapters.sandbox.languages.cpp import CPP, functions
from twinsmith.adapters.sandbox.languages.language import (
    ARTEFACT,
    CACHE,
    BadProgram,
    Language,
    Recipe,
    Toolchain,
)
from twinsmith.core.program import Kind, Program

GCC = Toolchain(version="12", commands={"gcc": "/usr/bin/gcc"})
GXX = Toolchain(version="12", commands={"g++": "/usr/bin/g++"})


def c_recipe(source: str, kind: Kind = "function") -> Recipe:
    return C.recipe(Program(source=source, language="c", kind=kind), GCC)


def cpp_recipe(source: str, kind: Kind = "function") -> Recipe:
    return CPP.recipe(Program(source=source, language="cpp", kind=kind), GXX)


def roles(source: str) -> dict[str, list[str]]:
    return {one.name: [each.role for each in one.parameters] for one in signatures(source)}


def test_a_command_is_compiled_as_it_is() -> None:
    source = "int main(void) { return 0; }\n"
    c, cpp = c_recipe(source, "cli"), cpp_recipe(source, "service")
    assert dict(c.files) == {"solution.c": source}
    assert c.build == (
        ("/usr/bin/gcc", "-O2", "-std=gnu17", "-o", "solution", "solution.c", "-lm"),
    )
    assert cpp.build == (
        ("/usr/bin/g++", "-O2", "-std=gnu++20", "-pthread", "-o", "solution", "solution.cpp"),
    )
    assert c.run == cpp.run == (ARTEFACT,)
    assert c.artefact == cpp.artefact == "solution"


def test_a_function_is_compiled_with_the_prepared_driver() -> None:
    (line,) = c_recipe("int twice(int x) { return 2 * x; }").build
    assert line[-3:] == ("calls.c", f"{CACHE}/driver.o", "-lm")
    (line,) = cpp_recipe("int twice(int x) { return 2 * x; }").build
    assert line[-2:] == ("calls.cpp", f"{CACHE}/driver.o")


def test_the_program_keeps_its_file_and_its_lines() -> None:
    source = "int twice(int x) { return 2 * x; }"
    recipe = c_recipe(source)
    assert recipe.files["solution.c"] == source
    assert '#define main solution_main\n#include "solution.c"\n' in recipe.files["calls.c"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "int main(void) { return 0; }",
        "struct point { int x; };\nint f(struct point p) { return p.x; }",
        "int f(int **grid, int rows, int columns) { return 0; }",
    ],
)
def test_c_without_a_callable_function_is_a_bad_program(source: str) -> None:
    with pytest.raises(BadProgram, match="no function that can be called"):
        c_recipe(source)


@pytest.mark.parametrize(
    "source",
    [
        "int main() { return 0; }",
        "template <class T> T same(T x) { return x; }",
        "struct S { int f() { return 1; } };\nint S::g() { return 2; }",
        "int f(int x) { return x; }\nint f(double x) { return 1; }",
        "namespace a { int f() { return 1; } }",
        "auto f(auto x) { return x; }",
    ],
)
def test_cpp_without_a_callable_function_is_a_bad_program(source: str) -> None:
    with pytest.raises(BadProgram, match="no function that can be called"):
        cpp_recipe(source)


def test_definitions_are_found_between_everything_else() -> None:
    source = r"""
#include <stdio.h>
#define BODY(x) int made_##x(void) \
    { return x; }
/* int in_a_comment(int x) { return x; } */
static const char *words[] = {"int in_a_text(int x) {", "}"};
int declared(int x);
struct pair { int a, b; };
#ifdef DEBUG
void debug(int x) { printf("%d", x); }
#elif defined(__GNUC__)
int gnu(int x) { if (x) { return '}'; } return '"'; }
#else
int other(int x) { return x; }
#endif
#if 0
int never(int x) {
#endif
__attribute__((noinline)) static long long real(long long x) { return x; } // }
int (*chooser(int x))(int) { return 0; }
"""
    assert [one.name for one in definitions(bare_source(source))] == ["gnu", "real"]


def test_cpp_functions_are_found_between_everything_else() -> None:
    source = r"""
#include <bits/stdc++.h>
using namespace std;
constexpr int BIG = 1'000'000;
const char *raw = R"x(int in_raw(int a) { ")x";
auto lambda = [](int x) { return x; };
class Shape { public: virtual int area() { return 0; } Shape() {} };
Shape operator+(const Shape &a, const Shape &b) { return a; }
std::function<int(int)> adder(int n) { return [n](int x) { return x + n; }; }
[[nodiscard]] vector<int> filled(int n = 3, vector<int> start = {}) { return start; }
auto tail(const map<string, vector<int>> &m) noexcept -> vector<int> { return {}; }
extern "C" { int inside(int x) { return x; } }
extern "C" int alone(int x) { return x; }
int initial{3};
template <class T> T same(T x) { return x; }
int main() { return 0; }
"""
    assert [one.name for one in functions(source)] == ["adder", "filled", "tail", "inside", "alone"]


def test_a_length_follows_its_lists() -> None:
    source = """
#include <stddef.h>
typedef long long ll;
ll sum(const ll *xs, size_t n) { return 0; }
double dot(const double a[], const double b[], int len) { return 0; }
void both(int *a, int na, int *b, int nb) { }
int joined(const char *const *words, int words_count, char *into) { return 0; }
int lonely(int *xs, int target) { return 0; }
int grid(char words[][20], int n) { return 0; }
"""
    assert roles(source) == {
        "sum": ["list", "length"],
        "dot": ["list", "list", "length"],
        "both": ["list", "length", "list", "length"],
        "joined": ["list", "length", "string"],
    }


def test_a_pointer_that_tells_the_length_of_the_result_is_not_passed() -> None:
    source = """
int *two(int *nums, int numsSize, int target, int *returnSize) { return 0; }
char **split(const char *text, char by, unsigned *out_count) { return 0; }
int *no_length(int x) { return 0; }
"""
    assert roles(source) == {
        "two": ["list", "length", "scalar", "out"],
        "split": ["string", "scalar", "out"],
    }


def test_the_calls_of_a_signature() -> None:
    calls = c_recipe("void sort(int *xs, int n) { }").files["calls.c"]
    assert "twinsmith_arity(1, 2)" in calls
    assert "twinsmith_take_list(TWINSMITH_INTEGER(int), &count0)" in calls
    assert "sort((void *)p0, p1);" in calls
    assert '{"sort", twinsmith_call_0}' in calls


class Driver:
    """A driver that runs bare, on two pipes."""

    def __init__(self, requests: int, replies: int) -> None:
        self.requests = requests
        self.replies = replies
        self.functions = self.receive()["functions"]

    def receive(self) -> dict[str, object]:
        size = int.from_bytes(self._exactly(4), "big")
        answer = json.loads(self._exactly(size))
        assert isinstance(answer, dict)
        return answer

    def send(self, text: str) -> dict[str, object]:
        data = text.encode()
        os.write(self.requests, len(data).to_bytes(4, "big") + data)
        return self.receive()

    def call(self, name: str, *args: object) -> dict[str, object]:
        return self.send(json.dumps({"call": name, "args": args}))

    def value(self, name: str, *args: object) -> object:
        answer = self.call(name, *args)
        assert "value" in answer, answer
        return answer["value"]

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = os.read(self.replies, size - len(data))
            assert more, "the driver ended"
            data += more
        return data


@contextmanager
def running(language: Language, source: str, folder: Path) -> Iterator[Driver]:
    """Build a recipe outside the sandbox and talk to what it makes."""
    tools = language.locate()
    if tools is None:
        pytest.skip(f"no compiler for {language.name}: {language.install}")
    cache, work = folder / "cache", folder / "work"
    cache.mkdir()
    work.mkdir()
    assert language.prepare
    language.prepare(tools, cache)
    recipe = language.recipe(Program(source=source, language=language.name), tools)
    for name, text in recipe.files.items():
        (work / name).write_text(text)
    for line in recipe.build:
        words = [word.replace(CACHE, str(cache)) for word in line]
        built = subprocess.run(words, cwd=work, capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stderr
    shutil.rmtree(cache)  # parsed headers are large, and pytest keeps folders
    their_requests, requests = os.pipe()
    replies, their_replies = os.pipe()
    theirs = (their_requests, their_replies)
    run = [str(work / recipe.artefact), *map(str, theirs)]
    process = subprocess.Popen(run, pass_fds=theirs, stdout=subprocess.PIPE)
    for end in theirs:
        os.close(end)
    try:
        yield Driver(requests, replies)
    finally:
        os.close(requests)
        process.communicate(timeout=10)
        os.close(replies)
    assert process.returncode == 0


C_SOURCE = r"""
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

typedef struct { int x; } point;
int of_point(point p) { return p.x; }
static int add(int a, int b) { return a + b; }
uint64_t same_u64(uint64_t x) { return x; }
int64_t same_i64(int64_t x) { return x; }
int8_t same_i8(signed char x) { return x; }
double root(double x) { return sqrt(x); }
float same_float(float x) { return x; }
bool negate(bool x) { return !x; }
char next(char c) { return (char)(c + 1); }
void say(const char *text) { printf("%s", text); }
const char *same_text(const char *text) { return text; }
char *broken(void) { return "a\xff\"\n"; }
void upper(char *text) { for (; *text; text++) if (*text >= 'a' && *text <= 'z') *text -= 32; }
long total(const int *xs, size_t n) {
    long t = 0; for (size_t i = 0; i < n; i++) t += xs[i]; return t;
}
double dot(const double *a, const double *b, int n) {
    double t = 0; for (int i = 0; i < n; i++) t += a[i] * b[i]; return t;
}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void sort(int *xs, int n) { qsort(xs, (size_t)n, sizeof *xs, order); }
int *evens(const int *xs, int n, int *returnSize) {
    int *out = malloc(sizeof(int) * (n ? n : 1)); *returnSize = 0;
    for (int i = 0; i < n; i++) if (xs[i] % 2 == 0) out[(*returnSize)++] = xs[i];
    return out;
}
char **reversed(const char *const *words, int count, int *out_count) {
    char **out = malloc(sizeof(char *) * (count ? count : 1)); *out_count = count;
    for (int i = 0; i < count; i++) out[i] = (char *)words[count - 1 - i];
    return out;
}
int read(int x) { return x; }
int main(void) { return add(1, 2); }
"""


@pytest.fixture(scope="module")
def c(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with running(C, C_SOURCE, tmp_path_factory.mktemp("c")) as driver:
        yield driver


def test_c_tells_its_functions(c: Driver) -> None:
    assert isinstance(c.functions, list)
    assert {"add", "root", "evens"} <= set(c.functions)
    assert not {"main", "of_point", "order"} & set(c.functions)


def test_c_numbers(c: Driver) -> None:
    assert c.call("add", 2, 3) == {"value": 5, "args": [2, 3]}
    assert c.value("add", 2.0, 3) == 5
    assert c.value("same_u64", 2**64 - 1) == 2**64 - 1
    assert c.value("same_i64", -(2**63)) == -(2**63)
    assert c.value("same_i8", -128) == -128
    assert repr(c.value("root", 4)) == "2.0"
    assert c.value("root", 0.1) == math.sqrt(0.1)
    assert c.value("same_float", math.inf) == math.inf
    assert math.isnan(float(str(c.value("root", -1.0))))
    assert c.value("negate", True) is False
    assert c.value("next", "a") == "b"
    assert c.value("read", 7) == 7


def test_c_strings(c: Driver) -> None:
    assert c.value("same_text", 'é"\\\n😀\x01') == 'é"\\\n😀\x01'
    assert c.value("same_text", None) is None
    assert c.value("broken") == 'a\ufffd"\n'
    assert c.call("upper", "abc") == {"value": None, "args": ["ABC"]}
    assert c.value("say", "printed") is None


def test_c_lists(c: Driver) -> None:
    assert c.call("total", [1, 2, 3]) == {"value": 6, "args": [[1, 2, 3]]}
    assert c.call("total", [1, 2, 3], 2) == {"value": 3, "args": [[1, 2, 3], 2]}
    assert c.value("total", []) == 0
    assert c.value("dot", [1, 2.5], [2, 2]) == 7.0
    assert c.call("sort", [3, 1, 2]) == {"value": None, "args": [[1, 2, 3]]}
    assert c.value("evens", [1, 2, 3, 4]) == [2, 4]
    assert c.value("reversed", ["a", "b", "é"]) == ["é", "b", "a"]


@pytest.mark.parametrize(
    ("name", "args", "kind"),
    [
        ("add", [1], "TypeError"),
        ("add", [1, "2"], "TypeError"),
        ("add", [1, 2.5], "TypeError"),
        ("add", [1, 2**31], "OverflowError"),
        ("same_u64", [-1], "OverflowError"),
        ("same_u64", [2**64], "OverflowError"),
        ("same_i64", [1e300], "OverflowError"),
        ("total", [[1, None]], "TypeError"),
        ("total", [[1], 2], "ValueError"),
        ("dot", [[1], [1, 2]], "ValueError"),
        ("same_text", ["a\0b"], "ValueError"),
        ("nothing", [], "NameError"),
    ],
)
def test_c_refuses(c: Driver, name: str, args: list[object], kind: str) -> None:
    answer = c.call(name, *args)
    assert (answer["raised"], answer["where"]) == (kind, "")
    assert answer["message"]


@pytest.mark.parametrize(
    "text", ["", "{", '{"call": "add"}', "[1,", "nul", '{"call": 1, "args": []}', "[" * 5000]
)
def test_a_malformed_request_is_refused(c: Driver, text: str) -> None:
    assert c.send(text)["raised"] == "ValueError"
    assert c.value("add", 1, 1) == 2


CPP_SOURCE = r"""
#include <bits/stdc++.h>
#define int long long
using namespace std;
struct Point { int x; };
int of_point(Point p) { return p.x; }
struct Unknown;
int unknown(Unknown &x) { return 1; }
int sized(int (&a)[3]) { return a[0]; }
int many(const char *format, ...) { return 0; }
static int add(int a, short b) { return a + b; }
unsigned long long same_u64(unsigned long long x) { return x; }
double half(double x) noexcept { return x / 2; }
string greet(const string &name, string_view mark) { return "hi " + name + string(mark); }
const char *none(const char *text) { return text[0] ? text : nullptr; }
vector<vector<int>> transposed(const vector<vector<int>> &m) {
    vector<vector<int>> t(m[0].size(), vector<int>(m.size()));
    for (size_t i = 0; i < m.size(); i++)
        for (size_t j = 0; j < m[0].size(); j++) t[j][i] = m[i][j];
    return t;
}
void sort_all(vector<int> &v, int by) {
    sort(v.begin(), v.end());
    if (by < 0) reverse(v.begin(), v.end());
}
void grow(vector<int> v) { v.push_back(1); }
map<string, int> counts(const vector<string> &words) {
    map<string, int> m; for (auto &w : words) m[w]++; return m;
}
unordered_map<int, vector<string>> same_map(unordered_map<int, vector<string>> m) { return m; }
unordered_set<int> unique_of(const deque<int> &v) { return {v.begin(), v.end()}; }
tuple<int, string, bool> packed(pair<int, string> p, optional<bool> b) {
    return {p.first, p.second, b.value_or(true)};
}
optional<double> maybe(optional<double> x) { return x; }
vector<bool> flipped(vector<bool> v) { v.flip(); return v; }
array<char, 2> letters(list<char> c) { return {c.front(), c.back()}; }
tuple<tuple<int>> nested(tuple<tuple<int>> t) { return t; }
int fail(string how) {
    if (how == "range") throw out_of_range("too far");
    if (how == "text") throw how;
    if (how == "other") throw Point{1};
    return vector<int>().at(0);
}
vector<int> remove(vector<int> v, int x = 1) { erase(v, x); return v; }
signed main() { cout << add(1, 2); }
"""


@pytest.fixture(scope="module")
def cpp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with running(CPP, CPP_SOURCE, tmp_path_factory.mktemp("cpp")) as driver:
        yield driver


def test_cpp_tells_its_functions(cpp: Driver) -> None:
    assert isinstance(cpp.functions, list)
    assert {"add", "half", "nested"} <= set(cpp.functions)
    assert not {"main", "of_point", "sized", "many", "unknown"} & set(cpp.functions)


def test_cpp_values(cpp: Driver) -> None:
    assert cpp.call("add", 2, 3) == {"value": 5, "args": [2, 3]}
    assert cpp.value("same_u64", 2**64 - 1) == 2**64 - 1
    assert cpp.value("half", 1) == 0.5
    assert cpp.value("greet", "é", "😀") == "hi é😀"
    assert cpp.value("none", "") is None
    assert cpp.value("maybe", None) is None
    assert cpp.value("maybe", -math.inf) == -math.inf


def test_cpp_containers(cpp: Driver) -> None:
    assert cpp.value("transposed", [[1, 2], [3, 4], [5, 6]]) == [[1, 3, 5], [2, 4, 6]]
    assert cpp.value("counts", ["a", "b", "a"]) == {"a": 2, "b": 1}
    assert cpp.value("same_map", {"-1": ["x"], "2": []}) == {"-1": ["x"], "2": []}
    assert cpp.value("unique_of", [3, 1, 3, 2]) == [1, 2, 3]
    assert cpp.value("packed", [1, "a"], None) == [1, "a", True]
    assert cpp.value("flipped", [True, False]) == [False, True]
    assert cpp.value("letters", ["a", "b", "c"]) == ["a", "c"]
    assert cpp.value("nested", [[5]]) == [[5]]
    assert cpp.value("remove", [1, 2, 1], 1) == [2]


def test_cpp_references_travel_back(cpp: Driver) -> None:
    assert cpp.call("sort_all", [2, 3, 1], -1) == {"value": None, "args": [[3, 2, 1], -1]}
    assert cpp.call("grow", [2]) == {"value": None, "args": [[2]]}


@pytest.mark.parametrize(
    ("name", "args", "kind", "message"),
    [
        ("fail", ["range"], "std::out_of_range", "too far"),
        ("fail", ["text"], "std::string", "text"),
        ("fail", ["other"], "Point", ""),
        ("add", [1, 2**15], "OverflowError", "argument 2: expected a signed integer of 16 bits"),
        ("add", [1], "TypeError", "takes 2 arguments, got 1"),
        ("transposed", [[1]], "TypeError", "argument 1: expected a list, got 1"),
        ("packed", [[1], True], "TypeError", "argument 1: expected a list of 2"),
        ("same_map", [{"a": []}], "TypeError", "argument 1: expected a number as key"),
        ("of_point", [1], "NameError", "cannot convert the types of 'of_point'"),
        ("nothing", [], "NameError", "no such function"),
    ],
)
def test_cpp_raises(cpp: Driver, name: str, args: list[object], kind: str, message: str) -> None:
    answer = cpp.call(name, *args)
    assert answer["raised"] == kind
    assert str(answer["message"]).startswith(message)
