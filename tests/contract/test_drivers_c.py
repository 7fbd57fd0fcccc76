"""The drivers of C and C++, compiled and running bare."""

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
from twinsmith.adapters.sandbox.languages.cpp import CPP
from twinsmith.adapters.sandbox.languages.language import (
    CACHE,
    Language,
)
from twinsmith.core.program import Program


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
