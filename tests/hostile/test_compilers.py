"""Sources that are meant for the compiler: it is run in the sandbox as well."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.hostile.left import ALONE, LIMITS, all_gone, all_well, attack, command, look, ready
from tests.sandboxes import run
from twinsmith.core.execution import Limits

BUILD = Limits(build_seconds=3.0, build_memory_mb=512, probe_seconds=2.0)
MAIN = {
    "c": "int main(void) { return 0; }\n",
    "cpp": "int main() {}\n",
    "rust": "fn main() {}\n",
    "go": "func main() {}\n",
}
_MACROS = "#define A0 x x x x x x x x\n" + "".join(
    f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 20)
)
_TYPES = "type T0 = (u8, u8);\n" + "".join(
    f"type T{n} = (T{n - 1}, T{n - 1});\n" for n in range(1, 40)
)
# What it does, the language, the source. None of them compiles.
BOMBS: dict[str, tuple[str, str]] = {
    "endless file": ("c", '#include "/dev/zero"\n'),
    "endless chance": ("cpp", '#include "/dev/urandom"\n'),
    "itself": ("c", "#include __FILE__\n#include __FILE__\n"),
    "macros": ("c", f"{_MACROS}int main(void) {{ A19; }}\n"),
    "templates": (
        "cpp",
        (
            "template <int n> struct T { typename T<n + 1>::type a; typename T<n + 2>::type b; };\n"
            "T<0> t;\n"
        ),
    ),
    "many templates": (
        "cpp",
        (
            "template <int d, long n> struct T { T<d - 1, 2 * n> a; T<d - 1, 2 * n + 1> b; };\n"
            "template <long n> struct T<0, n> {};\nT<60, 1> t;\n"
        ),
    ),
    "constant that is never ready": (
        "cpp",
        (
            "constexpr long f() { long n = 0; for (long i = 0; ~i; i++) n ^= i; return n; }\n"
            "static_assert(f() == 1);\n"
        ),
    ),
    "huge data": ("c", "char x[1ul << 33] = {1};\nint main(int n, char **w) { return x[n]; }\n"),
    "huge assembly": ("c", '__asm__(".fill 1 << 34, 1, 1");\n'),
    "endless assembly": ("c", '__asm__(".macro m\\n m\\n m\\n.endm\\n m");\n'),
    "deep": ("c", f"int x = {'(' * 300_000}1{')' * 300_000};\n"),
    "rust macros": ("rust", "macro_rules! m { ($($t:tt)*) => { m!($($t)* $($t)*) } }\nm!(x);\n"),
    "rust types": (
        "rust",
        f"{_TYPES}fn main() {{ let x: T39 = unsafe {{ std::mem::zeroed() }}; drop(x); }}\n",
    ),
    "rust constant that is never ready": (
        "rust",
        (
            "#![allow(long_running_const_eval)]\n"
            "const N: u64 = { let mut n = 0; loop { n ^= 1; if n > 5 { break } } n };\n"
            'fn main() { println!("{N}") }\n'
        ),
    ),
    "go constants": (
        "go",
        "package main\nconst A = 1 << 500\nconst B = A * A * A * A * A * A * A\nvar x int = B\n",
    ),
    "go types": (
        "go",
        "package main\n"
        "type T0 [2]int\n"
        + "".join(f"type T{n} [1000]T{n - 1}\n" for n in range(1, 10))
        + "var X T9\n",
    ),
    "go data": ("go", "package main\nvar X = [1 << 33]byte{1 << 32: 1}\n"),
}


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_bomb_for_the_compiler_does_not_compile(backend: str, bomb: str) -> None:
    language, source = BOMBS[bomb]
    box = ready(backend, language)
    if "main(" not in source:
        source += MAIN[language]
    execution = await attack(box, source, language=language, limits=BUILD)
    assert execution.results == ()
    assert execution.problem.startswith("does not compile: "), execution
    assert len(execution.problem) < 5000


def _assembled(path: str) -> str:
    return f'__asm__(".data\\nhost: .incbin \\"{path}\\"");\n'


def _embedded(path: str) -> str:
    return f'package main\nimport _ "embed"\n//go:embed {path}\nvar text string\n'


THEFTS = {
    "include": ("c", '#include "{}"\n'),
    "include in C++": ("cpp", '#include "{}"\n'),
    "assembly": ("c", _assembled("{}")),
    "embed": ("go", _embedded("{}")),
    "include_str": ("rust", 'const X: &str = include_str!("{}");\n'),
    "include_bytes": ("rust", 'const X: &[u8] = include_bytes!("{}");\n'),
    "path": ("rust", '#[path = "{}"] mod stolen;\n'),
}
HOST_FILES = ("/etc/passwd", "/etc/shadow", "/proc/1/environ", "/root/.bashrc")


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("theft", THEFTS)
async def test_a_compiler_reads_no_file_of_the_host(backend: str, theft: str) -> None:
    language, source = THEFTS[theft]
    box = ready(backend, language)
    before = look()
    lines = [line for line in Path("/etc/passwd").read_text().splitlines() if ":" in line]
    sources = [source.replace("{}", path) + MAIN[language] for path in HOST_FILES]
    for execution in await asyncio.gather(
        *(run(each, language=language, limits=BUILD, box=box) for each in sources)
    ):
        assert execution.problem.startswith("does not compile: "), execution
        assert not any(line in execution.problem for line in lines)
    await all_gone(before)
    await all_well(box)


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("language", ["c", "cpp"])
async def test_a_compilers_own_environment_says_nothing(
    backend: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAIT_API_KEY", "bait-of-the-compiler")
    box = ready(backend, language)
    for path in ("/proc/self/environ", "/proc/self/cmdline", "/dev/stdin"):
        source = f'#include "{path}"\n{MAIN[language]}'
        execution = await attack(box, source, language=language, limits=BUILD)
        assert "bait-of-the-compiler" not in str(execution)
        assert str(Path.home()) not in str(execution)


@pytest.mark.groups
@pytest.mark.parametrize("backend", ALONE)
async def test_a_large_program_in_a_small_room_is_out_of_memory(backend: str) -> None:
    """What is built may be larger than what it may use: a result all the same."""
    box = ready(backend, "c")
    source = (
        "#include <string.h>\n#include <stdlib.h>\n"
        "static char x[50 << 20] = {1, 2, 3};\n"
        "int main(void) { for (int n = 0; n < 50; n++) memset(malloc(1 << 20), x[n], 1 << 20);\n"
        "  memset(x, 1, sizeof x); return x[rand() % 9] != 1; }\n"
    )
    small = Limits(memory_mb=48, scratch_mb=128)
    execution = await attack(box, source, command(), command(), language="c", limits=small)
    assert {seen.outcome for seen in execution.results} == {"out of memory"}, execution


@pytest.mark.parametrize("backend", ALONE)
async def test_what_the_compiler_says_is_cut(backend: str) -> None:
    box = ready(backend, "c")
    source = "".join(f"#warning {n} {'x' * 200}\n" for n in range(5_000)) + "int f(void) {"
    execution = await attack(box, source, language="c", limits=LIMITS)
    assert re.match(r"does not compile: ", execution.problem), execution
    assert len(execution.problem) < 5000


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("language", ["python", "c"])
async def test_a_source_of_many_megabytes_is_the_programs_fault(
    backend: str, language: str
) -> None:
    box = ready(backend, language)
    comment = {"python": "# x\n", "c": "// x\n"}[language]
    roomy = Limits(build_seconds=20.0)
    execution = await attack(box, comment * (6 << 18), language=language, limits=roomy)
    if language == "python":  # which runs what has no statement
        assert [seen.outcome for seen in execution.results] == ["passed"], execution
        assert execution.problem == ""
        return
    assert execution.results == (), execution
    assert execution.problem.startswith("does not compile: ")
    assert "undefined reference to `main'" in execution.problem
