import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.probe import MOST_PROBES, read_check, read_tests

FILE = """
import math
from solution import area

UNIT = 1

assert area(UNIT) == math.pi

def test_zero():
    assert area(0) == 0

def helper(x):
    return x
"""


def test_asserts_and_test_functions_are_probes_and_the_rest_is_setup() -> None:
    probes = read_tests(FILE, file="t.py")
    assert [probe.name for probe in probes.checks] == ["t.py:7", "t.py:9 test_zero"]
    assert {probe.origin for probe in probes.checks} == {"person"}
    assert probes.checks[1].source.endswith("test_zero()")
    assert "import math" in probes.setup
    assert "def helper" in probes.setup
    assert "assert" not in probes.setup


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "no assert"),
        ("x = 1", "no assert"),
        ("assert (", r"t.py:1: .*; mend the file"),
        ("import pytest\nassert 1", r"t.py:1: imports 'pytest'.*does not have"),
        ("from . import x\nassert 1", "imports '.'"),
        ("def test_a(tmp_path): ...", "takes arguments"),
        ("class TestA: ...", "not a plain function"),
        ("async def test_a(): ...", "not a plain function"),
        ("assert 1\n" * (MOST_PROBES + 1), "at most 500"),
        ("\0", "cannot be read|source code string"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(source: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as error:
        read_tests(source, file="t.py")
    assert "\n" not in str(error.value)


def test_a_models_check_is_taken_only_when_it_is_one_assert() -> None:
    probe = read_check(" assert f(1) == 2 ", number=3)
    assert probe is not None
    assert (probe.name, probe.source, probe.origin) == ("check 3", "assert f(1) == 2", "plan")
    for line in ("", "f(1)", "assert f(", "assert 1; import os", "import os", "\0"):
        assert read_check(line, number=1) is None
