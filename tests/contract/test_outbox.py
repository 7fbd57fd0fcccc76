"""What every outbox must do: the one in memory and the one on disk."""

import json
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from twinsmith.adapters.outbox import folder
from twinsmith.adapters.outbox.folder import FolderOutbox, discard, published_by
from twinsmith.adapters.outbox.memory import MemoryOutbox
from twinsmith.adapters.outbox.shared import ResultTable, SharedOutbox
from twinsmith.core.errors import ConfigError

FILES = {"report.json": json.dumps({"run": "r1"}), "rejected/solution.py": "x = 1\n"}

Any = MemoryOutbox | FolderOutbox | SharedOutbox


class Pulled(BaseException):
    """The plug was pulled."""


def pulled(work: Callable[..., object], *, after: bool) -> Callable[..., object]:
    """The plug is pulled when this is done for the first time, or right before."""

    def once(*args: object) -> object:
        if after:
            work(*args)
        raise Pulled

    return once


@pytest.fixture(params=["memory", "folder", "shared"])
def outbox(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    match request.param:
        case "memory":
            return MemoryOutbox()
        case "folder":
            return FolderOutbox()
    return SharedOutbox(FolderOutbox(), ResultTable(f"sqlite:///{tmp_path / 'results.db'}"))


def test_a_result_is_there_for_every_machine(postgres: str) -> None:
    url = f"{postgres}/results_{secrets.token_hex(4)}"
    ResultTable(url).save("r1", {"old.py": ""})
    ResultTable(url).save("r1", FILES)
    assert ResultTable(url).get("r1") == FILES
    assert ResultTable(url).get("r2") is None


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

    @pytest.mark.parametrize("at", ["_write", "_sync", "rename"])
    @pytest.mark.parametrize("after", [False, True])
    async def test_killed_at_any_moment_and_gone_on_with_it_leaves_nothing_aside(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, after: bool
    ) -> None:
        out = tmp_path / "out"
        with monkeypatch.context() as plugged:
            where: object = Path if at == "rename" else folder
            plugged.setattr(where, at, pulled(getattr(where, at), after=after))
            # What is killed does not tidy up.
            plugged.setattr(shutil, "rmtree", lambda *_, **__: None)
            with pytest.raises(Pulled):
                await FolderOutbox().publish("r1", str(out), FILES)
        await FolderOutbox().publish("r1", str(out), FILES)
        assert seen(FolderOutbox(), out) == FILES
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    async def test_what_a_killed_run_left_can_be_discarded_and_nothing_else(
        self, tmp_path: Path
    ) -> None:
        for name in (".twinsmith-r1", ".twinsmith-r12", ".out-x1y2", "out"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "file").write_text("x")
        discard("r1", str(tmp_path / "out"))
        left = sorted(path.name for path in tmp_path.iterdir())
        assert left == [".out-x1y2", ".twinsmith-r12", "out"]
        discard("r1", str(tmp_path / "nowhere" / "out"))

    async def test_what_is_not_ours_is_not_removed_whatever_its_name(self, tmp_path: Path) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "file").write_text("x")
        (tmp_path / ".twinsmith-r1").symlink_to(elsewhere)
        (tmp_path / ".twinsmith-r2").write_text("x")
        for run in ("r1", "r2"):
            with pytest.raises(ConfigError, match=f"File exists; .* twinsmith resume {run}"):
                await FolderOutbox().publish(run, str(tmp_path / "out"), FILES)
        assert (elsewhere / "file").read_text() == "x"
        assert (tmp_path / ".twinsmith-r2").read_text() == "x"

    def test_a_stranger_is_not_a_run(self, tmp_path: Path) -> None:
        assert published_by(tmp_path) == ""
        (tmp_path / "report.json").write_text("[]")
        assert published_by(tmp_path) == ""
        (tmp_path / "report.json").write_text("{")
        assert published_by(tmp_path) == ""
