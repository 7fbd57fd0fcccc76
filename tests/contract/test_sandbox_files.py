"""Programs of several files in six languages: built, run, reviewed, and no danger to others."""

import pytest

from tests.sandboxes import LIMITS, checks, code, needs, sandbox
from twinsmith.adapters.sandbox.review import SandboxReviewer, tools
from twinsmith.adapters.sandbox.review_sanitized import SanitizedSandbox
from twinsmith.core.execution import Execution
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Kind, Program, SourceFile

FUNCTIONS = {
    "python": "from shapes import square\nfrom inner import adding\n"
    "def total(xs): return adding.add([square(x) for x in xs])\n",
    "perl": "use strict; use warnings;\nuse Shapes; use inner::Adding;\n"
    "sub total { my ($xs) = @_; return inner::Adding::add(map { Shapes::square($_) } @$xs) }\n",
    "rust": "mod shapes;\nmod inner;\n"
    "pub fn total(xs: Vec<i64>) -> i64 { inner::add(xs.into_iter().map(shapes::square)) }\n",
    "go": "package solution\nfunc Total(xs []int) int {\n"
    "\tfor i, x := range xs { xs[i] = square(x) }\n\treturn add(xs)\n}\n",
    "c": '#include "shapes.h"\n#include "adding.h"\nnumber total(const number *xs, int n) {\n'
    "    number sum = 0;\n    for (int i = 0; i < n; i++) sum = add(sum, square(xs[i]));\n"
    "    return sum;\n}\n",
    "cpp": '#include <vector>\n#include "shapes.hpp"\n#include "inner/adding.hpp"\n'
    "int total(std::vector<int> xs) { for (auto &x : xs) x = square(x); return add(xs); }\n",
}
MAINS = {
    "python": "import sys\nprint(total([int(word) for word in sys.argv[1:]]))\n",
    "perl": 'print total([@ARGV]), "\\n";\n',
    "rust": "fn main() {\n    let xs = std::env::args().skip(1).map(|x| x.parse().unwrap());\n"
    '    println!("{}", total(xs.collect()));\n}\n',
    "go": 'import ("fmt"; "os"; "strconv")\nfunc main() {\n\tvar xs []int\n'
    "\tfor _, word := range os.Args[1:] { x, _ := strconv.Atoi(word); xs = append(xs, x) }\n"
    "\tfmt.Println(Total(xs))\n}\n",
    "c": "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **words) {\n"
    "    number xs[9];\n    for (int i = 1; i < n; i++) xs[i - 1] = atoi(words[i]);\n"
    '    printf("%ld\\n", total(xs, n - 1));\n}\n',
    "cpp": "#include <iostream>\nint main(int n, char **words) {\n    std::vector<int> xs;\n"
    "    for (int i = 1; i < n; i++) xs.push_back(std::stoi(words[i]));\n"
    '    std::cout << total(xs) << "\\n";\n}\n',
}
FILES = {
    "python": {
        "shapes.py": "def square(x): return x * x\n",
        "inner/adding.py": "import shapes\ndef add(xs): return sum(xs)\n",
    },
    "perl": {
        "Shapes.pm": "package Shapes;\nuse strict;\nsub square { return $_[0] ** 2 }\n1;\n",
        "inner/Adding.pm": "package inner::Adding;\nuse strict;\n"
        "sub add { my $sum = 0; $sum += $_ for @_; return $sum }\n1;\n",
    },
    "rust": {
        "shapes.rs": "pub fn square(x: i64) -> i64 { x * x }\n",
        "inner/mod.rs": "pub fn add(xs: impl Iterator<Item = i64>) -> i64 { xs.sum() }\n",
    },
    "go": {
        "shapes.go": "package shapes\nfunc square(x int) int { return x * x }\n",
        "adding.go": 'package solution\nimport "sort"\nfunc add(xs []int) int {\n\tsum := 0\n'
        "\tsort.Ints(xs)\n\tfor _, x := range xs { sum += x }\n\treturn sum\n}\n",
    },
    "c": {
        "shapes.h": "typedef long number;\nnumber square(number x);\n",
        "shapes.c": '#include "shapes.h"\nnumber square(number x) { return x * x; }\n',
        "inner/adding.h": "long add(long x, long y);\n",
        "inner/adding.c": '#include "adding.h"\n#include "shapes.h"\n'
        "number add(number x, number y) { return x + y; }\n",
    },
    "cpp": {
        "shapes.hpp": "#pragma once\ninline int square(int x) { return x * x; }\n",
        "inner/adding.hpp": "#pragma once\n#include <vector>\nint add(const std::vector<int> &);\n",
        "inner/adding.cpp": '#include "adding.hpp"\n'
        "int add(const std::vector<int> &xs) { int s = 0; for (int x : xs) s += x; return s; }\n",
    },
}


