"""Rust and Go that we ship or test build with Debian 12's own compilers, 1.63 and 1.19.

Where those are installed, the tests that build them say so. A newer compiler takes older code for
granted, so what is newer is looked for: syntax by grammar, the library by what each calls new.
"""

import ast
import json
import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conftest import ROOT
from tests.sandboxes import needs
from twinsmith.adapters.knowledge.grammars import load_language
from twinsmith.adapters.knowledge.starter import entries
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.go import as_package_main

if TYPE_CHECKING:
    from tree_sitter import Node

FLOOR = {"rust": (1, 63), "go": (1, 19)}
DRIVERS = ROOT / "src/twinsmith/adapters/sandbox/drivers"
HARMLESS = ("services*.py", "e2e/*.py")
BUILT = (*HARMLESS, "contract/*.py", "hostile/*.py")
"""Tests whose programs are built; those of the last two may never be outside of a sandbox."""
LOOKS_LIKE = {
    "rust": re.compile(r"\bfn \w+\s*[(<]"),
    "go": re.compile(r"\bpackage \w+\n|\bfunc (\(\w+ \*?\w+\) )?\w+\("),
}
CLIPPY = (
    *("--edition=2021", "--crate-type=lib", "--emit=metadata", "--error-format=json"),
    *("--cap-lints=warn", "-Aunused", "-Aclippy::all", "--force-warn=clippy::incompatible_msrv"),
)
GO_API = re.compile(r"pkg ([\w/]+)(?: \(\S+\))?, (?:func|type|var|const) (\w+)")
GO_METHOD = re.compile(r"pkg [\w/]+(?: \(\S+\))?, (?:method \(\S+\)|type \w+ \w+,) (\w+)")


def sources(language: str, tests: tuple[str, ...]) -> dict[str, str]:
    """What we ship, and the programs and pieces of them in tests, by where they stand."""
    driver = DRIVERS / f"driver{LANGUAGES[language].suffix}"
    found = {driver.name: driver.read_text()}
    found |= {each.title: each.code for each in entries() if each.language == language}
    for path in (path for pattern in tests for path in (ROOT / "tests").glob(pattern)):
        for line, text in texts(ast.parse(path.read_text())):
            if LOOKS_LIKE[language].search(text):
                found[f"{path.relative_to(ROOT)}:{line}"] = text
    return found


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts in a module of Python; what is put into one later reads as `x`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def nodes(language: str, text: str) -> Iterator["Node"]:
    from tree_sitter import Parser

    left = [Parser(load_language(language)).parse(text.encode()).root_node]
    while left:
        node = left.pop()
        yield node
        left += node.children


def said(node: "Node | None") -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def release(language: str) -> tuple[int, int]:
    needs(language)
    toolchain = LANGUAGES[language].locate()
    found = re.search(r"(\d+)\.(\d+)", toolchain.version if toolchain else "")
    assert found
    return int(found[1]), int(found[2])


def command(language: str, name: str) -> str:
    toolchain = LANGUAGES[language].locate()
    assert toolchain is not None
    return toolchain.commands[name]


def newer_rust_syntax(text: str) -> list[str]:
    """What 1.63 cannot read."""
    found = []
    for node in nodes("rust", text):
        if node.type == "let_declaration" and node.child_by_field_name("alternative"):
            found.append(f"let … else: {said(node)[:60]}")
        elif node.type in {"let_chain", "const_block", "gen_block"}:
            found.append(f"{node.type}: {said(node)[:60]}")
    return found


