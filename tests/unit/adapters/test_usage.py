"""Processor time as both versions of control groups tell it, and as processes do."""

import os
from pathlib import Path

import pytest

from twinsmith.adapters.sandbox.inside import usage
from twinsmith.adapters.sandbox.inside.usage import OWN_SECONDS, Usage


@pytest.fixture(autouse=True)
def one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("posix.cpu_count", lambda: 1)
    monkeypatch.setattr(usage, "PLACES", ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("2000000000\n", "3500000000\n"),
        ("usage_usec 2000000\nuser_usec 7\n", "usage_usec 3500000\nuser_usec 7\n"),
    ],
    ids=["version 1", "version 2"],
)
def test_a_groups_file_is_read_anew_each_time(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "used"
    file.write_text(before)
    number = os.open(file, os.O_RDONLY)
    used = Usage(number)
    left = used.allowance(2.0)
    assert left() == pytest.approx(2.0 + OWN_SECONDS)
    file.write_text(after)
    assert left() == pytest.approx(0.5 + OWN_SECONDS)
    # What was handed over is taken over: programs are started with all low numbers closed.
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)
    used.close()


def test_with_more_processors_it_is_used_up_sooner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posix.cpu_count", lambda: 4)
    file = tmp_path / "used"
    file.write_text("0\n")
    used = Usage(os.open(file, os.O_RDONLY))
    assert used.allowance(4.0 - OWN_SECONDS)() == pytest.approx(1.0)
    used.close()


def test_a_container_finds_its_own_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 1000000\n")
    places = (str(tmp_path / "nowhere"), str(tmp_path / "cpu.stat"))
    monkeypatch.setattr(usage, "PLACES", places)
    used = Usage(-1)
    assert used.allowance(1.0)() == pytest.approx(1.0 + OWN_SECONDS)
    used.close()


def test_without_a_group_processes_are_asked() -> None:
    left = Usage(-1).allowance(1e6)
    assert 0 < left() <= 1e6 + OWN_SECONDS
