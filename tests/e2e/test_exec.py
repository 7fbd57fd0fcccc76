"""`twinsmith exec`: a person's program in the sandbox, through the real command."""

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.sandboxes import FOLDER, needs, sandbox

SUMS = {
    "python": "import sys\nprint(sum(map(int, sys.stdin.read().split())), *sys.argv[1:])\n",
    "perl": 'my $s = 0; $s += $_ for split " ", join "", <STDIN>; print "$s @ARGV\\n";\n',
    "rust": (
        "use std::io::Read;\nfn main() {\n    let mut t = String::new();\n"
        "    std::io::stdin().read_to_string(&mut t).unwrap();\n"
        "    let s: i64 = t.split_whitespace().map(|w| w.parse::<i64>().unwrap()).sum();\n"
        "    let a: Vec<String> = std::env::args().skip(1).collect();\n"
        '    println!("{} {}", s, a.join(" "));\n}\n'
    ),
    "go": (
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"strings"\n)\n\nfunc main() {\n'
        "\tsum, n := 0, 0\n\tfor {\n\t\tif _, err := fmt.Scan(&n); err != nil {\n\t\t\tbreak\n"
        '\t\t}\n\t\tsum += n\n\t}\n\tfmt.Println(sum, strings.Join(os.Args[1:], " "))\n}\n'
    ),
    "c": (
        "#include <stdio.h>\nint main(int c, char **v) {\n    long s = 0, n;\n"
        '    while (scanf("%ld", &n) == 1) s += n;\n    printf("%ld", s);\n'
        '    for (int i = 1; i < c; i++) printf(" %s", v[i]);\n    puts("");\n}\n'
    ),
    "cpp": (
        "#include <iostream>\nint main(int c, char **v) {\n    long s = 0, n;\n"
        "    while (std::cin >> n) s += n;\n    std::cout << s;\n"
        "    for (int i = 1; i < c; i++) std::cout << ' ' << v[i];\n    std::cout << '\\n';\n}\n"
    ),
}
SUFFIX = {"python": "py", "perl": "pl", "rust": "rs", "go": "go", "c": "c", "cpp": "cpp"}


@pytest.fixture
def box(command: Command) -> Command:
    sandbox()
    command.env |= {"TWINSMITH_SANDBOX_FOLDER": str(FOLDER)}
    return command


@pytest.mark.parametrize("language", SUMS)
def test_a_program_runs_with_input_and_arguments(
    box: Command, tmp_path: Path, language: str
) -> None:
    needs(language)
    file = tmp_path / f"sum.{SUFFIX[language]}"
    file.write_text(SUMS[language])
    numbers = tmp_path / "numbers"
    numbers.write_text("2 3\n37\n")
    done = box("exec", str(file), "--stdin", str(numbers), "--arg", "-r", "--arg", "a b")
    assert done.stdout == "42 -r a b\n"
    assert "[done (exit code 0), " in done.stderr
    assert "backend=bubblewrap isolation=" in done.stderr


def test_a_program_of_several_files_runs_with_all_of_them(box: Command, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "twice.py").write_text("def twice(n):\n    return n * 2\n")
    file = tmp_path / "x.py"
    file.write_text("from parts.twice import twice\nprint(twice(21))\n")
    assert box("exec", str(file), "--with", "parts/twice.py").stdout == "42\n"
    assert "not allowed: parts" in box("exec", str(file), code=1).stderr


def test_scripts_get_everything_as_json_and_it_is_logged(box: Command, tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_text("import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)\n")
    done = box("exec", "--language", "python", str(file), "--json", code=1)
    seen = json.loads(done.stdout)
    assert (seen["outcome"], seen["exit_code"]) == ("failed", 3)
    assert (seen["stdout"], seen["stderr"]) == ("out\n", "err\n")
    assert seen["cpu_seconds"] > 0
    assert seen["peak_mb"] > 1
    (event,) = [
        line
        for line in (box.home / "journal" / "system.jsonl").read_text().splitlines()
        if "program.executed" in line
    ]
    assert '"language": "python"' in event or '"language":"python"' in event


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("while True: pass", ["--cpu", "1"], "timed out: the program used more than 1 s of proc"),
        pytest.param(
            "x = 'x' * (100 << 20)", ["--memory", "32"], "out of memory", marks=pytest.mark.groups
        ),
        ("import os; os.abort()", [], "killed: the program ended by SIGABRT (exit code -6)"),
        ("import requests", [], "asks for packages that are not allowed: requests"),
        ("def f(:", [], "SyntaxError"),
    ],
)
def test_a_program_that_does_not_end_well_is_said_to(
    box: Command, tmp_path: Path, source: str, options: list[str], said: str
) -> None:
    file = tmp_path / "x.py"
    file.write_text(source)
    assert said in box("exec", str(file), *options, code=1).stderr


def test_what_does_not_compile_shows_the_compilers_words(box: Command, tmp_path: Path) -> None:
    needs("c")
    file = tmp_path / "x.c"
    file.write_text("int main(void) {\n    return nothing;\n}\n")
    done = box("exec", str(file), code=1)
    assert done.stderr.startswith("twinsmith: does not compile: solution.c: In function")
    assert "solution.c:2:12: error: " in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["absent.py"], "absent.py cannot be read: No such file or directory; name another file"),
        (["{folder}"], "cannot be read: Is a directory"),
        (["{folder}/x.txt"], "no language ends in '.txt'; give --language, one of python, perl"),
        (["{folder}/x.txt", "--language", "cobol"], "language 'cobol' is unknown; one of python"),
        (["{folder}/x.txt", "--language", "c", "--cpu", "0"], "0 is too small; at least 1"),
        (["{folder}/x.txt", "--language", "c", "--memory", "x"], "'x' is not a whole number"),
        (["{folder}/latin", "--language", "c"], "is not UTF-8 text"),
        (["{folder}/x.txt", "--language", "c", "--stdin", "gone"], "gone cannot be read"),
        (["{folder}/x.txt", "--language", "c", "--with", "gone.c"], "gone.c cannot be read"),
        (["{folder}/x.txt", "--language", "c", "--with", "../x.c"], "x.c lies outside of"),
        (["{folder}/x.txt", "--language", "c", "--with", "x.txt"], "has to end in .c or .h; give"),
    ],
)
def test_bad_input_is_one_clear_line(
    box: Command, tmp_path: Path, args: list[str], said: str
) -> None:
    (tmp_path / "x.txt").write_text("x")
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    done = box("exec", *(arg.format(folder=tmp_path) for arg in args), code=2)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_backend_that_is_not_there_is_refused_with_the_line_that_mends_it(
    box: Command, tmp_path: Path
) -> None:
    file = tmp_path / "x.py"
    file.write_text("print(1)")
    box.env |= {
        "TWINSMITH_SANDBOX_BACKEND": "docker",
        "TWINSMITH_SANDBOX_ENGINE_HOST": f"unix://{tmp_path}/nobody.sock",
    }
    done = box("exec", str(file), code=3)
    assert "docker" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    box.env["TWINSMITH_SANDBOX_BACKEND"] = "chroot"
    assert "sandbox.backend" in box("exec", str(file), code=2).stderr
