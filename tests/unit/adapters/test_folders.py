"""Folders that can be cleaned away: sizes, ages, and removals that reach nothing else."""

import os
import time
from pathlib import Path

import pytest

from twinsmith.adapters.resources.folders import days_since, folders_in, remove, size_of
from twinsmith.adapters.resources.machine import machine_now, memory_of_processes
from twinsmith.core.errors import EngineError


def test_links_are_neither_listed_nor_counted_nor_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"x" * 100_000)
    parent = tmp_path / "runs"
    (parent / "r1").mkdir(parents=True)
    (parent / "r1" / "link").symlink_to(outside)
    (parent / "r2").symlink_to(outside)
    (parent / ".making").mkdir()
    assert [each.name for each in folders_in(parent)] == ["r1"]
    assert size_of(parent / "r1") < 50_000 < size_of(outside)
    remove(parent, "r1")
    assert not (parent / "r1").exists()
    assert (outside / "precious").exists()
    for name in ("r2", "..", ".", "", "../outside", str(outside)):
        with pytest.raises(EngineError, match="nothing is removed"):
            remove(parent, name)
    assert (outside / "precious").exists()


def test_what_is_gone_is_no_error(tmp_path: Path) -> None:
    remove(tmp_path, "never")
    assert folders_in(tmp_path / "never") == ()
    assert days_since(tmp_path / "never") == 0
    assert size_of(tmp_path / "never") == 0


def test_ages_are_days(tmp_path: Path) -> None:
    then = time.time() - 3 * 86_400
    os.utime(tmp_path, (then, then))
    assert 2.9 < days_since(tmp_path) < 3.1


def test_this_machine_has_memory_and_a_disk(tmp_path: Path) -> None:
    found = machine_now(tmp_path / "not" / "made" / "yet")
    assert found.memory_mb > 0
    assert found.disk_mb > 0
    count, held = memory_of_processes("pytest")
    assert (count > 0) == (held > 0)
    assert memory_of_processes("a word that stands in no command line") == (0, 0)
