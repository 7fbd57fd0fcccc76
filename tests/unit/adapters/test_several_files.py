"""What a sandbox makes of a program's further files, before anything is run."""

from pathlib import Path

import pytest

from twinsmith.adapters.sandbox.inside import folder
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.c import DRIVERS, linked
from twinsmith.adapters.sandbox.languages.language import Recipe, Toolchain
from twinsmith.adapters.sandbox.layers import refused, wanted, warmed
from twinsmith.adapters.sandbox.review import read
from twinsmith.adapters.sandbox.reviews import REVIEWS
from twinsmith.core.execution import ProbeResult
from twinsmith.core.program import ENDINGS, FILE_NAMES, RESERVED, Kind, Program, SourceFile

TOOLS = Toolchain(
    version="1",
    commands={
        name: f"/usr/bin/{name}"
        for name in ("gcc", "g++", "perl", "rustc", "cc", "compile", "link", "python3")
    },
)
FUNCTION = {
    "python": "def f(x): return x\n",
    "perl": "sub f { 1 }\n",
    "rust": "pub fn f(x: i64) -> i64 { x }\n",
    "go": "package main\nfunc F(x int) int { return x }\n",
    "c": "int f(int x) { return x; }\n",
    "cpp": "int f(int x) { return x; }\n",
}


def program(language: str, kind: Kind = "function", **files: str) -> Program:
    ending = ENDINGS[language][0]
    beside = tuple(SourceFile(name=f"{name}{ending}", text=text) for name, text in files.items())
    return Program(source=FUNCTION[language], language=language, kind=kind, files=beside)


def recipe(of: Program) -> Recipe:
    return LANGUAGES[of.language].recipe(of, TOOLS)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["function", "library", "cli", "service"])
def test_every_file_is_put_beside_the_main_one(language: str, kind: Kind) -> None:
    made = recipe(program(language, kind, other="// other\n"))
    name = f"other{ENDINGS[language][0]}"
    assert next(iter(made.files)) == FILE_NAMES[language]
    assert "// other\n" in made.files[name]
    if language in ("c", "cpp", "go"):
        assert name in made.build[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_program_has_a_file_under_a_name_of_the_sandbox(language: str) -> None:
    own = {*recipe(program(language)).files} - {FILE_NAMES[language]}
    assert own <= RESERVED
    headers = {path.name for path in DRIVERS.iterdir() if path.suffix in (".h", ".hpp")}
    assert headers <= RESERVED


def test_a_compiler_is_told_where_headers_lie_and_compiles_no_header() -> None:
    files = ("shapes.h", "src/shapes.c", "include/more.h", "include/inner.c")
    of = Program(
        source="", language="c", files=tuple(SourceFile(name=name, text="") for name in files)
    )
    folders = ("-iquote", ".", "-iquote", "src", "-iquote", "include")
    assert linked(of) == (*folders, "src/shapes.c", "include/inner.c")
    assert linked(Program(source="", language="c")) == ()


def test_every_file_in_go_is_of_one_package() -> None:
    files = recipe(program("go", other="package other\nfunc g() {}\n")).files
    assert files["other.go"] == "package main\nfunc g() {}\n"


def test_files_are_written_into_their_folders(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    work = scratch / "work"
    files = {"solution.py": "1", "inner/a.py": "2", "inner/b.py": "3", "other.py": "4"}
    for _ in range(2):
        folder.renew([str(scratch)], str(work), files)
        found = {str(path.relative_to(work)): path for path in work.rglob("*.py")}
        assert {name: path.read_text() for name, path in found.items()} == files


class TestImports:
    """What all files of a program import counts; the files themselves do not."""

    def test_a_file_of_the_program_is_no_package(self) -> None:
        of = Program(
            source="import shapes, inner.more\n",
            files=(
                SourceFile(name="shapes.py", text="from inner import more\n"),
                SourceFile(name="inner/more.py", text="import shapes\n"),
            ),
        )
        assert refused(of) == ""
        assert "not allowed: inner, shapes" in refused(Program(source=of.source))

    def test_what_a_further_file_imports_is_refused_allowed_or_warmed(self) -> None:
        asking = program("python", other="import requests\nimport numpy\nimport json\n")
        assert "not allowed: requests" in refused(asking)
        assert wanted(asking) == {"numpy"}
        assert warmed(asking) == ["json", "numpy"]

    def test_what_the_program_calls_so_itself_is_not_the_librarys(self) -> None:
        own = program("python", json="import flask\n", flask="import json\n", more="import json\n")
        assert refused(own) == ""
        assert wanted(own) == set()
        assert warmed(own) == []


@pytest.mark.parametrize(
    ("language", "tool", "said", "where"),
    [
        ("c", "gcc", "shapes.h:3:5: warning: it [-Wx]\n", "shapes.h line 3"),
        ("c", "gcc", "src/shapes.c:3: error: it\n", "src/shapes.c line 3"),
        ("c", "gcc", "solution.c:3:5: warning: it [-Wx]\n", "line 3"),
        ("c", "gcc", "solution.h:3:5: warning: it [-Wx]\n", "solution.h line 3"),
        ("cpp", "cppcheck", "shapes.hpp\t3\terror\tx\tit\n", "shapes.hpp line 3"),
        ("perl", "perl", "it at ./solution.pl line 3.\n", "line 3"),
        ("perl", "perl", "it at lib/Shapes.pm line 3.\n", "lib/Shapes.pm line 3"),
        ("go", "go vet", "vet: ./shapes.go:3:1: it\n", "shapes.go line 3"),
    ],
)
def test_a_finding_tells_its_file(language: str, tool: str, said: str, where: str) -> None:
    reads = next(each for each in REVIEWS[language] if each.name == tool)
    result = ProbeResult(name=tool, outcome="passed", exit_code=0, errors=said)
    assert [each.where for each in read(reads, result, "")] == [where]


def test_a_password_in_a_further_file_is_judged_by_its_own_line() -> None:
    row = (
        '{"filename": "/tmp/work/keys.py", "code": "S105", "location": {"row": 1, "column": 12},'
        ' "message": "Possible hardcoded password assigned to: \\"password\\""}\n'
    )
    ruff = next(each for each in REVIEWS["python"] if each.name == "ruff")
    result = ProbeResult(name="ruff", outcome="passed", exit_code=0, output=row)
    for value, found in (("hunter2-and-more", ["keys.py line 1"]), ("two words", [])):
        keys = SourceFile(name="keys.py", text=f"password = '{value}'\n")
        assert [each.where for each in read(ruff, result, "x = 1\n", [keys])] == found
