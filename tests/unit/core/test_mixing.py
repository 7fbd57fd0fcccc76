"""Functions of several answers in one program."""

import pytest

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.mixing import mix
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Probe, read_check
from twinsmith.core.program import Candidate, Program
from twinsmith.core.replies.python_mix import mixed

BASE = '''"""A library."""
import re


def f(x):
    return x  # wrong


def g(x):
    return HALF * x


HALF = 0.5
'''


def test_a_function_comes_with_what_it_needs() -> None:
    donor = "import math\nTWO = 2\n\ndef twice(x):\n    return TWO * math.floor(x)\n\ndef f(x):\n"
    donor += "    # twice\n    return twice(x)\n"
    made = mixed(BASE, {"f": donor})
    names: dict[str, object] = {}
    exec(made + "\ngave = f(3.5), g(4)", names)
    assert names["gave"] == (6, 2.0)
    assert "# twice" in made
    assert made.startswith('"""A library."""\nimport math\nimport re\n')


@pytest.mark.parametrize(
    "donor",
    [
        "HALF = 7\ndef f(x):\n    return HALF * x\n",  # Another meaning of a name.
        "f = abs\n",
        "class f: ...\n",
        "def other(x): ...\n",
        "def f(:",
    ],
)
def test_what_does_not_fit_stays_as_it_is(donor: str) -> None:
    assert mixed(BASE, {"f": donor}) == BASE


def test_functions_that_use_each_other_are_exchanged_together() -> None:
    donor = "def f(x):\n    return g(x) + 1\n\n@staticmethod\ndef g(x):\n    return 0\n"
    made = mixed(BASE, {"f": donor, "g": donor})
    assert made.count("def g") == made.count("def f") == made.count("@staticmethod") == 1
    assert "HALF * x" not in made


SOURCES = {
    1: "def f(x):\n    return x\n\n\ndef g(x):\n    return 1\n",
    2: "def f(x):\n    return 2 * x\n\n\ndef g(x):\n    return 0\n",
}


def check(line: str) -> Probe:
    probe = read_check(line, number=1)
    assert probe is not None
    return probe


def pool_of(rows: dict[int, tuple[str, ...]], *, language: str = "python") -> Pool:
    """Candidates with what they gave for `f(1)`, `f(3)` and `g(2)`: 2, 6 and 1 are right."""
    pool = Pool()
    for line in ("assert f(1) == 2", "assert f(3) == 6", "assert g(2) == 1"):
        pool = pool.with_check(check(line), ensemble=1)
    for number, values in rows.items():
        program = Program(source=SOURCES[number], language=language, kind="library")
        pool = pool.with_candidates([Candidate(number=number, program=program)])
        results = [ProbeResult(name="", outcome="passed", value=v) for v in values]
        pool = pool.with_execution(Execution(candidate=number, results=tuple(results)))
    return pool


def test_the_best_of_every_function_are_put_together() -> None:
    pool = pool_of({1: ("1", "3", "1"), 2: ("2", "6", "0")})
    made = mix(pool, 2, ("f", "g"))
    assert made is not None
    assert made.program is not None
    assert made.program.source == "def f(x):\n    return 2 * x\n\n\ndef g(x):\n    return 1\n"
    assert (made.number, made.way) == (3, "varied")
    assert made.repairs == ("candidate 2 with g of candidate 1",)
    assert mix(pool.with_candidates([made]), 2, ("f", "g")) is None


def test_nothing_is_put_together_where_one_is_best_at_everything() -> None:
    assert mix(pool_of({1: ("1", "3", "0"), 2: ("2", "6", "1")}), 2, ("f", "g")) is None
    assert (
        mix(pool_of({1: ("1", "3", "1"), 2: ("2", "6", "0")}, language="perl"), 2, ("f",)) is None
    )
    assert mix(pool_of({2: ("2", "6", "0")}), 2, ("h",)) is None
