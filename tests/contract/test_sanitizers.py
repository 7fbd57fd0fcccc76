"""C and C++ built so that undefined behaviour ends a program: real compilers, real rooms."""

import pytest

from tests.sandboxes import LIMITS, checks, needs, sandbox
from twinsmith.adapters.sandbox.review_sanitized import SanitizedSandbox
from twinsmith.core.judging.quality import undefined_behaviour
from twinsmith.core.program import Program

SOURCES = {
    "c": "#include <stdlib.h>\nint f(int n) {\n    int *a = malloc(sizeof(int) * n);\n"
    "    for (int i = 0; i < n; i++) a[i] = i;\n    int last = a[n] == 987654321;\n    free(a);\n"
    "    return last;\n}\nint g(int n) { return n + 2147483647 != 0; }\n",
    "cpp": "#include <vector>\nint f(int n) {\n    std::vector<int> a(n);\n    a.reserve(99);\n"
    "    return a[n] * 0;\n}\nint g(int n) { return n + 2147483647 != 0; }\n",
}
PROBES = checks("assert f(9) == 0", "assert f(0) == 0", "assert g(1) == 1", "assert g(0) == 1")


@pytest.mark.groups  # without them a process's own limit leaves sanitizers no room
@pytest.mark.parametrize("language", SOURCES)
async def test_what_is_undefined_is_killed_and_named(language: str) -> None:
    needs(language)
    program = Program(source=SOURCES[language], language=language, entry="f")
    plain = await sandbox().run(program, PROBES, LIMITS)
    assert [each.outcome for each in plain.results] == ["passed"] * 4, plain
    strict = await SanitizedSandbox(sandbox()).run(program, PROBES, LIMITS)
    assert [each.outcome for each in strict.results] == [*["killed"] * 3, "passed"], strict
    found = undefined_behaviour(plain, strict)
    assert {each.severity for each in found} == {"blocking"}
    assert any("signed integer overflow" in each.evidence for each in found)


async def test_other_languages_are_not_run_again() -> None:
    source = Program(source="def f(n):\n    return n\n", entry="f")
    assert (await SanitizedSandbox(sandbox()).run(source, PROBES, LIMITS)).results == ()


async def test_what_cannot_be_called_is_a_result() -> None:
    needs("c")
    nothing = Program(source="int x;\n", language="c")
    execution = await SanitizedSandbox(sandbox()).run(nothing, PROBES, LIMITS)
    assert execution.problem.startswith("does not compile")
