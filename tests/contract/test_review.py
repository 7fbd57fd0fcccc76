"""What every reviewer must do: the canned one, and the real one with real tools in real rooms."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sandboxes import LAYERS, sandbox
from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap
from twinsmith.adapters.sandbox.cell import Cell, Ended, Isolation
from twinsmith.adapters.sandbox.languages.language import Toolchain
from twinsmith.adapters.sandbox.review import MOST_FINDINGS, SandboxReviewer, tools
from twinsmith.adapters.sandbox.review_canned import CannedReviewer
from twinsmith.adapters.sandbox.reviews import REVIEWS
from twinsmith.adapters.sandbox.reviews.tool import Found, Texts, Tool, finding
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.execution import Limits, ProbeResult
from twinsmith.core.program import Program
from twinsmith.core.verdict import Finding, Severity
from twinsmith.ports import Reviewer

SMALL = Limits(probe_seconds=2.0, cpu_seconds=2.0, memory_mb=256, output_bytes=1 << 16)
PRESENT = {(each.language, each.tool): each for each in tools()}


def needs(language: str, *names: str) -> None:
    """Skip where a tool is absent, saying what installs it."""
    for name in names:
        if not PRESENT[language, name].found:
            pytest.skip(f"{name} is not installed; run: {PRESENT[language, name].install}")


async def review(language: str, source: str, limits: Limits | None = None) -> tuple[Finding, ...]:
    reviewer = SandboxReviewer(sandbox(), limits=limits) if limits else SandboxReviewer(sandbox())
    return await reviewer.review(Program(source=source, language=language))


SHELL = "import subprocess\ndef f(x):\n    return subprocess.run('ls ' + x, shell=True)\n"


@pytest.mark.parametrize("kind", ["canned", "real"])
async def test_findings_have_a_rule_a_place_evidence_and_a_severity(kind: str) -> None:
    needs("python", "ruff")
    rule = "bandit B602" if PRESENT["python", "bandit"].found else "ruff S602"
    canned = CannedReviewer({SHELL: (finding(rule, 3, "shell=True", blocks=True),)})
    reviewer: Reviewer = canned if kind == "canned" else SandboxReviewer(sandbox())
    (found,) = await reviewer.review(Program(source=SHELL))
    assert (found.what, found.where, found.severity) == (rule, "line 3", "blocking")
    assert "shell=True" in found.evidence
    assert await reviewer.review(Program(source="def f(x):\n    return x\n")) == ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """A source, and what one tool has to say about it."""

    language: str
    tool: str
    source: str
    what: str
    line: int
    severity: Severity = "note"


BAD = (
    Bad(
        language="python",
        tool="ruff",
        source="def f(n):\n    return n + missing\n",
        what="ruff F821",
        line=2,
    ),
    Bad(
        language="python",
        tool="ruff",
        source="def f(n, seen=[]):\n    seen.append(n)\n    return seen\n",
        what="ruff B006",
        line=1,
    ),
    Bad(
        language="python",
        tool="ruff",
        source="def f(x):\n    password = 'hunter2-and-more'  # noqa\n    return x == password\n",
        what="ruff S105",
        line=2,
        severity="blocking",
    ),
    Bad(
        language="python",
        tool="bandit",
        source="import yaml\ndef f(text):\n    return yaml.load(text)  # nosec\n",
        what="bandit B506",
        line=3,
        severity="blocking",
    ),
    Bad(
        language="python",
        tool="bandit",
        source="def f(text):\n    return eval(text)\n",
        what="bandit B307",
        line=2,
    ),
    Bad(
        language="rust",
        tool="clippy",
        source="#![allow(clippy::all)]\npub fn f() -> Vec<u8> {\n"
        "    let mut v: Vec<u8> = Vec::with_capacity(9);\n    unsafe { v.set_len(9); }\n    v\n}\n",
        what="clippy uninit_vec",
        line=3,
        severity="blocking",
    ),
    Bad(
        language="rust",
        tool="clippy",
        source="pub fn f(n: i32) -> bool {\n    n == n\n}\n",
        what="clippy eq_op",
        line=2,
    ),
    Bad(
        language="go",
        tool="go vet",
        source='package main\n\nimport "fmt"\n\nfunc f(n int) {\n\tfmt.Printf("%s", n)\n}\n',
        what="go vet printf",
        line=6,
    ),
    Bad(
        language="go",
        tool="go vet",
        source='package main\n\nimport "unsafe"\n\nfunc f(at uintptr) *int {\n'
        "\treturn (*int)(unsafe.Pointer(at))\n}\n",
        what="go vet unsafeptr",
        line=6,
        severity="blocking",
    ),
    Bad(
        language="c",
        tool="gcc",
        source="int f(void) {\n    int n;\n    return n + 1;\n}\n",
        what="gcc -Wuninitialized",
        line=3,
        severity="blocking",
    ),
    Bad(
        language="c",
        tool="gcc",
        source="int f(int n) {\n    if (n = 3) return 1;\n    return 0;\n}\n",
        what="gcc -Wparentheses",
        line=2,
    ),
    Bad(
        language="c",
        tool="cppcheck",
        source="#include <stdlib.h>\nvoid f(void) {\n    char *p = malloc(4);\n    free(p);\n"
        "    free(p);\n}\n",
        what="cppcheck doubleFree",
        line=5,
        severity="blocking",
    ),
    Bad(
        language="cpp",
        tool="g++",
        source="int f(int n) {\n    if (n > 0) return 1;\n}\n",
        what="gcc -Wreturn-type",
        line=3,
        severity="blocking",
    ),
    Bad(
        language="cpp",
        tool="cppcheck",
        source="int f() {\n    int a[3] = {1, 2, 3};\n    return a[5];\n}\n",
        what="cppcheck arrayIndexOutOfBounds",
        line=3,
        severity="blocking",
    ),
    Bad(
        language="perl",
        tool="perl",
        source="use strict;\nsub f {\n    my ($n) = @_;\n    if ($n = 3) { return 1; }\n}\n1;\n",
        what="perl -wc",
        line=4,
    ),
    Bad(
        language="perl",
        tool="perlcritic",
        source='use strict;\nuse warnings;\nsub f {\n    my ($n) = @_;\n    open(my $h, "$n");\n'
        "    return <$h>;\n}\n1;\n",
        what="perlcritic InputOutput::ProhibitTwoArgOpen",
        line=5,
        severity="blocking",
    ),
)


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.what)
async def test_what_is_wrong_is_found(bad: Bad) -> None:
    needs(bad.language, bad.tool)
    found = [
        (each.what, each.where, each.severity) for each in await review(bad.language, bad.source)
    ]
    assert (bad.what, f"line {bad.line}", bad.severity) in found


CLEAN = {
    "python": "import json\n\ndef f(text):\n    token = '('\n    return json.loads(text), token\n",
    "rust": "pub fn f(n: i64) -> i64 {\n    n.abs()\n}\nfn main() {}\n",
    "go": 'package other\n\nimport "sort"\n\nfunc f(n []int) {\n\tsort.Ints(n)\n}\n',
    "c": "#include <string.h>\nstatic int g(void) { return 1; }\n"
    "int f(const char *s) {\n    return (int)strlen(s);\n}\n",
    "cpp": "#include <vector>\nint f(const std::vector<int>& n) {\n    int sum = 0;\n"
    "    for (int i = 0; i < n.size(); i++) sum += n[i];\n    return sum;\n}\n",
    "perl": "use strict;\nuse warnings;\nour $Kept = 1;\nsub f {\n    my ($n) = @_;\n"
    '    return eval "use Nothing; 1" ? $n : $n * 2;\n}\n1;\n',
}


@pytest.mark.parametrize("language", CLEAN)
async def test_a_clean_program_has_no_findings(language: str) -> None:
    needs(language, REVIEWS[language][0].name)
    assert await review(language, CLEAN[language]) == ()


@pytest.mark.parametrize("language", CLEAN)
async def test_what_is_no_program_at_all_gives_notes_only(language: str) -> None:
    needs(language, REVIEWS[language][0].name)
    found = await review(language, 'package main "\nfn ( { $ `\n')
    assert found
    assert {each.severity for each in found} == {"note"}


class CountedWalls:
    """Bubblewrap, counting."""

    def __init__(self) -> None:
        self._walls = Bubblewrap()
        self.entered = 0

    async def enter(self, cell: Cell) -> Ended:
        self.entered += 1
        return await self._walls.enter(cell)

    async def isolation(self) -> Isolation:
        return await self._walls.isolation()


async def test_all_tools_of_a_program_share_one_start() -> None:
    sandbox()
    walls = CountedWalls()
    both = tuple(
        Tool(name=name, install="", find=_always("/bin/echo", name), read=_first_word)
        for name in ("one", "two")
    )
    reviewer = SandboxReviewer(IsolatedSandbox(walls, LAYERS), {"python": both})
    found = await reviewer.review(Program(source="x = 1\n"))
    assert [each.what for each in found] == ["one", "two"]
    assert walls.entered == 1


def _always(*command: str) -> Callable[[Toolchain], Found]:
    return lambda _toolchain: Found(command=command)


def _first_word(said: ProbeResult, _texts: Texts) -> list[Finding]:
    return [finding(said.output.split()[0], 1, said.output)] if said.output else []


class TestTrouble:
    async def _noted(
        self, *command: str, read: Callable[[ProbeResult, Texts], list[Finding]] = _first_word
    ) -> Finding:
        tool = Tool(name="it", install="", find=_always(*command), read=read)
        reviewer = SandboxReviewer(sandbox(), {"python": (tool,)}, SMALL)
        (found,) = await reviewer.review(Program(source="x = 1\n"))
        assert (found.what, found.severity) == ("it did not finish", "note")
        return found

    async def test_a_tool_that_crashes(self) -> None:
        found = await self._noted("/bin/sh", "-c", "kill -SEGV $$")
        assert "SIGSEGV" in found.evidence

    async def test_a_tool_that_never_ends(self) -> None:
        found = await self._noted("/bin/sh", "-c", "while :; do :; done")
        assert found.evidence.startswith("timed out")

    async def test_a_tool_that_is_gone(self) -> None:
        found = await self._noted("/usr/bin/no-such-tool")
        assert "exit code 127" in found.evidence

    async def test_a_tool_that_talks_nonsense(self) -> None:
        def confused(said: ProbeResult, _texts: Texts) -> list[Finding]:
            return [finding("x", int(said.output), "")]

        found = await self._noted("/bin/echo", "nonsense", read=confused)
        assert found.evidence.startswith("what it said cannot be read")

    async def test_a_tool_without_its_language_or_a_language_without_tools(self) -> None:
        reviewer = SandboxReviewer(sandbox())
        assert await reviewer.review(Program(source="x", language="cobol")) == ()
        missing = Tool(name="it", install="", find=lambda _: None, read=_first_word)
        reviewer = SandboxReviewer(sandbox(), {"python": (missing,)})
        assert await reviewer.review(Program(source="x")) == ()


def test_what_is_missing_is_told_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("twinsmith.adapters.sandbox.reviews.c.COMMANDS", str(tmp_path))
    seen = {(each.language, each.tool): each for each in tools()}
    assert {each.language for each in seen.values()} == {*CLEAN}
    assert not seen["c", "cppcheck"].found
    assert seen["c", "cppcheck"].install == "apt-get install -y cppcheck"
    assert seen["c", "gcc"].found == PRESENT["c", "gcc"].found


RUST_MACRO = """#![recursion_limit = "100000000"]
macro_rules! m { ($($x:tt)*) => { m!($($x)* $($x)* a) } }
m!(a);
"""


class TestHostile:
    async def test_a_hundred_thousand_characters_give_no_more_than_so_many_findings(self) -> None:
        needs("python", "ruff")
        lines = "\n".join(f"    a{n} = missing_{n}" for n in range(4200))
        source = f"def f(x):\n{lines}\n    password = 'hunter2-and-more'\n    return password\n"
        assert len(source) > 100_000
        found = await review("python", source)
        assert len(found) == MOST_FINDINGS

    async def test_what_blocks_comes_before_the_notes(self) -> None:
        needs("python", "ruff")
        lines = "\n".join(f"    a{n} = missing_{n}" for n in range(100))
        source = f"def f(x):\n{lines}\n    password = 'hunter2-and-more'\n    return password\n"
        found = await review("python", source)
        assert [each.severity for each in found] == ["blocking", *["note"] * (MOST_FINDINGS - 1)]

    async def test_nesting_without_end(self) -> None:
        needs("python", "ruff")
        found = await review("python", f"x = {'(' * 50_000}\n")
        assert {each.severity for each in found} == {"note"}

    @pytest.mark.parametrize(
        ("language", "source"),
        [
            ("c", '#include "solution.c"\n#include "solution.c"\n'),
            (
                "c",
                "#define A0 1,1,1,1,1,1,1,1\n"
                + "".join(f"#define A{n + 1} {','.join([f'A{n}'] * 8)}\n" for n in range(12))
                + "int a[] = {A12};\n",
            ),
            ("cpp", "template <int N> struct A { A<N + 1> a; };\nA<0> a;\n"),
            (
                "rust",
                RUST_MACRO,
            ),
            ("perl", "BEGIN { 1 while 1 }\n"),
        ],
        ids=["include", "macro", "template", "rust macro", "BEGIN"],
    )
    async def test_what_would_never_end_is_a_note(self, language: str, source: str) -> None:
        needs(language, REVIEWS[language][0].name)
        found = await review(language, source, SMALL)
        assert found
        assert {each.severity for each in found} == {"note"}

    async def test_what_runs_at_compile_time_runs_in_the_sandbox(self) -> None:
        needs("perl", "perl")
        source = 'BEGIN { warn((-e "/etc/passwd") ? "open" : "closed") }\n1;\n'
        assert "closed" in [each.evidence for each in await review("perl", source)]
