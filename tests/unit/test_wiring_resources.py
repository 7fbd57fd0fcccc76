"""Limits of models: a process is held before it begins, and told apart where it cannot be."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from twinsmith.adapters.sandbox import cgroup
from twinsmith.core.errors import ModelUnavailable, SandboxError
from twinsmith.settings import Settings, load
from twinsmith.wiring.resources import cap_all, hold_model


def settings(tmp_path: Path, **given: str) -> Settings:
    named = {f"TWINSMITH_RESOURCES_{name.upper()}": value for name, value in given.items()}
    return load({"TWINSMITH_HOME": str(tmp_path), **named})


def test_without_limits_nothing_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "here", lambda: pytest.fail("nobody has to look"))
    cap_all(settings(tmp_path))
    hold_model(settings(tmp_path), os.getpid())


def test_limits_that_cannot_be_kept_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "here", lambda: None)
    with pytest.raises(SandboxError, match="need control groups"):
        cap_all(settings(tmp_path, processors="1"))
    with pytest.raises(ModelUnavailable, match="needs control groups"):
        hold_model(settings(tmp_path, models_memory_mb="64"), os.getpid())


@pytest.mark.groups
def test_the_kernel_holds_a_model_to_its_limit(tmp_path: Path) -> None:
    eats = "import os, sys; sys.stdin.read(1); x = bytearray(os.urandom(1)) * (256 << 20)"
    process = subprocess.Popen([sys.executable, "-c", eats], stdin=subprocess.PIPE)
    groups = cgroup.here()
    assert groups is not None
    try:
        hold_model(settings(tmp_path, models_memory_mb="32"), process.pid)
        process.communicate(b"x", timeout=60)
        assert process.returncode == -9
    finally:
        process.kill()
        for folder in groups.folders.values():
            with suppress(FileNotFoundError):
                (folder / f"{os.getpid()}-model{process.pid}").rmdir()
