"""What a skip means where nothing may be missing: real runs of pytest over tests that skip."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.strictness import strict

SKIPPING = """
import pytest
from tests.strictness import elsewhere

def test_that_runs():
    pass

def test_missing():
    pytest.skip("frobnicate is not installed; run: apt-get install -y frobnicate")

@pytest.fixture
def server():
    pytest.skip("no server")

def test_missing_in_a_fixture(server):
    pass

@pytest.mark.skipif(True, reason="marked as missing")
def test_marked():
    pass

def test_for_another_user():
    elsewhere("root reads everything; run as another user")

@pytest.mark.elsewhere(True, reason="another architecture")
def test_for_another_machine():
    pass

@pytest.mark.elsewhere(False, reason="never")
def test_for_this_machine():
    pass

@pytest.mark.xfail(reason="known")
def test_known_to_fail():
    assert False
"""
MODULE = "import pytest\npytest.importorskip('no_such_package')\n"


def ran(folder: Path, **environment: str) -> tuple[str, dict[str, int]]:
    """The words of a run of pytest over such tests, and how many of them ended how."""
    (folder / "test_skipping.py").write_text(SKIPPING)
    (folder / "test_module.py").write_text(MODULE)
    clean = {name: value for name, value in os.environ.items() if name not in {"CI", "STRICT"}}
    line = [sys.executable, "-m", "pytest", "-ra", "-p", "tests.strictness", "-c", os.devnull]
    line += ["-p", "no:cacheprovider", "-p", "no:asyncio", f"--rootdir={folder}", str(folder)]
    done = subprocess.run(
        [*line, "--continue-on-collection-errors"],
        cwd=ROOT,
        env=clean | {"COLUMNS": "300"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.strip().splitlines()[-1]
    return done.stdout, {name: int(n) for n, name in re.findall(r"(\d+) ([a-z]+)", last)}


def test_a_person_is_told_what_was_skipped(tmp_path: Path) -> None:
    said, counted = ran(tmp_path)
    assert counted == {"passed": 2, "skipped": 6, "xfailed": 1}, said
    for reason in ("run: apt-get install -y frobnicate", "no server", "marked as missing"):
        assert re.search(rf"^SKIPPED .* {reason}$", said, re.MULTILINE)


def test_what_is_missing_fails_and_what_belongs_elsewhere_does_not(tmp_path: Path) -> None:
    said, counted = ran(tmp_path, CI="true")
    assert counted == {"passed": 2, "skipped": 2, "failed": 1, "errors": 3, "xfailed": 1}, said
    failed = re.findall(r"^(?:FAILED|ERROR) \S+::(\w+) - (.+)$", said, re.MULTILINE)
    assert dict(failed) == {
        "test_missing": "Skipped: frobnicate is not installed; run: apt-get install -y frobnicate",
        "test_missing_in_a_fixture": "Skipped: no server",
        "test_marked": "Skipped: marked as missing",
    }
    assert "could not import 'no_such_package'" in said
    skipped = re.findall(r"^SKIPPED \[1\] \S+: (.+)$", said, re.MULTILINE)
    assert skipped == ["root reads everything; run as another user", "another architecture"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"CI": ""}, False),
        ({"CI": "false"}, False),
        ({"CI": "true"}, True),
        ({"CI": "1"}, True),
        ({"STRICT": "1"}, True),
        ({"STRICT": "", "CI": "true"}, True),
        ({"STRICT": "0", "CI": "true"}, False),
    ],
    ids=str,
)
def test_what_is_strict(environment: dict[str, str], *, expected: bool) -> None:
    assert strict(environment) is expected
