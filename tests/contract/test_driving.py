"""Leases, workers and messages: one contract for SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.durable.driving import DrivingTable
from twinsmith.adapters.durable.workers import WorkerTable
from twinsmith.adapters.messages import MessageTable
from twinsmith.core.driving import Change, Driving, Worker
from twinsmith.core.errors import RunBusy, RunLost

QUEUED = Driving(run="r1", state="queued", pipeline="2", priority="high", node="n", attended=True)
Opened = Callable[[], DrivingTable]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return fresh_url(request, tmp_path)


@pytest.fixture
def opened(url: str) -> Opened:
    """Opens the same leases, each time as another process would."""
    return lambda: DrivingTable(url)


def claim(table: DrivingTable, worker: str, *living: str) -> int:
    return table.claim("r1", worker, pipeline="2", living=living)


def test_what_was_submitted_is_there_for_everybody(opened: Opened) -> None:
    assert opened().submit(QUEUED) == "r1"
    found = opened().get("r1")
    assert found is not None
    assert replace(found, since=0.0) == QUEUED
    assert 0 <= found.since < 5
    assert opened().get("r2") is None


def test_a_key_gives_one_run_however_many_ask_at_once(opened: Opened) -> None:
    def submit(number: int) -> str:
        return opened().submit(replace(QUEUED, run=f"r{number}"), "the key")

    with ThreadPoolExecutor(8) as threads:
        given = set(threads.map(submit, range(8)))
    assert len(given) == 1
    assert [each.run for each in opened().listed()] == [*given]
    assert opened().of_key("the key") in given
    assert opened().of_key("another") == ""
    assert opened().submit(replace(QUEUED, run="r9")) == "r9"
    assert opened().submit(replace(QUEUED, run="r10")) == "r10"


def test_of_many_who_claim_at_once_one_gets_the_run(opened: Opened) -> None:
    opened().submit(QUEUED)
    names = [f"w{number}" for number in range(8)]

    def taken(name: str) -> int:
        try:
            return claim(opened(), name, *names)
        except RunBusy:
            return 0

    with ThreadPoolExecutor(8) as threads:
        fences = list(threads.map(taken, names))
    assert sorted(fences) == [0] * 7 + [1]
    with pytest.raises(RunBusy, match="run r1 is being driven by worker w"):
        claim(opened(), "w9", *names)


def test_whoever_lost_a_run_finds_that_out_and_changes_nothing(opened: Opened) -> None:
    opened().submit(QUEUED)
    first = claim(opened(), "w1", "w1")
    opened().check("r1", first)
    second = claim(opened(), "w2", "w2")
    assert second > first
    with pytest.raises(RunLost, match="run r1 was taken over by another worker"):
        opened().check("r1", first)
    assert not opened().leave("r1", first, "parked")
    opened().check("r1", second)
    assert opened().leave("r1", second, "waiting", topic="t", until="u")
    found = opened().get("r1")
    assert found is not None
    assert (found.state, found.topic, found.until, found.worker) == ("waiting", "t", "u", "w2")


def test_a_change_shuts_the_last_worker_out_and_is_made_once(opened: Opened) -> None:
    opened().submit(QUEUED)
    fence = claim(opened(), "w1", "w1")
    wanted = Change(run="r1", fence=fence, state="queued", pipeline="2", why="gone")
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: opened().change(wanted), range(8)))
    assert sum(made) == 1
    with pytest.raises(RunLost):
        opened().check("r1", fence)


def test_what_was_never_begun_stays_so(opened: Opened) -> None:
    opened().submit(QUEUED)
    assert opened().change(Change(run="r1", fence=0, state="queued", pipeline="3", why="x"))
    found = opened().get("r1")
    assert found is not None
    assert (found.fence, found.pipeline) == (0, "3")


def test_a_run_of_an_earlier_release_can_be_claimed_and_one_be_seized(opened: Opened) -> None:
    fence = claim(opened(), "w1", "w1")
    opened().seize("r1", "ended")
    with pytest.raises(RunLost):
        opened().check("r1", fence)
    assert opened().listed() == ()
    assert [each.state for each in opened().listed(also=["r1", "r7"])] == ["ended"]


def test_a_worker_is_known_by_its_beats_and_forgotten(url: str) -> None:
    table, worker = WorkerTable(url), Worker(name="w1", pipeline="2", serves=True, concurrency=4)
    assert table.listed() == ()
    table.beat(worker)
    table.beat(worker)
    (found,) = WorkerTable(url).listed()
    assert replace(found, silent=0.0) == worker
    assert 0 <= found.silent < 5
    assert found.lives
    table.leave("w1")
    assert table.listed() == ()


def test_the_first_message_about_a_topic_counts(url: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        sent = list(threads.map(lambda n: MessageTable(url).put("r1", "t", {"n": n}), range(8)))
    assert sum(sent) == 1
    table = MessageTable(url)
    assert table.get("r1", "t") == {"n": sent.index(True)}
    assert table.get("r1", "u") is None
    assert table.delivered([("r1", "t"), ("r1", "u"), ("r2", "t")]) == {("r1", "t")}
    assert table.delivered([]) == frozenset()
