"""What cannot be seen in a chain itself: that its end is gone. Heads and anchors know."""

import json
import sqlite3
from pathlib import Path

import pytest

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.journal.files import FileJournal
from twinsmith.adapters.journal.heads import DatabaseHeads, Heads, HeadsAway, MemoryHeads
from twinsmith.core.anchor import Anchor, anchors_in, written
from twinsmith.core.events import GENESIS, SYSTEM, Event, Json

NOWHERE = Anchor(lines=0, head=GENESIS)
ONE, TWO, OTHER = (
    Anchor(lines=n, head=letter * 64) for n, letter in ((1, "a"), (2, "b"), (2, "c"))
)


@pytest.fixture(params=["memory", "sqlite"])
def heads(request: pytest.FixtureRequest, tmp_path: Path) -> Heads:
    if request.param == "memory":
        return MemoryHeads()
    return DatabaseHeads(tmp_path / "heads.db")


def test_a_head_moves_from_where_it_stood_only(heads: Heads) -> None:
    assert heads.all() == {}
    assert heads.move("r", NOWHERE, ONE)
    assert heads.move("r", ONE, TWO)
    assert not heads.move("r", ONE, OTHER)
    assert not heads.move("r", NOWHERE, ONE)
    assert heads.move("s", TWO, OTHER)
    assert heads.all() == {"r": TWO, "s": OTHER}


async def test_a_database_that_is_away_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    away = DatabaseHeads(tmp_path / "file" / "heads.db")
    with pytest.raises(HeadsAway):
        away.all()
    journal = FileJournal(tmp_path / "journal", ManualClock(), heads=away)
    await journal.append(Event(run="r", kind="k", who="w", data={}))
    checked = journal.check("r")
    assert (checked.lines, checked.broken) == (1, None)
    assert checked.note.startswith("the database does not tell where it ends: ")


