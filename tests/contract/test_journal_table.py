"""The journal in PostgreSQL: many writers at once, rows that were altered, and who is given it."""

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import psycopg
import pytest

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.journal.chained import ChainedJournal
from twinsmith.adapters.journal.table import TableChains
from twinsmith.core.anchor import Anchor
from twinsmith.core.errors import DatabaseAway, EngineError
from twinsmith.core.events import SYSTEM, Event, Json
from twinsmith.settings import load
from twinsmith.wiring.journal import journal_of

WRITER = """
import asyncio, sys
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.journal.chained import ChainedJournal
from twinsmith.adapters.journal.table import TableChains
from twinsmith.core.events import Event

async def main(url, count, key):
    journal = ChainedJournal(TableChains(url), SystemClock())
    for n in range(count):
        named = f"{key}{n}" if key else ""
        await journal.append(Event(run="r", kind="k", who="w", data={"n": n}, key=named))

asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
"""


@dataclass(frozen=True)
class Server:
    """A database of its own on a real server, with a journal in it."""

    url: str

    def journal(self) -> ChainedJournal:
        return ChainedJournal(TableChains(self.url), ManualClock())

    def ask(self, words: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url) as connection:
            asked = connection.execute(words.encode())
            return asked.fetchall() if asked.description else []

    def broken(self) -> dict[str, str]:
        found = self.journal().check_all()
        return {c.run: f"{c.broken.line} {c.broken.reason}" for c in found if c.broken}


@pytest.fixture
def server(postgres: str) -> Server:
    name = f"journal_{token_hex(4)}"
    with psycopg.connect(f"{postgres}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return Server(f"{postgres}/{name}")


@pytest.fixture
async def filled(server: Server) -> Server:
    """A run with five lines that ended, and one with two that goes on."""
    journal = server.journal()

    async def tell(chain: str, kind: str, key: str = "", **data: Json) -> None:
        await journal.append(Event(run=chain, kind=kind, who="w", data=data, key=key))

    for run, count in (("one", 5), ("two", 2)):
        await tell(SYSTEM, "run.started", run=run)
        for n in range(count):
            await tell(run, "k", key=f"key {n}", n=n)
    end = journal.anchor("one")
    await tell(SYSTEM, "run.ended", run="one", lines=end.lines, head=end.head)
    assert server.broken() == {}
    return server


def write_at_once(server: Server, count: int, key: str) -> None:
    """Let four processes begin at once, in a database that has no table yet."""
    words = [sys.executable, "-c", WRITER, server.url, str(count), key]
    writers = [subprocess.Popen(words) for _ in range(4)]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0, 0]


def test_four_processes_write_one_chain(server: Server) -> None:
    write_at_once(server, 100, "")
    checked = server.journal().check("r")
    assert (checked.lines, checked.broken, checked.note) == (400, None, "")
    told = [entry.event.data["n"] for entry in server.journal().entries("r")]
    assert sorted(map(str, told)) == sorted(str(n) for n in range(100) for _ in range(4))


def test_a_key_that_several_processes_give_at_once_is_kept_once(server: Server) -> None:
    write_at_once(server, 50, "key ")
    checked = server.journal().check("r")
    assert (checked.lines, checked.broken) == (50, None)


def test_the_database_itself_refuses_a_second_line_in_a_place_or_of_a_key(filled: Server) -> None:
    for row in ("'one', 5, 'x', NULL", "'one', 6, 'x', 'key 1'"):
        with pytest.raises(psycopg.errors.UniqueViolation):
            filled.ask(f"INSERT INTO twinsmith_journal VALUES ({row})")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            """UPDATE twinsmith_journal SET line = replace(line, '"n":2', '"n":7')
            WHERE chain = 'one' AND seq = 3""",
            {"one": "3 was altered: its hash does not match its content"},
        ),
        (
            "DELETE FROM twinsmith_journal WHERE chain = 'one' AND seq = 2",
            {"one": "2 does not follow the line before it"},
        ),
        (
            "DELETE FROM twinsmith_journal WHERE chain = 'one' AND seq = 5",
            {"one": "5 is missing; the system's chain knows of 5 lines"},
        ),
        (
            "DELETE FROM twinsmith_journal WHERE chain = 'two'",
            {"two": "1 is missing: the whole chain was emptied or removed"},
        ),
        (
            "DELETE FROM twinsmith_journal WHERE chain = 'system'",
            {SYSTEM: "1 is missing: there are runs, but the system's chain is gone"},
        ),
        (
            "UPDATE twinsmith_journal SET seq = 9 WHERE chain = 'two' AND seq = 2",
            {"two": "2 was moved: its row has the number 9"},
        ),
        (
            "UPDATE twinsmith_journal SET key = NULL WHERE chain = 'two' AND seq = 1",
            {"two": "1 was altered: its row has another key than it"},
        ),
    ],
    ids=["altered", "deleted", "cut", "a run", "the system's", "another number", "another key"],
)
async def test_a_row_that_was_altered_or_deleted_is_named(
    filled: Server, words: str, found: dict[str, str]
) -> None:
    filled.ask(words)
    assert filled.broken() == found


