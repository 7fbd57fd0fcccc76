"""What every journal must do: the one in memory, the one on disk and the one in PostgreSQL."""

import fcntl
import json
import secrets
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.journal import chain
from twinsmith.adapters.journal.chained import ChainedJournal
from twinsmith.adapters.journal.files import FileJournal
from twinsmith.adapters.journal.memory import MemoryJournal
from twinsmith.adapters.journal.table import TableChains
from twinsmith.core.errors import EngineError
from twinsmith.core.events import SYSTEM, Broken, Event, Json, first_break, to_line
from twinsmith.core.masking import Masking

Any = MemoryJournal | ChainedJournal
KNOWN = Masking(secrets=("swordfish",))


@pytest.fixture(params=["memory", "files", "postgresql"])
def journal(request: pytest.FixtureRequest) -> Any:
    if request.param == "memory":
        return MemoryJournal(ManualClock())
    opened: Callable[[], ChainedJournal] = request.getfixturevalue(f"in_{request.param}")
    return opened()


@pytest.fixture(params=["files", "postgresql"])
def opened(request: pytest.FixtureRequest) -> Callable[[], ChainedJournal]:
    """Opens the same lasting journal, each time as another process would."""
    given: Callable[[], ChainedJournal] = request.getfixturevalue(f"in_{request.param}")
    return given


@pytest.fixture
def in_files(tmp_path: Path) -> Callable[[], ChainedJournal]:
    return lambda: FileJournal(tmp_path, ManualClock(), KNOWN)


