"""A journal read block by block, from files and from PostgreSQL: the same lines, each once."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import psycopg
import pytest

from bench.journals import Levels, Plan, write
from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.journal import file_blocks as of_files
from twinsmith.adapters.journal import table_blocks as of_tables
from twinsmith.adapters.journal.chained import ChainedJournal
from twinsmith.adapters.journal.files import FileJournal
from twinsmith.adapters.journal.table import TableChains
from twinsmith.analysis.changes import drifts_of
from twinsmith.analysis.facts import Facts
from twinsmith.analysis.figures import Only, rows, total, trusts
from twinsmith.core.behaviour.figures import Dimension
from twinsmith.core.blocks import Block, Blocks
from twinsmith.core.events import SYSTEM, Event

Chains = Mapping[str, list[str]]
CALLED = {"role": "coder", "ensemble": 1, "nth": 0, "model": "m:1", "version": "1", "seconds": 1.5}
BY: tuple[Dimension, ...] = ("model", "version", "role", "ensemble", "language", "kind")


@dataclass(frozen=True)
class Kept:
    """A journal that is kept in one way or another."""

    journal: Callable[[], ChainedJournal]
    blocks: Blocks
    put: Callable[[Chains], None]
    """Write lines as they are."""
    drop: Callable[[str, int], None]
    """Cut a chain off behind so many lines, which nobody should."""

    async def tell(self, run: str, kind: str, **data: object) -> None:
        event = Event(run=run, kind=kind, who="w", data=data)  # type: ignore[arg-type]
        await self.journal().append(event)


def in_files(folder: Path) -> Kept:
    def path(chain: str) -> Path:
        return folder / (f"{SYSTEM}.jsonl" if chain == SYSTEM else f"runs/{chain}.jsonl")

    def put(chains: Chains) -> None:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        for chain, lines in chains.items():
            path(chain).write_text("".join(f"{line}\n" for line in lines))

    def drop(chain: str, lines: int) -> None:
        put({chain: path(chain).read_text().splitlines()[:lines]})

    return Kept(
        journal=lambda: FileJournal(folder, ManualClock()),
        blocks=lambda known: of_files.file_blocks(folder, known),
        put=put,
        drop=drop,
    )


def in_tables(url: str) -> Kept:
    TableChains(url).lines(SYSTEM)

    def put(chains: Chains) -> None:
        made = [(c, n, line) for c, lines in chains.items() for n, line in enumerate(lines, 1)]
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            words = "INSERT INTO twinsmith_journal (chain, seq, line) VALUES (%s, %s, %s)"
            cursor.executemany(words, made)

    def drop(chain: str, lines: int) -> None:
        with psycopg.connect(url) as connection:
            words = "DELETE FROM twinsmith_journal WHERE chain = %s AND seq > %s"
            connection.execute(words, (chain, lines))

    return Kept(
        journal=lambda: ChainedJournal(TableChains(url), ManualClock()),
        blocks=of_tables.TableBlocks(url).since,
        put=put,
        drop=drop,
    )


@pytest.fixture(params=["files", "PostgreSQL"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return in_files(tmp_path) if request.param == "files" else database(request)


def database(request: pytest.FixtureRequest) -> Kept:
    server, name = request.getfixturevalue("postgres"), f"blocks_{token_hex(4)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return in_tables(f"{server}/{name}")


def lines_of(blocks: Iterator[Block]) -> dict[str, int]:
    found: dict[str, int] = {}
    for block in blocks:
        found[block.chain] = found.get(block.chain, 0) + len(block.text.splitlines())
    return found


async def test_each_line_is_read_once_however_often_it_is_asked(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_files, "BLOCK_BYTES", 700)
    monkeypatch.setattr(of_tables, "MOST_LINES", 3)
    for run, count in (("one", 7), ("two", 2), (SYSTEM, 4)):
        for n in range(count):
            await kept.tell(run, "k", n=n)
    known: dict[str, int] = {}
    first = list(kept.blocks(known))
    assert len(first) > 3, "no block holds everything"
    assert lines_of(iter(first)) == {"one": 7, "two": 2, SYSTEM: 4}
    known |= {block.chain: block.offset for block in first}
    assert list(kept.blocks(known)) == []
    await kept.tell("two", "k", n=2)
    await kept.tell("three", "k", n=0)
    assert lines_of(kept.blocks(known)) == {"two": 1, "three": 1}


async def test_a_chain_that_lost_lines_is_read_from_its_beginning(kept: Kept) -> None:
    for run in ("one", "two"):
        for _ in range(4):
            await kept.tell(run, "model.replied", **CALLED)
    with closing(Facts()) as facts:
        facts.take(kept.blocks(facts.offsets))
        assert total(facts, Only()).calls.answered == 8
        kept.drop("one", 1)
        blocks = list(kept.blocks(facts.offsets))
        assert {(block.chain, block.anew) for block in blocks} >= {("one", True)}
        facts.take(blocks)
        assert total(facts, Only()).calls.answered == 5
        await kept.tell("two", "model.replied", **CALLED)
        facts.take(kept.blocks(facts.offsets))
        assert total(facts, Only()).calls.answered == 6


async def test_lines_that_were_altered_or_torn_are_left_out_and_counted(kept: Kept) -> None:
    for _ in range(3):
        await kept.tell("one", "model.replied", **CALLED)
    whole = next(iter(kept.blocks({}))).text.decode().splitlines()
    altered = whole[0].replace('"seconds":1.5', '"seconds":900.0')
    assert altered != whole[0]
    kept.put({"two": [altered, whole[1][:-20], "[]", ""]})
    with closing(Facts()) as facts:
        facts.take(kept.blocks(facts.offsets))
        assert total(facts, Only()).calls.answered == 3
        assert total(facts, Only()).calls.whole.mean == 1.5
        read = facts.read
        assert (read.altered, read.torn >= 2) == (1, True)


def test_files_and_a_database_tell_the_same_figures(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """All of them: rows, trust and drifts; whether read at once or in two halves."""
    levels = Levels()
    worse = Levels(seconds=5.0, version="2")
    write(
        Plan(
            shape=lambda day: worse if day > 8 else levels,
            days=14,
            runs=6,
            seed=5,
            folder=tmp_path,
        )
    )
    chains = {path.stem: path.read_text().splitlines() for path in tmp_path.rglob("*.jsonl")}
    tables = database(request)
    names = sorted(chains)
    first, rest = names[: len(names) // 2], names[len(names) // 2 :]
    told = []
    with closing(Facts()) as at_once, closing(Facts()) as in_two:
        at_once.take(of_files.file_blocks(tmp_path, {}))
        for part in (first, rest):
            tables.put({name: chains[name] for name in part})
            in_two.take(tables.blocks(in_two.offsets))
        for facts in (at_once, in_two):
            found = sorted(rows(facts, BY, Only()), key=lambda row: row.key)
            told.append(
                (
                    [(row.key, row.calls.answered, row.calls.tokens_out) for row in found],
                    [(row.work, row.checks, row.part) for row in found],
                    [(each.truth, each.results, each.model) for each in trusts(facts, Only())],
                    drifts_of(facts, "models", ""),
                    facts.read,
                )
            )
    one, other = told
    assert one[:3] == other[:3]
    assert one[4] == other[4]
    assert [(d.figure, d.key, d.day) for d in one[3][0]] == [
        (d.figure, d.key, d.day) for d in other[3][0]
    ]
    assert "seconds per call" in {each.figure for each in one[3][0]}
