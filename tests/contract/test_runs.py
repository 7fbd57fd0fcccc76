"""Records of runs: one contract for the dictionary, SQLite and PostgreSQL."""

import secrets
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.databases import fresh_url
from tests.worlds import job_of
from twinsmith.adapters.durable.runs import MemoryRuns, RunTable
from twinsmith.core.errors import EngineError
from twinsmith.core.run_record import RunRecord
from twinsmith.ports import Runs

FIRST = RunRecord(job=job_of(), by="user:ann", at="2026-11-16T09:00:00+00:00")


def record(run: str, at: str) -> RunRecord:
    return replace(FIRST, job=replace(FIRST.job, run=run), at=at)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Runs]:
    """Opens the same records, each time as another process would."""
    if request.param == "memory":
        only = MemoryRuns()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: RunTable(url)


def test_a_record_is_there_for_everybody(opened: Callable[[], Runs]) -> None:
    opened().save(FIRST)
    assert opened().get(FIRST.job.run) == FIRST
    assert opened().get("nobody") is None


def test_a_record_of_the_same_run_is_replaced(opened: Callable[[], Runs]) -> None:
    opened().save(FIRST)
    later = replace(FIRST, by="user:bob")
    opened().save(later)
    assert opened().listed() == (later,)


def test_they_are_listed_by_their_age(opened: Callable[[], Runs]) -> None:
    young, old = record("a", "2026-11-17"), record("b", "2026-11-16")
    opened().save(young)
    opened().save(old)
    assert opened().listed() == (old, young)


def test_a_record_that_nobody_can_read_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    table = RunTable(f"sqlite:///{path}")
    table.save(FIRST)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE twinsmith_runs SET job = '{}'")
    database.close()
    with pytest.raises(EngineError, match=r"record of run r1 cannot be read .*start a new build"):
        table.get(FIRST.job.run)


def test_many_who_come_first_make_one_table(tmp_path: Path, postgres: str) -> None:
    # The server does not even have the database yet.
    for url in (f"sqlite:///{tmp_path / 'new.db'}", f"{postgres}/new_{secrets.token_hex(4)}"):
        with ThreadPoolExecutor(8) as threads:
            found = threads.map(lambda _, url=url: RunTable(url).listed(), range(8))
        assert list(found) == [()] * 8