def program(
    language: str, kind: Kind = "function", changed: tuple[str, str] | None = None
) -> Program:
    files = FILES[language] | dict([changed] if changed else [])
    source = FUNCTIONS[language]
    if kind == "cli":
        # Go wants its imports first.
        head, _, rest = source.partition("\n") if language == "go" else ("", "", source)
        main = MAINS[language]
        source = f"{head}\n{main}\n{rest}" if language == "go" else f"{source}{main}"
    return Program(
        source=source,
        entry="total",
        language=language,
        kind=kind,
        files=tuple(SourceFile(name=name, text=text) for name, text in files.items()),
    )


def python(source: str, kind: Kind = "function", /, **files: str) -> Program:
    beside = tuple(SourceFile(name=f"{name}.py", text=text) for name, text in files.items())
    return Program(source=source, kind=kind, files=beside)


def ran(stdout: str, *args: str) -> Probes:
    return Probes(
        checks=(Probe(name="run", origin="plan", command=Command(args=args, stdout=stdout)),)
    )


def all_passed(execution: Execution, count: int) -> bool:
    return [each.outcome for each in execution.results] == ["passed"] * count


PROBES = checks("assert total([1, 2, 3]) == 14", "assert total([]) == 0", "assert total([5]) == 25")


@pytest.mark.parametrize(
    ("language", "kind"),
    [*((language, "function") for language in FUNCTIONS), ("python", "library")],
)
async def test_a_function_uses_what_lies_beside_it(language: str, kind: Kind) -> None:
    needs(language)
    execution = await sandbox().run(program(language, kind), PROBES, LIMITS)
    assert all_passed(execution, 3), execution


@pytest.mark.parametrize("language", FUNCTIONS)
async def test_a_command_uses_what_lies_beside_it(language: str) -> None:
    needs(language)
    execution = await sandbox().run(program(language, "cli"), ran("14\n", "1", "2", "3"), LIMITS)
    assert all_passed(execution, 1), execution


async def test_a_service_uses_what_lies_beside_it() -> None:
    source = (
        "import os\nfrom http.server import HTTPServer\nfrom pages import Page\n"
        "HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Page).serve_forever()\n"
    )
    pages = (
        "from http.server import BaseHTTPRequestHandler\n"
        "class Page(BaseHTTPRequestHandler):\n    def do_GET(self):\n"
        "        self.send_response(200); self.end_headers(); self.wfile.write(b'ours')\n"
    )
    probes = code("assert http('GET', '/').text == 'ours'")
    execution = await sandbox().run(python(source, "service", pages=pages), probes, LIMITS)
    assert all_passed(execution, 1), execution


async def test_two_programs_that_differ_in_a_file_only_are_two() -> None:
    source = "from other import n\ndef f(): return n\n"
    for n in (1, 2):
        probes = checks(f"assert f() == {n}")
        execution = await sandbox().run(python(source, other=f"n = {n}\n"), probes, LIMITS)
        assert all_passed(execution, 1), execution


async def test_nothing_in_a_module_outlives_a_probe() -> None:
    source = "import kept\ndef f():\n    kept.seen.append(1)\n    return len(kept.seen)\n"
    probes = checks("assert f() == 1", "assert f() == 1")
    execution = await sandbox().run(python(source, kept="seen = []\n"), probes, LIMITS)
    assert all_passed(execution, 2), execution


