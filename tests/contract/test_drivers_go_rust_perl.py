"""Go, Rust and Perl: what a recipe holds, and what its driver answers."""

import json
import math
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from twinsmith.adapters.sandbox.languages import go, rust
from twinsmith.adapters.sandbox.languages.go import GO
from twinsmith.adapters.sandbox.languages.language import (
    ARTEFACT,
    CACHE,
    BadProgram,
    Language,
    Recipe,
    Toolchain,
)
from twinsmith.adapters.sandbox.languages.perl import PERL
from twinsmith.adapters.sandbox.languages.rust import RUST, Signature
from twinsmith.core.errors import SandboxError
from twinsmith.core.program import Kind, Program

TOOLS = Toolchain(
    version="1",
    commands={name: f"/tools/{name}" for name in ("go", "compile", "link", "rustc", "cc", "perl")},
)


def recipe(language: Language, source: str, kind: Kind = "function") -> Recipe:
    return language.recipe(Program(source=source, language=language.name, kind=kind), TOOLS)


# What is read off a source


def test_go_functions_are_those_a_stranger_can_call() -> None:
    source = """package solution
// func Comment(x int) {}
var s = "func Text() {}" + `
func Raw() {}
` + string('"')
func Add(a, b int) int { f := func(x int) int { return x }; return f(a) + b }
func (p Point) Method() {}
func Generic[T any](x T) T { return x }
func init() {}
func main() {}
func small() {}
"""
    assert go.functions(source) == ("Add", "small")


def test_go_source_becomes_package_main_and_keeps_its_lines() -> None:
    source = "// package note\npackage solution\n\nfunc main() { run() }\n"
    assert go.as_package_main(source) == source.replace("package solution", "package main")
    assert go.without_main(source) == source.replace("func main", "func solutionMain")
    assert go.as_package_main("func F() {}\n") == "package main; func F() {}\n"


RUST_SOURCE = r"""
use std::collections::HashMap;
type Grid = Vec<Vec<char>>;
/* fn comment() {} */
const TEXT: &str = r#"fn text() { " }"#;
pub fn add(a: i64, mut b: i64) -> i64 { fn inner() {} b += a; b }
fn change<'a>(v: &'a mut Vec<i32>, w: &mut [u8], c: char) { let _ = '{'; }
pub(crate) fn parse(s: &str, (x, y): (i32, f64)) -> Result<HashMap<String, u8>, Odd> { todo!() }
fn grid(grid: &Grid, three: Option<[u8; 3]>) -> &'static str { "" }
fn generic<T: Ord>(x: T) {}
fn closure(f: impl Fn(i32) -> i32, n: i32) -> i32 { f(n) }
fn own(p: Point) {}
fn made() -> Point { Point }
pub async fn later() {} unsafe fn risky() {}
#[test]
fn test() {}
#[cfg(windows)] fn elsewhere() {}
struct Point; impl Point { fn method(&self) {} }
mod inner { pub fn hidden() {} }
fn main() {}
"""


def test_rust_signatures_are_those_the_driver_has_types_for() -> None:
    assert rust.signatures(RUST_SOURCE) == (
        Signature(name="add", parameters=("i64", "i64")),
        Signature(name="change", parameters=("&mut Vec<i32>", "&mut [u8]", "char")),
        Signature(name="parse", parameters=("&str", "(i32, f64)"), fallible=True),
        Signature(name="grid", parameters=("&Grid", "Option<[u8; 3]>")),
    )


@pytest.mark.parametrize(
    "kind",
    ["Box<str>", "[i32]", "Vec<Vec>", "&dyn Fn()", "HashMap<i32>", "Loop", "&" * 5000 + "str", "("],
)
def test_rust_leaves_out_what_would_not_build(kind: str) -> None:
    source = f"type Loop = (Loop, Loop); fn g() -> Result<> {{}} fn f(x: {kind}) {{}}"
    assert rust.signatures(source) == ()


def test_rust_glue_sends_back_what_a_function_may_change() -> None:
    text = rust.glue([Signature(name="change", parameters=("&mut [u8]", "bool"))])
    assert "let mut twinsmith_0: Vec<u8> =" in text
    assert "super::change(&mut twinsmith_0, ::twinsmith_driver::take(twinsmith_in, 1)?)" in text
    assert "[::twinsmith_driver::ToJson::to_json(&twinsmith_0), twinsmith_in[1].clone()]" in text


@pytest.mark.parametrize(
    ("language", "source"),
    [(GO, "package main\nfunc main() {}\n"), (RUST, "fn f<T>(x: T) {}\nfn main() {}\n")],
)
def test_a_source_without_functions_is_a_bad_program(language: Language, source: str) -> None:
    with pytest.raises(BadProgram, match="no function that can be called"):
        recipe(language, source)