async def test_a_cut_that_the_database_cannot_show_an_anchor_shows(filled: Server) -> None:
    stored = await filled.journal().anchor_all("user:ann")
    filled.ask("DELETE FROM twinsmith_journal WHERE chain = 'system' AND seq = 4")
    assert filled.broken() == {}
    (system, *_) = filled.journal().check_all([stored])
    assert system.path == "twinsmith_journal: system"
    assert system.broken is not None
    assert system.broken.reason.startswith("is missing; the anchor that was stored")


async def test_writing_goes_on_after_tampering_and_the_break_stays_visible(filled: Server) -> None:
    filled.ask("UPDATE twinsmith_journal SET line = 'garbage' WHERE chain = 'two' AND seq = 2")
    await filled.journal().append(Event(run="two", kind="k", who="w", data={"n": 3}))
    assert [e.event.data["n"] for e in filled.journal().entries("two")] == [0, 3]
    assert filled.broken()["two"].startswith("2 cannot be read")


async def test_what_cannot_be_written_is_said() -> None:
    url = "postgresql://nobody:sword-fish-9@127.0.0.1:1/none"
    journal = ChainedJournal(TableChains(url), ManualClock())
    with pytest.raises(EngineError, match="cannot be used") as caught:
        await journal.append(Event(run="r", kind="k", who="w", data={}))
    assert "sword-fish-9" not in str(caught.value)


async def test_a_server_that_was_away_for_a_while_is_written_to_again(server: Server) -> None:
    journal = server.journal()
    await journal.append(Event(run="r", kind="k", who="w", data={}))
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    server.ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
    await journal.append(Event(run="r", kind="k", who="w", data={}))
    assert journal.check("r").lines == 2


async def test_with_postgresql_nothing_of_the_journal_is_in_the_data_folder(
    server: Server, tmp_path: Path
) -> None:
    given = {"TWINSMITH_HOME": str(tmp_path), "TWINSMITH_DATABASE_URL": server.url}
    journal = journal_of(load(given))
    await journal.append(Event(run="r", kind="k", who="w", data={}))
    assert journal.check("r").path == "twinsmith_journal: r"
    assert server.ask("SELECT chain, seq FROM twinsmith_journal") == [("r", 1)]
    assert list(tmp_path.iterdir()) == []


def test_with_sqlite_it_lies_in_files_and_needs_no_sqlalchemy(tmp_path: Path) -> None:
    code = (
        "import sys, asyncio\n"
        "from twinsmith.core.events import Event\n"
        "from twinsmith.settings import load\n"
        "from twinsmith.wiring.journal import journal_of\n"
        "journal = journal_of(load({'TWINSMITH_HOME': sys.argv[1]}))\n"
        "asyncio.run(journal.append(Event(run='r', kind='k', who='w', data={})))\n"
        "print(journal.check('r').path, 'sqlalchemy' in sys.modules)\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / 'journal' / 'runs' / 'r.jsonl'} False\n"


def test_a_writer_suspended_in_the_middle_of_a_line_holds_nobody_up_for_long(
    server: Server,
) -> None:
    """The server ends its transaction; when it wakes, it finds that its line was not kept."""
    asyncio.run(server.journal().append(Event(run="r", kind="first", who="w", data={})))
    begun, woken = threading.Event(), threading.Event()

    def next_line(_end: Anchor) -> str:
        begun.set()
        woken.wait(60)
        return "never kept"

    with ThreadPoolExecutor(1) as thread:
        late = thread.submit(TableChains(server.url).append, "r", "", next_line)
        begun.wait(10)
        asyncio.run(server.journal().append(Event(run="r", kind="second", who="w", data={})))
        woken.set()
        with pytest.raises(DatabaseAway, match="cannot be used"):
            late.result()
    assert [entry.event.kind for entry in server.journal().entries("r")] == ["first", "second"]
    assert server.journal().check("r").broken is None
