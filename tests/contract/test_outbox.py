"""What every outbox must do: the one in memory and the one on disk."""

import json
from pathlib import Path

import pytest

from twinsmith.adapters.outbox.folder import FolderOutbox, published_by
from twinsmith.adapters.outbox.memory import MemoryOutbox
from twinsmith.core.errors import ConfigError

FILES = {"report.json": json.dumps({"run": "r1"}), "rejected/solution.py": "x = 1\n"}

Any = MemoryOutbox | FolderOutbox


@pytest.fixture(params=[MemoryOutbox, FolderOutbox])
def outbox(request: pytest.FixtureRequest) -> Any:
    made: Any = request.param()
    return made


def seen(outbox: Any, out: Path) -> dict[str, str]:
    if isinstance(outbox, MemoryOutbox):
        return outbox.folders[str(out)]
    files = [path for path in out.rglob("*") if path.is_file()]
    return {str(path.relative_to(out)): path.read_text() for path in files}


async def test_all_files_are_there(outbox: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    await outbox.publish("r1", str(out), FILES)
    assert seen(outbox, out) == FILES


async def test_publishing_twice_for_one_run_is_harmless(outbox: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    await outbox.publish("r1", str(out), FILES)
    await outbox.publish("r1", str(out), FILES)
    assert seen(outbox, out) == FILES


async def test_another_runs_folder_is_not_touched(outbox: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    await outbox.publish("r1", str(out), FILES)
    with pytest.raises(ConfigError, match="is not empty"):
        await outbox.publish("r2", str(out), {"report.json": "{}"})
    assert seen(outbox, out) == FILES


class TestOnDisk:
    """What only folders can suffer."""

    async def test_an_empty_folder_is_taken(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        await FolderOutbox().publish("r1", str(tmp_path / "out"), FILES)
        assert published_by(tmp_path / "out") == "r1"

    async def test_nothing_is_left_aside(self, tmp_path: Path) -> None:
        await FolderOutbox().publish("r1", str(tmp_path / "out"), FILES)
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    async def test_a_failed_write_leaves_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="twinsmith resume r1"):
            await FolderOutbox().publish("r1", str(tmp_path / "out"), {"x" * 300: "name too long"})
        assert list(tmp_path.iterdir()) == []

    def test_a_stranger_is_not_a_run(self, tmp_path: Path) -> None:
        assert published_by(tmp_path) == ""
        (tmp_path / "report.json").write_text("[]")
        assert published_by(tmp_path) == ""
        (tmp_path / "report.json").write_text("{")
        assert published_by(tmp_path) == ""
