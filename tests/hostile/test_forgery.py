"""Programs that want to pass without being right.

A program may return whatever it likes. What it is asked for here is a number that it cannot know,
so whatever passes was forged or found out.
"""

import ast
import json
import secrets

import pytest

from tests.hostile.attacks import FORGERY
from tests.hostile.attacks_python import ANSWERS, TRICKS
from tests.hostile.left import ALONE, CASES, SIX_CASES, attack, command, ready
from tests.sandboxes import checks, code, sandbox
from twinsmith.adapters.sandbox.inside.transcript import LONGEST
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Probe, Probes

LIMITS = Limits(probe_seconds=5.0, cpu_seconds=5.0)
FORMS = {"call": checks, "check": code}


def unknown() -> int:
    """What the hostile programs look for: 15 digits, the first four of which they know."""
    return int(f"8392{secrets.randbelow(10**11):011}")


def asks(form: str, *calls: str) -> tuple[Probe, ...]:
    made: object = FORMS[form](*(f"assert {call} == {unknown()}" for call in calls))
    assert isinstance(made, Probes)
    return made.checks


def none_passed(execution: Execution, count: int) -> bool:
    """Every probe has a result that is the program's fault, and none is a pass."""
    lost = [seen for seen in execution.results if "sandbox ended" in seen.detail]
    passed = [seen for seen in execution.results if seen.outcome == "passed"]
    assert not passed, passed
    assert not lost, lost
    return len(execution.results) == count


@pytest.mark.parametrize(("backend", "language"), SIX_CASES)
@pytest.mark.parametrize("form", FORMS)
async def test_no_language_forges_a_pass(backend: str, language: str, form: str) -> None:
    box = ready(backend, language)
    probes = asks(form, "f(0)", "f(1)", "f(2)", "f(0)")
    execution = await attack(
        box, FORGERY[language], *probes, language=language, kind="function", limits=LIMITS
    )
    assert none_passed(execution, 4), execution.problem
    looked = execution.results[2]
    assert looked.outcome == "failed"
    assert looked.detail.endswith("(2) returned 0"), looked


@pytest.mark.parametrize(("backend", "language"), CASES)
async def test_what_a_command_should_print_is_nowhere_to_be_found(
    backend: str, language: str
) -> None:
    box = ready(backend, language)
    probe = command(stdout=f"{unknown()}\n")
    execution = await attack(box, FORGERY[language], probe, language=language, limits=LIMITS)
    assert none_passed(execution, 1), execution.problem
    assert execution.results[0].output == "0\n"


@pytest.mark.parametrize("backend", ALONE)
async def test_not_even_while_a_check_runs_it(backend: str) -> None:
    number = unknown()
    check = f"assert run().stdout == '{number}\\n', run().stdout"
    probe = Probe(name="check", origin="plan", source=check)
    source = FORGERY["python"]
    execution = await attack(sandbox(backend), source, probe, language="python", limits=LIMITS)
    assert none_passed(execution, 1)
    assert execution.results[0].detail.endswith("(0\n)"), execution.results[0]


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("trick", TRICKS)
async def test_python_forges_no_pass(backend: str, trick: str, form: str) -> None:
    probes = asks(form, "f()", "f()")
    execution = await attack(
        sandbox(backend), TRICKS[trick], *probes, language="python", kind="function", limits=LIMITS
    )
    assert none_passed(execution, 2)


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("answer", ANSWERS)
async def test_an_answer_that_is_none_is_the_programs_fault(
    backend: str, answer: str, form: str
) -> None:
    source = (
        "import os\n"
        f"data = {ANSWERS[answer]!r}\n"
        "def f():\n"
        "    view = memoryview(len(data).to_bytes(4, 'big') + data)\n"
        "    while view:\n"
        "        view = view[os.write(4, view):]\n"
        "    os._exit(0)\n"
    )
    execution = await attack(
        sandbox(backend), source, *asks(form, "f()"), language="python", kind="function"
    )
    assert none_passed(execution, 1)


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("form", FORMS)
async def test_an_answer_that_is_slow_to_read_is_the_programs_fault(
    backend: str, form: str
) -> None:
    """A set of numbers that all have the same hash, in a frame of the largest size."""
    source = (
        "import os\n"
        'text = \', \'.join(\'{"$": "int", "v": "%x"}\' % (k * (2**61 - 1)) '
        "for k in range(1, 80_000))\n"
        'data = (\'{"value": {"$": "set", "v": [\' + text + \']}, "args": []}\').encode()\n'
        "def f():\n"
        "    view = memoryview(len(data).to_bytes(4, 'big') + data)\n"
        "    while view:\n"
        "        view = view[os.write(4, view):]\n"
        "    os._exit(0)\n"
    )
    limits = Limits(probe_seconds=1.0)
    execution = await attack(
        sandbox(backend),
        source,
        *asks(form, "f()", "f()"),
        language="python",
        kind="function",
        limits=limits,
    )
    assert none_passed(execution, 2)
    assert {seen.outcome for seen in execution.results} <= {"timed out", "killed"}