class Kept:
    """A journal of three runs, two of them ended, with its heads in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "journal"
        self.database = folder / "heads.db"
        self.journal = self.opened()

    def opened(self) -> FileJournal:
        return FileJournal(self.folder, ManualClock(), heads=DatabaseHeads(self.database))

    async def filled(self) -> "Kept":
        for run in ("one", "two", "three"):
            await self.tell(SYSTEM, "run.started", run=run)
            for n in range(3):
                await self.tell(run, "k", n=n)
            if run != "three":
                await self.tell(run, "run.ended", state="solved")
                await self.anchored(run)
        return self

    async def anchored(self, run: str) -> None:
        anchor = self.journal.anchor(run)
        await self.tell(SYSTEM, "run.ended", run=run, lines=anchor.lines, head=anchor.head)

    async def tell(self, chain: str, kind: str, **data: Json) -> None:
        await self.journal.append(Event(run=chain, kind=kind, who="w", data=data))

    def path(self, run: str) -> Path:
        return self.folder / "system.jsonl" if run == SYSTEM else self.folder / f"runs/{run}.jsonl"

    def cut(self, run: str, count: int) -> None:
        lines = self.path(run).read_text().splitlines(keepends=True)
        self.path(run).write_text("".join(lines[:-count]))

    def broken(self, *against: Anchor) -> dict[str, str]:
        found = self.opened().check_all(against)
        return {c.run: f"{c.broken.line} {c.broken.reason}" for c in found if c.broken}


@pytest.fixture
async def kept(tmp_path: Path) -> Kept:
    return await Kept(tmp_path).filled()


async def test_a_whole_journal_has_nothing_to_say(kept: Kept) -> None:
    checked = kept.opened().check_all()
    assert [(c.run, c.broken, c.note) for c in checked] == [
        (run, None, "") for run in (SYSTEM, "one", "two", "three")
    ]


async def test_the_end_of_a_run_cut_together_with_what_anchors_it_is_missed(kept: Kept) -> None:
    kept.cut(SYSTEM, 2)
    kept.cut("two", 1)
    assert kept.broken() == {
        SYSTEM: "4 is missing; the database knows of 5 lines",
        "two": "4 is missing; the database knows of 4 lines",
    }


async def test_so_is_a_run_that_was_removed_whole(kept: Kept) -> None:
    kept.cut(SYSTEM, 1)
    kept.path("three").unlink()
    assert kept.broken() == {
        SYSTEM: "5 is missing; the database knows of 5 lines",
        "three": "1 is missing: the whole file was emptied or removed; "
        "the database knows of 3 lines",
    }


async def test_what_grows_again_after_a_cut_does_not_hide_it(kept: Kept) -> None:
    kept.cut("three", 2)
    kept.journal = kept.opened()
    for n in range(5):
        await kept.tell("three", "k", n=n)
    assert kept.broken() == {"three": "3 was replaced: the database knows another hash"}
    kept.path("two").unlink()
    kept.journal = kept.opened()
    for n in range(5):
        await kept.tell("two", "k", n=n)
    assert set(kept.broken()) == {"two", "three"}


async def test_a_head_that_was_left_behind_catches_up(kept: Kept) -> None:
    """As after a kill between a line and its head: what is behind is said, and not a break."""
    without = FileJournal(kept.folder, ManualClock())
    await without.append(Event(run="three", kind="k", who="w", data={}))
    (checked,) = [c for c in kept.opened().check_all() if c.run == "three"]
    assert checked.broken is None
    assert checked.note == "the database does not know the last 1 of its lines yet"
    kept.journal = kept.opened()
    await kept.tell("three", "k")
    (checked,) = [c for c in kept.opened().check_all() if c.run == "three"]
    assert (checked.lines, checked.broken, checked.note) == (5, None, "")


async def test_heads_that_were_removed_are_mentioned(kept: Kept) -> None:
    with sqlite3.connect(kept.database) as database:
        database.execute("DELETE FROM twinsmith_journal_heads WHERE chain = 'one'")
    notes = {c.run: c.note for c in kept.opened().check_all() if c.note}
    assert list(notes) == ["one"]
    assert notes["one"].startswith("the database does not know where it ends")


async def test_an_anchor_that_was_stored_elsewhere_needs_no_database(kept: Kept) -> None:
    stored = await kept.journal.anchor_all("user:ann")
    (read,) = anchors_in(written(stored, "2026-11-16T00:00:00Z"))
    assert read == stored
    await kept.tell(SYSTEM, "program.executed")
    kept.database.unlink()
    assert kept.broken(stored) == {}
    kept.cut(SYSTEM, 2)
    assert kept.broken() == {}
    assert kept.broken(stored) == {
        SYSTEM: "6 is missing; the anchor that was stored knows of 6 lines"
    }


async def test_it_covers_runs_that_had_not_ended(kept: Kept) -> None:
    stored = await kept.journal.anchor_all("user:ann")
    kept.database.unlink()
    kept.cut("three", 1)
    assert kept.broken(stored) == {"three": "3 is missing; the system's chain knows of 3 lines"}


async def test_a_chain_forged_anew_does_not_match_it(kept: Kept) -> None:
    stored = await kept.journal.anchor_all("user:ann")
    kept.database.unlink()
    for run in (SYSTEM, "one", "two", "three"):
        kept.path(run).unlink()
    forged = Kept(kept.folder.parent)
    await forged.filled()
    await forged.journal.anchor_all("user:eve")
    assert kept.broken() == {}
    assert set(kept.broken(stored)) == {SYSTEM}


async def test_an_end_that_the_system_was_not_told_of_is_mentioned(kept: Kept) -> None:
    await kept.tell("three", "run.ended", state="solved")
    (event,) = kept.opened().unanchored()
    assert (event.run, event.data) == ("three", {"state": "solved"})
    (checked,) = [c for c in kept.opened().check_all() if c.note]
    assert checked.note.startswith("ended, but the system's chain does not say so")
    await kept.anchored("three")
    assert kept.opened().unanchored() == []


@pytest.mark.parametrize(
    "text",
    ["", "\n", "hello", "twinsmith-anchor now 3", f"twinsmith-anchor now x {GENESIS}"],
)
def test_what_is_no_anchor_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is empty|is no anchor"):
        anchors_in(text)


async def test_the_event_of_an_anchor_lists_open_runs_only(kept: Kept) -> None:
    await kept.journal.anchor_all("user:ann")
    last = json.loads(kept.path(SYSTEM).read_text().splitlines()[-1])
    assert (last["kind"], list(last["data"]["heads"])) == ("journal.anchored", ["three"])