class TestShadows:
    """A file that is called like a module of the library is there for the program alone."""

    async def test_the_program_gets_its_own(self) -> None:
        source = "import json, resource\ndef f(): return json.n + resource.n\n"
        own = python(source, json="n = 1\n", resource="n = 2\n")
        execution = await sandbox().run(own, checks("assert f() == 3"), LIMITS)
        assert all_passed(execution, 1), execution

    @pytest.mark.parametrize(
        "name", ["json", "os", "time", "builtins", "traceback", "site", "inside"]
    )
    async def test_the_judge_does_not(self, name: str) -> None:
        hostile = "import sys\nsys.stdout.write('x' * 10)\nraise SystemExit(7)\n"
        source = f"import {name}\ndef f(x): return x\n"
        probes = code(
            "import json, os, time; assert json.dumps([f(1)]) == '[1]'", "assert f(1) == 2"
        )
        execution = await sandbox().run(
            python(source, "function", **{name: hostile}), probes, LIMITS
        )
        own = name in {"json", "traceback", "inside"}
        expected = ["raised", "raised"] if own else ["passed", "failed"]
        assert [each.outcome for each in execution.results] == expected, execution

    async def test_a_warm_module_of_the_library_is_not_taken_for_it(self) -> None:
        source = "import email.utils, calendar\ndef f(): return calendar.whose\n"
        execution = await sandbox().run(
            python(source, calendar="whose = 'mine'\n"), checks("assert f() == 'mine'"), LIMITS
        )
        assert all_passed(execution, 1), execution


async def test_what_a_further_file_imports_has_to_be_allowed_too() -> None:
    asking = python("import other\ndef f(): return 1\n", other="import requests\n")
    execution = await sandbox().run(asking, checks("assert f() == 1"), LIMITS)
    assert "not allowed: requests" in execution.problem
    source = "import other\ndef f(): return other.numpy.arange(3).sum().item()\n"
    execution = await sandbox().run(
        python(source, other="import numpy\n"), checks("assert f() == 3"), LIMITS
    )
    assert all_passed(execution, 1), execution


@pytest.mark.groups  # without them a process's own limit leaves sanitizers no room
@pytest.mark.parametrize(
    ("language", "file", "text"),
    [
        (
            "c",
            "shapes.c",
            '#include "shapes.h"\nnumber square(number x) { int y = x; return y * y; }\n',
        ),
        ("cpp", "shapes.hpp", "inline int square(int x) { return x * x; }\n"),
    ],
    ids=["c", "cpp"],
)
async def test_undefined_behaviour_in_a_further_file_is_seen(
    language: str, file: str, text: str
) -> None:
    needs(language)
    whole, probes = program(language, changed=(file, text)), checks("assert total([65536]) == 0")
    (plain,) = (await sandbox().run(whole, probes, LIMITS)).results
    (strict,) = (await SanitizedSandbox(sandbox()).run(whole, probes, LIMITS)).results
    assert (plain.outcome, strict.outcome) == ("passed", "killed"), (plain, strict)
    assert f"{file}:" in strict.output


FAULTS = {
    "python": ("shapes.py", "def square(x): return x * missing\n", "shapes.py line 1"),
    "perl": (
        "Shapes.pm",
        "package Shapes; use strict; use warnings;\nsub square { my $y; my $y = pop; $y }\n1;\n",
        "Shapes.pm line 2",
    ),
    "rust": (
        "shapes.rs",
        "pub fn square(x: i64) -> i64 {\n    if x == x { x * x } else { 0 }\n}\n",
        "shapes.rs line 2",
    ),
    "go": (
        "shapes.go",
        'package main\nimport "fmt"\nfunc square(x int) int { fmt.Printf("%s", x); return x }\n',
        "shapes.go line 3",
    ),
    "c": (
        "shapes.c",
        '#include "shapes.h"\nnumber square(number x) {\n  if (x = 3) return 9;\n  return 1;\n}\n',
        "shapes.c line 3",
    ),
    "cpp": (
        "inner/adding.cpp",
        '#include "adding.hpp"\nint add(const std::vector<int> &xs) {\n  int n; return n;\n}\n',
        "inner/adding.cpp line 3",
    ),
}


@pytest.mark.parametrize("language", FAULTS)
async def test_a_review_reads_every_file(language: str) -> None:
    first = next(each for each in tools() if each.language == language)
    if not first.found:
        pytest.skip(f"{first.tool} is not installed; run: {first.install}")
    reviewer = SandboxReviewer(sandbox())
    whole = program(language)
    assert await reviewer.review(whole) == ()
    name, text, where = FAULTS[language]
    found = await reviewer.review(program(language, changed=(name, text)))
    assert where in {each.where for each in found}, found