@pytest.fixture
def in_postgresql(postgres: str) -> Callable[[], ChainedJournal]:
    name = f"journal_{secrets.token_hex(4)}"
    with psycopg.connect(f"{postgres}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return lambda: ChainedJournal(TableChains(f"{postgres}/{name}"), ManualClock(), KNOWN)


def event(n: int, *, run: str = "r", key: str = "") -> Event:
    return Event(run=run, kind="k", who="w", data={"n": n}, key=key)


async def test_events_stay_in_order_and_chained(journal: Any) -> None:
    for n in range(5):
        await journal.append(event(n))
    await journal.append(event(9, run="other"))
    entries = journal.entries("r")
    assert [entry.event.data["n"] for entry in entries] == [0, 1, 2, 3, 4]
    assert first_break([to_line(entry) for entry in entries]) is None
    assert len(journal.entries("other")) == 1
    assert journal.entries("nobody") == []


async def test_a_key_is_kept_once(journal: Any) -> None:
    for n in (1, 2):
        await journal.append(event(n, key="a"))
        await journal.append(event(n))
    assert [entry.event.data["n"] for entry in journal.entries("r")] == [1, 1, 2]


START = Event(run=SYSTEM, kind="run.started", who="w", data={"run": "r"})


async def filled(journal: ChainedJournal) -> None:
    """Tell a journal of one run with four lines, from its beginning to its end."""
    await journal.append(START)
    for n in range(4):
        await journal.append(event(n))
    anchor = journal.anchor("r")
    data: dict[str, Json] = {"run": "r", "lines": anchor.lines, "head": anchor.head}
    await journal.append(Event(run=SYSTEM, kind="run.ended", who="w", data=data))


class TestLasting:
    """What every journal does that outlives its process."""

    async def test_another_process_sees_keys_and_continues_the_chain(
        self, opened: Callable[[], ChainedJournal]
    ) -> None:
        one, other = opened(), opened()
        await one.append(event(1, key="a"))
        await other.append(event(2, key="a"))
        await other.append(event(3, key="b"))
        await one.append(event(4, key="b"))
        await one.append(event(5, run="s", key="b"))
        assert [entry.event.data["n"] for entry in opened().entries("r")] == [1, 3]
        assert [entry.event.data["n"] for entry in opened().entries("s")] == [5]
        assert opened().check("r").broken is None

    async def test_reading_goes_on_where_it_was(self, opened: Callable[[], ChainedJournal]) -> None:
        journal = opened()
        assert journal.entries_since("r", 0) == ([], 0)
        await journal.append(event(1))
        await journal.append(event(2))
        first, offset = opened().entries_since("r", 0)
        assert [entry.event.data["n"] for entry in first] == [1, 2]
        assert opened().entries_since("r", offset) == ([], offset)
        await journal.append(event(3))
        later, end = opened().entries_since("r", offset)
        assert [entry.event.data["n"] for entry in later] == [3]
        assert end > offset

    async def test_secrets_are_masked_before_they_are_hashed(
        self, opened: Callable[[], ChainedJournal]
    ) -> None:
        data: dict[str, Json] = {"a": "the swordfish", "b": ["sk-abcdefghijklmnopqrstuv"]}
        await opened().append(Event(run="r", kind="k", who="swordfish", data=data))
        (entry,) = opened().entries("r")
        assert "swordfish" not in to_line(entry)
        assert "sk-abc" not in to_line(entry)
        assert opened().check("r").broken is None

    async def test_a_whole_journal_has_nothing_to_say(
        self, opened: Callable[[], ChainedJournal]
    ) -> None:
        await filled(opened())
        found = [(c.run, c.lines, c.broken, c.note) for c in opened().check_all()]
        assert found == [(SYSTEM, 2, None, ""), ("r", 4, None, "")]
        assert opened().runs() == ["r"]

    async def test_an_end_that_the_system_was_not_told_of_is_mentioned(
        self, opened: Callable[[], ChainedJournal]
    ) -> None:
        await opened().append(START)
        await opened().append(Event(run="r", kind="run.ended", who="w", data={}))
        assert [told.run for told in opened().unanchored()] == ["r"]
        assert opened().check("r").note.startswith("ended, but the system's chain does not say so")

    async def test_an_anchor_is_of_all_chains(self, opened: Callable[[], ChainedJournal]) -> None:
        await filled(opened())
        await opened().append(event(1, run="unknown"))
        stored = await opened().anchor_all("user:ann")
        assert stored == opened().anchor(SYSTEM)
        last = opened().entries(SYSTEM)[-1].event
        end = opened().anchor("unknown")
        assert last.data == {"heads": {"unknown": [1, end.head]}}
        assert [c.broken for c in opened().check_all([stored])] == [None] * 3
        forged = replace(stored, lines=stored.lines + 1)
        system, *others = opened().check_all([forged])
        assert system.broken == Broken(
            line=4, reason="is missing; the anchor that was stored knows of 4 lines"
        )
        assert [c.broken for c in others] == [None] * 2


class TestOnDisk:
    """What only files can suffer."""

    @pytest.fixture
    def disk(self, tmp_path: Path) -> FileJournal:
        return FileJournal(tmp_path, ManualClock(), KNOWN)

    def test_many_processes_write_one_chain(self, tmp_path: Path) -> None:
        code = (
            "import asyncio, sys\n"
            "from pathlib import Path\n"
            "from twinsmith.adapters.clock import SystemClock\n"
            "from twinsmith.adapters.journal.files import FileJournal\n"
            "from twinsmith.core.events import Event\n"
            "async def main():\n"
            "    journal = FileJournal(Path(sys.argv[1]), SystemClock())\n"
            "    for n in range(50):\n"
            "        await journal.append(Event(run='r', kind='k', who='w', data={'n': n}))\n"
            "asyncio.run(main())\n"
        )
        writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(4)]
        assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0, 0]
        checked = FileJournal(tmp_path, ManualClock()).check("r")
        assert (checked.lines, checked.broken) == (200, None)

    async def test_a_line_without_its_end_is_dropped_by_the_next_write(
        self, disk: FileJournal, tmp_path: Path
    ) -> None:
        await disk.append(event(1))
        path = tmp_path / "runs" / "r.jsonl"
        with path.open("a") as file:
            file.write('{"seq":2,"at":"')
        assert len(disk.entries("r")) == 1
        await FileJournal(tmp_path, ManualClock()).append(event(2))
        assert [entry.event.data["n"] for entry in disk.entries("r")] == [1, 2]
        assert disk.check("r").broken is None

    async def test_what_cannot_be_written_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "runs").write_text("in the way")
        with pytest.raises(EngineError, match="cannot be written"):
            await FileJournal(tmp_path, ManualClock()).append(event(1))

    async def test_who_was_suspended_in_the_middle_of_a_line_does_not_hold_up_others_for_ever(
        self, disk: FileJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(chain, "LOCK_SECONDS", 0.1)
        await disk.append(event(1))
        with (tmp_path / "runs" / "r.jsonl").open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with pytest.raises(EngineError, match="held by a process that does not go on"):
                await disk.append(event(2))
        await disk.append(event(3))
        assert [entry.event.data["n"] for entry in disk.entries("r")] == [1, 3]

    @pytest.mark.parametrize(
        ("edit", "line", "says"),
        [
            (lambda lines: [lines[0].replace('"n":0', '"n":7'), *lines[1:]], 1, "altered"),
            (lambda lines: lines[:-1], 4, "missing"),
            (lambda lines: lines[1:], 1, "does not follow"),
            (lambda _: [], 1, "missing"),
            (lambda lines: [*lines, "x"], 5, "cannot be read"),
        ],
        ids=["altered", "cut", "beheaded", "emptied", "added"],
    )
    async def test_tampering_is_found_in_its_line(
        self,
        disk: FileJournal,
        tmp_path: Path,
        edit: Callable[[list[str]], list[str]],
        line: int,
        says: str,
    ) -> None:
        await filled(disk)
        path = tmp_path / "runs" / "r.jsonl"
        lines = edit(path.read_text().splitlines())
        path.write_text("".join(f"{text}\n" for text in lines))
        broken = disk.check("r").broken
        assert broken is not None
        assert broken.line == line
        assert says in broken.reason
        assert [chain.run for chain in disk.check_all() if chain.broken] == ["r"]

    async def test_a_chain_forged_anew_does_not_match_its_anchor(
        self, disk: FileJournal, tmp_path: Path
    ) -> None:
        await filled(disk)
        (tmp_path / "runs" / "r.jsonl").unlink()
        forged = FileJournal(tmp_path, ManualClock())
        for n in range(10, 14):
            await forged.append(event(n))
        broken = disk.check("r").broken
        assert broken is not None
        assert "replaced" in broken.reason

    async def test_a_removed_system_chain_is_found(self, disk: FileJournal, tmp_path: Path) -> None:
        await filled(disk)
        (tmp_path / "system.jsonl").unlink()
        assert [chain.run for chain in disk.check_all() if chain.broken] == [SYSTEM]

    async def test_writing_goes_on_after_tampering_and_the_break_stays_visible(
        self, disk: FileJournal, tmp_path: Path
    ) -> None:
        await disk.append(event(1))
        path = tmp_path / "runs" / "r.jsonl"
        path.write_text("garbage\n")
        await disk.append(event(2))
        assert json.loads(path.read_text().splitlines()[1])["data"] == {"n": 2}
        broken = disk.check("r").broken
        assert broken is not None
        assert broken.line == 1
