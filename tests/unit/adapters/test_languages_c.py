"""How C and C++ sources are read, and the calls that are made of them."""

import pytest

from twinsmith.adapters.sandbox.languages.c import C
from twinsmith.adapters.sandbox.languages.c_signature import signatures
from twinsmith.adapters.sandbox.languages.c_source import bare_source, definitions
from twinsmith.adapters.sandbox.languages.cpp import CPP, functions
from twinsmith.adapters.sandbox.languages.language import (
    ARTEFACT,
    CACHE,
    BadProgram,
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