def newer_rust_library(folder: Path, text: str) -> list[str]:
    """What the library of 1.63 has not, as clippy knows it, which a source has to build for."""
    folder.mkdir()
    (folder / "clippy.toml").write_text('msrv = "{}.{}"'.format(*FLOOR["rust"]))
    (folder / "a.rs").write_text(text)
    clippy = Path(command("rust", "rustc")).with_name("clippy-driver")
    done = subprocess.run(
        [clippy, *CLIPPY, "-o", "a.rmeta", "a.rs"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "CLIPPY_CONF_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return [
        f"{row['message']}: {row['spans'][0]['text'][0]['text'].strip()}"
        for row in rows
        if row["code"] and row["code"]["code"] == "clippy::incompatible_msrv"
    ]


@cache
def new_in_go() -> tuple[set[tuple[str, str]], set[str]]:
    """What packages offer since, and names of methods and fields that none had before."""
    offered: list[set[tuple[str, str]]] = [set(), set()]
    methods: list[set[str]] = [set(), set()]
    for path in (Path(command("go", "go")).resolve().parents[1] / "api").glob("go1*.txt"):
        since = int(path.stem.removeprefix("go1").strip(".") or 0) > FLOOR["go"][1]
        offered[since] |= set(GO_API.findall(path.read_text()))
        methods[since] |= set(GO_METHOD.findall(path.read_text()))
    return offered[1] - offered[0], methods[1] - methods[0]


def newer_go_library(text: str) -> list[str]:
    """What the library of 1.19 has not, as the lists that come with Go know it."""
    tree = list(nodes("go", text))
    paths = [said(node).strip('"') for node in tree if node.type == "interpreted_string_literal"]
    # A second version of a package is called like the first.
    packages = {re.sub(r"/v\d$", "", path).rpartition("/")[2]: path for path in paths}
    own = {said(node.child_by_field_name("name")) for node in tree}
    offered, methods = new_in_go()
    # A method in a route's pattern is read as a part of the path before 1.22.
    found = re.findall(r'\.Handle(?:Func)?\("[A-Z]+ /.*?"', text)
    for node in tree:
        if node.type in {"selector_expression", "qualified_type"}:
            left, right = said(node.children[0]), said(node.children[-1])
            if (packages.get(left), right) in offered:
                found.append(f"{packages[left]}.{right}")
            elif left not in packages and right in methods - own:
                found.append(f"a method {right}")
    return found


def newer_go_language(folder: Path, programs: dict[str, str]) -> list[str]:
    """What the language of 1.19 has not, as the compiler knows it."""
    (folder / "go.mod").write_text("module floor\n\ngo {}.{}\n".format(*FLOOR["go"]))
    for n, text in enumerate(programs.values()):
        (folder / f"p{n}").mkdir()
        (folder / f"p{n}" / "a.go").write_text(as_package_main(text))
    done = subprocess.run(
        [command("go", "go"), "vet", "./..."],
        cwd=folder,
        env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "GOPROXY": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    rows = re.findall(r"p(\d+)/a\.go:\d+:\d+: (.*requires go1\..*|loop variable.*)", done.stderr)
    return [f"{[*programs][int(n)]}: {what}" for n, what in rows]


def test_what_is_newer_is_found(tmp_path: Path) -> None:
    assert newer_rust_syntax("fn f(x: Option<u8>) { let Some(_) = x else { return }; }")
    assert newer_rust_syntax("fn f(x: Option<u8>) { if let Some(n) = x && n > 1 {} }")
    assert not newer_rust_syntax("fn f(x: Option<u8>) { if let Some(_) = x {} else {} }")
    if release("rust") > FLOOR["rust"]:
        newer = "pub fn f(x: Option<u8>) -> bool { x.is_some_and(|n| n > 1) }"
        (found,) = newer_rust_library(tmp_path / "rust", newer)
        assert "stable since `1.70.0`" in found
        assert not newer_rust_library(tmp_path / "old", "pub fn f(n: u8) -> u8 { n.min(1) }")
    if release("go") > FLOOR["go"]:
        newer = (
            'package p\nimport (\n\t"math/rand/v2"\n\t"net/http"\n\t"slices"\n\t"strings"\n)\n'
            "func f(r *http.Request, xs []int) string {\n\tslices.Sort(xs)\n"
            '\treturn strings.ToUpper(r.PathValue("a")[rand.IntN(2):])\n}\n'
        )
        found_in_go = {"slices.Sort", "a method PathValue", "math/rand/v2.IntN"}
        assert set(newer_go_library(newer)) == found_in_go
        assert newer_go_library('package p\nfunc f() { m.HandleFunc("GET /a", g) }\n')
        programs = {
            "ranged": "package p\nfunc f(n int) { for range n {} }\n",
            "caught": "package p\nfunc f(s []int) { for n := range s { go func() { _ = n }() } }\n",
            "old": "package p\n",
        }
        ranged, caught = sorted(newer_go_language(tmp_path, programs), reverse=True)
        assert "requires go1.22" in ranged
        assert "loop variable n captured" in caught


def test_rust_that_1_63_cannot_read() -> None:
    told = {place: newer_rust_syntax(text) for place, text in sources("rust", BUILT).items()}
    assert {place: found for place, found in told.items() if found} == {}


def test_rust_that_is_not_in_the_library_of_1_63(tmp_path: Path) -> None:
    if release("rust") <= FLOOR["rust"]:
        return
    programs = sources("rust", HARMLESS)
    with ThreadPoolExecutor(2) as both:
        folders = (tmp_path / str(n) for n in range(len(programs)))
        told = both.map(newer_rust_library, folders, programs.values())
        found = dict(zip(programs, told, strict=True))
    assert {place: newer for place, newer in found.items() if newer} == {}


def test_go_that_is_not_in_the_library_of_1_19() -> None:
    if release("go") <= FLOOR["go"]:
        return
    told = {place: newer_go_library(text) for place, text in sources("go", BUILT).items()}
    assert {place: found for place, found in told.items() if found} == {}


def test_go_that_1_19_cannot_read(tmp_path: Path) -> None:
    if release("go") > FLOOR["go"]:
        assert newer_go_language(tmp_path, sources("go", HARMLESS)) == []