# Recipes


def test_a_command_is_built_without_a_driver() -> None:
    made = recipe(GO, "package main\nfunc main() {}\n", "cli")
    assert [*made.files] == ["solution.go"]
    assert [command[0] for command in made.build] == ["/tools/compile", "/tools/link"]
    assert (made.artefact, made.run) == ("solution", (ARTEFACT,))
    made = recipe(RUST, "fn main() {}\n", "service")
    assert made.files == {"solution.rs": "fn main() {}\n"}
    assert "--extern" not in made.build[0]
    made = recipe(PERL, "print 1", "cli")
    assert (made.files, made.build) == ({"solution.pl": "print 1"}, ())
    assert made.run == ("/tools/perl", "solution.pl")


def test_tools_are_looked_for_in_order(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "root"
    names = [f"sdk/go1.{n}/bin/go" for n in (9, 21)]
    names += [f".rustup/toolchains/{n}-x/bin/rustc" for n in ("nightly", "1.9.0", "1.80.0")]
    for name in names:
        (home / name).parent.mkdir(parents=True)
        (home / name).touch()
    assert [place.parts[-3] for place in go.places(root, home)] == ["go1.21", "go1.9"]
    found = [place.parts[-3] for place in rust.places(root, home)]
    assert found == ["1.80.0-x", "1.9.0-x", "nightly-x"]
    (home / ".rustup/settings.toml").write_text('default_toolchain = "nightly-x"\n')
    assert rust.places(root, home)[0].parts[-3] == "nightly-x"


def test_a_preparation_that_fails_says_so(tmp_path: Path) -> None:
    broken = Toolchain(version="1", commands=dict.fromkeys(("go", "rustc"), "/bin/false"))
    for language in (GO, RUST):
        assert language.prepare is not None
        with pytest.raises(SandboxError, match=f"{language.name} cannot be prepared"):
            language.prepare(broken, tmp_path)


# The drivers, bare


class Driver:
    """A driver that runs, and its two pipes."""

    def __init__(self, requests: int, replies: int) -> None:
        self.requests, self.replies = requests, replies
        self.hello = self.receive()

    def receive(self) -> dict[str, object]:
        with os.fdopen(os.dup(self.replies), "rb", buffering=0) as pipe:
            size, body = int.from_bytes(pipe.read(4), "big"), b""
            while len(body) < size:
                body += pipe.read(size - len(body))
        message = json.loads(body)
        return dict(message)

    def call(self, name: str, *args: object) -> dict[str, object]:
        body = json.dumps({"call": name, "args": args}).encode()
        os.write(self.requests, len(body).to_bytes(4, "big") + body)
        return self.receive()

    def names(self) -> list[object]:
        assert isinstance(self.hello["functions"], list)
        return self.hello["functions"]

    def value(self, name: str, *args: object) -> object:
        reply = self.call(name, *args)
        assert "value" in reply, reply
        return reply["value"]


def tools(language: Language) -> Toolchain:
    toolchain = language.locate()
    if toolchain is None:
        pytest.skip(f"{language.name} is not on this machine: {language.install}")
    return toolchain


@pytest.fixture(scope="module")
def go_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Only the packages that the driver and these tests import: the whole library takes long."""
    folder = tmp_path_factory.mktemp("go")
    go._prepare(tools(GO), folder, ("encoding/binary", "fmt", "sort", "strings", "unicode/utf16"))
    imports = (folder / "importcfg").read_text()
    (folder / "importcfg").write_text(imports.replace(CACHE, str(folder)))
    return folder


@pytest.fixture(scope="module")
def rust_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rust")
    assert RUST.prepare is not None
    RUST.prepare(tools(RUST), folder)
    return folder


@contextmanager
def driven(language: Language, source: str, cache: Path, folder: Path) -> Iterator[Driver]:
    """Build a function as its recipe says, and run it."""
    made = language.recipe(Program(source=source, language=language.name), tools(language))
    for name, text in made.files.items():
        (folder / name).write_text(text)
    for command in made.build:
        here = [part.replace(CACHE, str(cache)) for part in command]
        subprocess.run(here, cwd=folder, env=dict(made.environment), check=True)
    run = [part.replace(ARTEFACT, f"./{made.artefact}") for part in made.run]
    theirs, mine = os.pipe(), os.pipe()
    ends = (theirs[0], mine[1])
    process = subprocess.Popen([*run, *map(str, ends)], cwd=folder, pass_fds=ends)
    for end in ends:
        os.close(end)
    try:
        yield Driver(theirs[1], mine[0])
    finally:
        os.close(theirs[1])
        os.close(mine[0])
        assert process.wait(timeout=10) == 0


GO_SOURCE = """package solution
import ("errors"; "fmt"; "sort")
type Point struct { X int `json:"x"`; Y *float64; hidden int }
func Half(x float64) float64 { fmt.Println("noise"); return x / 2 }
func Sort(xs []int) { sort.Ints(xs) }
func Both(a uint64, b string) (string, uint64) { return b, a }
func Safe(a, b int) (int, error) {
    if b == 0 { return 0, errors.New("no zero") }; return a / b, nil }
func Pick(xs []int, i int) int {
    return xs[i]
}
func Count(words ...string) map[int]string { m := map[int]string{}
    for i, w := range words { m[i] = w }; return m }
func Move(p Point) *Point { p.X++; return &p }
func Nothing() ([]int, map[string]int) { return nil, nil }
func Same(x any) any { return x }
func Keys(m map[int8]bool) int { n := 0; for k := range m { n += int(k) }; return n }
func Odd() chan int { return nil }
func main() {}
"""


def test_go_answers_calls(go_cache: Path, tmp_path: Path) -> None:
    with driven(GO, GO_SOURCE, go_cache, tmp_path) as driver:
        names = driver.names()
        assert names[:2] == ["Half", "Sort"]
        half = driver.value("Half", 4)
        assert (half, type(half)) == (2.0, float)
        assert driver.value("Half", math.inf) == math.inf
        assert math.isnan(float(str(driver.value("Half", math.nan))))
        assert driver.value("Half", 0.1 + 0.2) == (0.1 + 0.2) / 2
        assert driver.call("Sort", [3, 1.0, 2]) == {"value": None, "args": [[1, 2, 3]]}
        assert driver.value("Both", 2**64 - 1, 'é"\n😀') == ['é"\n😀', 2**64 - 1]
        assert driver.value("Safe", 6, 3) == 2
        assert driver.value("Count", "a", "b") == {"0": "a", "1": "b"}
        assert driver.value("Move", {"x": 1, "y": 2}) == {"x": 2, "Y": 2.0}
        assert driver.value("Nothing") == [[], {}]
        assert driver.value("Same", [1, 2.5, {"a": None}]) == [1, 2.5, {"a": None}]
        assert driver.value("Keys", {"3": True, "-1": False}) == 2
        large = list(range(300_000))
        assert driver.call("Sort", large[::-1])["args"] == [large]


def test_go_says_what_went_wrong(go_cache: Path, tmp_path: Path) -> None:
    with driven(GO, GO_SOURCE, go_cache, tmp_path) as driver:
        assert driver.call("Safe", 1, 0) == {"raised": "error", "message": "no zero", "where": ""}
        message = "runtime error: index out of range [5] with length 1"
        panic = {"raised": "panic", "message": message, "where": " (line 10)"}
        assert driver.call("Pick", [1], 5) == panic
        for name, *args in (["Pick", [1]], ["Pick", "x", 0], ["Pick", [1.5], 0], ["Odd"]):
            assert driver.call(str(name), *args)["raised"] == "TypeError"
        assert driver.call("Absent")["raised"] == "NameError"


RUST_DRIVEN = """#![allow(dead_code)]
use std::collections::{HashMap, HashSet};
#[derive(Debug)]
enum Odd { Zero(i32) }
type Grid = Vec<Vec<char>>;
pub fn half(x: f64) -> f64 { println!("noise"); x / 2.0 }
fn sort(xs: &mut Vec<i64>, part: &mut [u8]) { xs.sort(); part[0] = 9; }
fn both(a: u128, b: &str) -> (String, i128) { (b.to_string(), -(a as i128)) }
fn safe(a: i32, b: i32) -> Result<i32, Odd> { if b == 0 { Err(Odd::Zero(a)) } else { Ok(a / b) } }
fn shown(text: String) -> Result<(), Box<dyn std::error::Error>> { text.parse::<i32>()?; Ok(()) }
fn pick(xs: &[i32], i: usize) -> i32 {
    xs[i]
}
fn longest<'a>(words: &'a [&'a str]) -> Option<&'a str> {
    words.iter().copied().max_by_key(|w| w.len())
}
fn keys(m: HashMap<i8, bool>) -> HashSet<i8> { m.into_keys().collect() }
fn turn(grid: Grid, by: [i32; 2]) -> Grid { let _ = crate::half(by[0].into()); grid }
fn grow(n: i32) -> i32 { n + 1 }
struct Point;
fn point() -> Point { Point }
fn main() { println!("mine"); }
"""


def test_rust_answers_calls(rust_cache: Path, tmp_path: Path) -> None:
    with driven(RUST, RUST_DRIVEN, rust_cache, tmp_path) as driver:
        names = driver.names()
        assert (names[:2], "point" in names) == (["half", "sort"], False)
        half = driver.value("half", 4)
        assert (half, type(half)) == (2.0, float)
        assert driver.value("half", -math.inf) == -math.inf
        assert driver.value("half", 0.1 + 0.2) == (0.1 + 0.2) / 2
        assert driver.call("sort", [3, 1.0], [1, 2]) == {"value": None, "args": [[1, 3], [9, 2]]}
        assert driver.value("both", 2**100, 'é"\n😀') == ['é"\n😀', -(2**100)]
        assert driver.value("longest", ["a", "bcd"]) == "bcd"
        assert driver.value("longest", []) is None
        assert driver.value("keys", {"10": True, "9": False}) == [9, 10]
        assert driver.value("turn", [["a", "é"]], [1, 2]) == [["a", "é"]]
        large = list(range(300_000))
        assert driver.call("sort", large[::-1], [0])["args"] == [large, [9]]
        # What went wrong.
        assert driver.call("safe", 1, 0) == {"raised": "Err", "message": "Zero(1)", "where": ""}
        assert driver.call("shown", "x")["message"] == "invalid digit found in string"
        message = "index out of bounds: the len is 1 but the index is 5"
        panic = {"raised": "panic", "message": message, "where": " (line 12)"}
        assert driver.call("pick", [1], 5) == panic
        assert driver.call("grow", 2**31 - 1)["message"] == "attempt to add with overflow"
        for name, *args in (["pick", [1]], ["pick", "x", 0], ["pick", [1.5], 0], ["grow", 2**31]):
            assert driver.call(str(name), *args)["raised"] == "TypeError"
        assert driver.call("absent")["raised"] == "NameError"


PERL_SOURCE = """use strict; use warnings; use List::Util qw(sum);
use constant LIMIT => 3;
print "noise\\n";
sub total { return sum(@{ $_[0] }) }
sub change { my ($xs, $h) = @_; push @$xs, 4; $h->{new} = 1.5; return }
sub several { return (1, 'two', [3]) }
sub same { return $_[0] }
sub fails { die "no luck" if $_[0]; die { code => 7 } }
sub fault { die bless { message => 'odd' }, 'Fault' }
sub equal { return $_[0] == $_[1] }
sub accent { return "é" }
sub size { return length $_[0] }
package Fault;
sub message { return $_[0]{message} }
package main;
main() unless caller;
"""


def test_perl_answers_calls(tmp_path: Path) -> None:
    with driven(PERL, PERL_SOURCE, tmp_path, tmp_path) as driver:
        names = driver.names()
        assert {"total", "change"} <= {*names}
        assert not {"sum", "LIMIT"} & {*names}
        assert driver.value("total", [1, 2, 3.5]) == 6.5
        assert driver.value("total", [0.1, 0.2]) == 0.1 + 0.2
        assert driver.call("change", [3], {}) == {"value": None, "args": [[3, 4], {"new": 1.5}]}
        assert driver.value("several") == [1, "two", [3]]
        mixed = ["1", 1, 'é"\n\\😀', None, {"k": [math.inf, -math.inf]}, 2**63, "", "\t", "/"]
        assert driver.value("same", mixed) == mixed
        assert math.isnan(float(str(driver.value("same", math.nan))))
        assert driver.value("same", [True, False]) == [1, 0]
        assert driver.value("equal", 1, 1) in (1, True)
        assert not driver.value("equal", 1, 2)
        assert (driver.value("accent"), driver.value("size", "é😀")) == ("é", 2)
        died = {"raised": "died", "message": "no luck", "where": " (line 8)"}
        assert driver.call("fails", 1) == died
        assert driver.call("fails", 0)["message"] == '{"code":7}'
        fault = driver.call("fault")
        assert (fault["raised"], fault["message"]) == ("Fault", "odd")
        assert driver.call("absent")["raised"] == "NameError"


@pytest.mark.parametrize(
    ("source", "kind", "where"),
    [("1;\nsub f {", "SyntaxError", ""), ("\ndie 'early';", "died", " (line 2)")],
)
def test_perl_that_cannot_be_loaded_says_so(
    source: str, kind: str, where: str, tmp_path: Path
) -> None:
    with driven(PERL, source, tmp_path, tmp_path) as driver:
        assert driver.hello["raised"] == kind
        assert where in str(driver.hello["where"])
