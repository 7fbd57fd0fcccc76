"""A segment is read through once, and again when it could have changed."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from tests.strictness import elsewhere
from twinsmith.adapters.knowledge import segments
from twinsmith.adapters.knowledge.segments import Damaged, Segment, load, write

WIDE = 16


@pytest.fixture
def written(tmp_path: Path) -> Segment:
    rows = np.eye(WIDE, dtype=np.float32)
    return write(tmp_path, "flat", WIDE, WIDE, lambda: [(np.arange(WIDE), rows)])


@pytest.fixture
def marks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    try:
        os.setxattr(tmp_path / "file", segments._MARK, b"x")
    except OSError as error:
        elsewhere(f"{tmp_path} is on a file system without user marks: {error.strerror}")


def flip(path: Path) -> None:
    """One bit, and the clock put back: as a disk would do it."""
    times = path.stat()
    with path.open("rb+") as file:
        file.seek(times.st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_the_first_time_every_bit_is_read(tmp_path: Path, written: Segment) -> None:
    flip(tmp_path / written.name)
    with pytest.raises(Damaged, match="another SHA-256"):
        load(tmp_path, written, WIDE)


@pytest.mark.usefixtures("marks")
def test_what_was_read_is_trusted_for_a_week(
    tmp_path: Path, written: Segment, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(tmp_path, written, WIDE)
    flip(tmp_path / written.name)
    assert load(tmp_path, written, WIDE).ntotal == WIDE, "nothing says that it changed"
    later = time.time() + segments._TRUSTED_SECONDS
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(Damaged, match="another SHA-256"):
        load(tmp_path, written, WIDE)


@pytest.mark.usefixtures("marks")
@pytest.mark.parametrize("how", ["written", "copied"])
def test_a_file_that_was_written_or_copied_is_read_again(
    tmp_path: Path, written: Segment, how: str
) -> None:
    path = tmp_path / written.name
    load(tmp_path, written, WIDE)
    mark = os.getxattr(path, segments._MARK)
    flip(path)
    if how == "written":
        os.utime(path)
    else:
        other = tmp_path / "other"
        other.write_bytes(path.read_bytes())
        os.setxattr(other, segments._MARK, mark)
        os.utime(other, ns=(0, path.stat().st_mtime_ns))
        other.rename(path)
    with pytest.raises(Damaged, match="another SHA-256"):
        load(tmp_path, written, WIDE)
