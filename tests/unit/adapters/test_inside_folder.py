"""The program's folder is as new for every probe, whatever was left in it."""

import os
from pathlib import Path

import pytest

from twinsmith.adapters.sandbox.inside import folder


def test_deep_closed_and_linked_things_go_without_touching_what_links_point_to(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("safe")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(kept)
    (scratch / "closed").mkdir()
    (scratch / "closed" / "x").write_text("")
    (scratch / "closed").chmod(0)
    here = Path.cwd()
    os.chdir(scratch)
    for _ in range(1500):
        Path("d").mkdir()
        os.chdir("d")
    os.chdir(here)
    work = scratch / "work"
    folder.renew([str(scratch)], str(work), {"solution.py": "é"})
    assert [path.name for path in scratch.iterdir()] == ["work"]
    assert (work / "solution.py").read_text() == "é"
    assert (kept / "file").read_text() == "safe"


def test_a_built_program_is_copied_without_following_links_and_cannot_change(
    tmp_path: Path,
) -> None:
    program = tmp_path / "solution"
    program.write_bytes(b"binary")
    copy = folder.sealed_copy(str(program))
    assert os.pread(copy, 10, 0) == b"binary"
    with pytest.raises(PermissionError):
        os.write(copy, b"x")
    os.close(copy)
    link = tmp_path / "link"
    link.symlink_to(program)
    with pytest.raises(OSError, match="symbolic"):
        folder.sealed_copy(str(link))
