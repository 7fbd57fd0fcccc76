"""The shape of the code: layers, sizes, names, and where the environment may be read."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = sorted((ROOT / "src").rglob("*.py"))
PYTHON = [*SOURCE, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "bench").glob("*.py"))]
VAGUE = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc", "tools"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_there_is_something_to_check() -> None:
    assert len(SOURCE) > 40


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_no_module_is_over_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", SOURCE, ids=name)
def test_every_module_says_what_it_is_and_has_a_name_of_its_own(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))
    assert path.stem not in VAGUE


@pytest.mark.parametrize("path", SOURCE, ids=name)
def test_only_settings_read_the_environment(path: Path) -> None:
    if path.match("settings/loading.py"):
        return
    nodes = ast.walk(ast.parse(path.read_text()))
    used = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    assert not used & {"os.environ", "os.getenv"}


def test_a_port_has_at_most_four_methods() -> None:
    trees = [ast.parse(path.read_text()) for path in (ROOT / "src/twinsmith/ports").glob("*.py")]
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    assert len(classes) >= 6
    for port in classes:
        methods = [n for n in port.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        assert 1 <= len(methods) <= 4, port.name


def test_importing_the_package_does_nothing() -> None:
    code = (
        "import sys, twinsmith, twinsmith.runs.drive, twinsmith.cli.main;"
        "heavy = {'dbos', 'sqlalchemy', 'psycopg'} & set(sys.modules);"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
