"""What CI relies on: tests of one group share a worker, and those that failed are tried again."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

GROUPED = """
import os, pathlib, pytest

@pytest.mark.xdist_group("one at a time")
@pytest.mark.parametrize("n", range(8))
def test_in_a_group(n):
    (pathlib.Path("seen") / str(n)).write_text(os.environ["PYTEST_XDIST_WORKER"])
"""


def test_tests_of_a_group_share_a_worker(tmp_path: Path) -> None:
    (tmp_path / "seen").mkdir()
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    line = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "."]
    subprocess.run(line, cwd=tmp_path, env=environment(), check=True, stdout=subprocess.DEVNULL)
    workers = [path.read_text() for path in (tmp_path / "seen").iterdir()]
    assert (len(workers), len({*workers})) == (8, 1)


@pytest.mark.parametrize(
    ("failing", "code", "tried"),
    [(["a.py::test_b[x y]@one group", "a.py::test_c[d@e]"], 0, 2), ([], 1, 0), (["t"] * 6, 1, 0)],
)
def test_a_few_that_failed_are_tried_once_more_by_their_names(
    tmp_path: Path, failing: list[str], code: int, tried: int
) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    kept = {f"{name}{n if name == 't' else ''}": True for n, name in enumerate(failing)}
    python = tmp_path / ".venv" / "bin" / "python"
    reads = f'test "$1" = -c && exec {sys.executable} "$@"'
    tools = {
        tmp_path / "tools" / "make": 'test "$1" = static',
        python: f'{reads}; shift 3; printf "%s\\n" "$@" > tried',
    }
    for path, does in tools.items():
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)
    cache = tmp_path / ".pytest_cache" / "v" / "cache"
    cache.mkdir(parents=True)
    (cache / "lastfailed").write_text(json.dumps(kept))
    env = {**environment(), "PATH": f"{tmp_path}/tools:{os.environ['PATH']}"}
    done = subprocess.run(["bash", str(tmp_path / ".ci" / "run")], env=env, check=False)
    assert done.returncode == code
    names = (tmp_path / "tried").read_text().splitlines() if tried else []
    assert names == ["a.py::test_b[x y]", "a.py::test_c[d@e]"][:tried]
    assert tried or not (tmp_path / "tried").exists()


def environment() -> dict[str, str]:
    """This one's, without what tells a worker of these tests what it is."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