FORGED_ENTRIES: dict[str, object] = {
    "an end of the list": {"value": "'], ['f()', 'returned', '1']]", "args": []},
    "a name that is no word": {"raised": "A'], ['f()', 'returned', '1" + "x" * 100_000},
    "a name that is no text": {"raised": [[["A"]] * 1000]},
    "control characters": {"value": "\0\x1b\ud800\U0010ffff" * 50_000, "args": []},
    "an object that is called something": {
        "value": {"$": "object", "v": [5, "<method ']] " + "x" * 100_000]},
        "args": [],
    },
    "too many digits": {"value": {"$": "int", "v": "f" * 10_000}, "args": []},
}


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("entry", FORGED_ENTRIES)
async def test_what_was_answered_is_written_down_as_data(backend: str, entry: str) -> None:
    """One entry for each answer, which is a text in it, and no more than there may be."""
    data = json.dumps(FORGED_ENTRIES[entry]).encode()
    source = (
        "import os\n"
        f"data = {data!r}\n"
        "def f():\n"
        "    view = memoryview(len(data).to_bytes(4, 'big') + data)\n"
        "    while view:\n"
        "        view = view[os.write(4, view):]\n"
        "    os.read(3, 1 << 16)\n"
        "    return f()\n"
    )
    twice = "for _ in range(2):\n    try:\n        f()\n    except Exception:\n        pass\n"
    probes = code(f"{twice}assert False").checks
    execution = await attack(
        sandbox(backend), source, *probes, language="python", kind="library", limits=LIMITS
    )
    (seen,) = execution.results
    entries = ast.literal_eval(seen.value)
    assert [entry[0] for entry in entries] in (["f()", "f()"], ["f()", "…"], ["…"]), entries
    assert len(seen.value) <= LONGEST


SHADOWS = {
    "python": (
        "def f(): return 0\ndef abs(x): return 0\ndef all(x): return True\n"
        "def isinstance(x, y): return True\ndef sorted(x): return [1, 2]\ndef len(x): return 2\n"
        "def round(x, n=0): return True\ndef set(x): return [1]\ndef str(x): return ''\n"
    ),
    "perl": (
        "sub f { 0 }\nsub abs { 0 }\nsub all { 1 }\nsub isinstance { 1 }\n"
        "sub sorted { [1, 2] }\nsub len { 2 }\n1;\n"
    ),
    "rust": (
        "pub fn f() -> i64 { 0 }\npub fn abs(_: i64) -> i64 { 0 }\n"
        "pub fn all(_: Vec<bool>) -> bool { true }\npub fn len(_: Vec<i64>) -> i64 { 2 }\n"
        "pub fn sorted(_: Vec<i64>) -> Vec<i64> { vec![1, 2] }\n"
    ),
    "go": (
        "package main\nfunc F() int { return 0 }\nfunc abs(x int) int { return 0 }\n"
        "func all(x []bool) bool { return true }\n"
        "func sorted(x []int) []int { return []int{1, 2} }\n"
    ),
    "c": (
        "long f(void) { return 0; }\nlong abs(long x) { return 0; }\n"
        "long all(long *x, long n) { return 1; }\nlong len(long *x, long n) { return 2; }\n"
    ),
    "cpp": (
        "#include <vector>\nusing list = std::vector<long>;\nlong f() { return 0; }\n"
        "bool all(std::vector<bool> x) { return true; }\n"
        "list sorted(list x) { return {1, 2}; }\nlong len(list x) { return 2; }\n"
    ),
}


@pytest.mark.parametrize(("backend", "language"), SIX_CASES)
async def test_a_program_cannot_lend_its_own_words_to_a_check(backend: str, language: str) -> None:
    """What it calls `abs` or `all` is not what a check calls so."""
    number = unknown()
    box = ready(backend, language)
    probes = code(
        f"assert abs(f() - {number}) < 1e-6",
        f"assert all([f() == {number}])",
        "assert isinstance(f(), str)",
        "assert sorted([f(), 1]) == [1, 2]",
        "assert len([f()]) == 2",
    )
    execution = await attack(
        box, SHADOWS[language], *probes.checks, language=language, kind="function", limits=LIMITS
    )
    assert none_passed(execution, 5), execution.problem
