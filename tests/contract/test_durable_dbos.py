"""What only the real engine can get wrong: its files, its fences, its queue."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from tests.databases import fresh_url
from tests.durable import Made, Place, counted, drive
from twinsmith.adapters.durable.dbos_database import JsonSerializer
from twinsmith.adapters.durable.dbos_queue import DbosQueue
from twinsmith.adapters.durable.driving import DrivingTable
from twinsmith.core.driving import QUEUE, SHELF, priority_of
from twinsmith.core.errors import EngineError, RunLost
from twinsmith.core.events import Json

pytestmark = pytest.mark.xdist_group("durable")


async def test_an_older_pipelines_run_is_refused_by_name(tmp_path: Path) -> None:
    place = Place(f"sqlite:///{tmp_path}/state.db")

    async def broken() -> Made:
        raise EngineError("down")

    async with place.engine("1") as engine:
        with pytest.raises(EngineError, match="down"):
            await drive(engine, "r1", broken, Made)
    async with place.engine("2") as engine:
        with pytest.raises(EngineError, match="begun by pipeline 1, this is 2"):
            await drive(engine, "r1", broken, Made)


async def test_records_are_private_readable_json_in_wal_mode(tmp_path: Path) -> None:
    async with Place(f"sqlite:///{tmp_path}/state.db").engine() as engine:

        async def flow() -> Made:
            return await engine.step("a", counted([], "a", Made(text="é")), Made)

        await drive(engine, "r1", flow, Made)
    assert (tmp_path / "state.db").stat().st_mode & 0o077 == 0
    with sqlite3.connect(tmp_path / "state.db") as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        rows = db.execute("SELECT output, serialization FROM operation_outputs").fetchall()
    db.close()
    assert rows == [('{"text": "é", "parts": []}', "twinsmith_json")]


async def test_a_database_that_was_left_half_made_is_made_anew(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "state.db.new") as half:
        half.execute("CREATE TABLE workflow_status (x)")
    half.close()
    (tmp_path / "state.db.new-wal").write_text("")
    async with Place(f"sqlite:///{tmp_path}/state.db").engine() as engine:
        await drive(engine, "r1", counted([], "a", Made(text="a")), Made)
    assert not list(tmp_path.glob("state.db.new*"))


def test_the_serializer_never_needs_pickle() -> None:
    serializer = JsonSerializer()
    assert serializer.deserialize(serializer.serialize({"a": (1, None)})) == {"a": [1, None]}
    assert "ValueError" in serializer.serialize(ValueError("x"))


async def test_a_database_out_of_reach_is_one_line_without_its_password() -> None:
    engine = Place("postgresql://me:hunter2@127.0.0.1:1/x").dbos()
    try:
        with pytest.raises(EngineError, match="the engine cannot use") as error:
            await drive(engine, "r1", counted([], "a", Made(text="a")), Made)
    finally:
        await engine.close()
    assert "hunter2" not in str(error.value)
    assert "\n" not in str(error.value)


async def test_a_broken_database_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("this is not a database, it is a poem" * 100)
    engine = Place(f"sqlite:///{tmp_path}/state.db").dbos()
    try:
        with pytest.raises(EngineError, match="not a database"):
            await drive(engine, "r1", counted([], "a", Made(text="a")), Made)
    finally:
        await engine.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(fresh_url(request, tmp_path))


async def test_a_worker_that_lost_a_run_does_not_tell_what_it_did(place: Place) -> None:
    done: list[str] = []

    async def taken_over() -> Made:
        done.append("asked")
        # As if it had been suspended here: another worker takes the run meanwhile.
        DrivingTable(place.url).claim("r1", "another", pipeline="1", living=[])
        return Made(text="late")

    async with place.engine() as engine:

        async def flow() -> Made:
            await engine.step("a", taken_over, Made)
            done.append("went on")
            return Made(text="x")

        with pytest.raises(RunLost, match="run r1 was taken over"):
            await drive(engine, "r1", flow, Made)
    known = DrivingTable(place.url).get("r1")
    assert known is not None
    assert (known.worker, known.state) == ("another", "driven")
    assert done == ["asked"]
    calls: list[str] = []
    async with place.engine() as engine:

        async def again() -> Made:
            return await engine.step("a", counted(calls, "a", Made(text="mine")), Made)

        assert await drive(engine, "r1", again, Made) == Made(text="mine")
    assert calls == ["a"]


async def test_a_worker_takes_runs_by_their_priority_and_no_more_than_it_may(place: Place) -> None:
    queue, order, most = DbosQueue(place.url, "1"), [], 0

    async def workflow(run: str, given: Json) -> Json:
        nonlocal most
        order.append(run)
        most = max(most, len(order) - len(ended))
        await asyncio.sleep(0.3)
        ended.append(run)
        return given

    ended: list[str] = []
    for run, priority in (("a", "low"), ("b", "normal"), ("c", "high"), ("d", "normal")):
        await queue.start("echo", run, [run], priority=priority_of(priority))
    # Another version's is left to that one's workers; a second start changes nothing.
    await DbosQueue(place.url, "0").start("echo", "old", None)
    await queue.start("echo", "a", ["again"])
    engine = place.dbos()
    try:
        await engine.open({"echo": workflow}, concurrency=1, at_once=3)
        assert await queue.result("a") == ["a"]
    finally:
        await engine.close()
    assert order == ["c", "b", "d", "a"]
    assert most == 1
    known = await queue.engaged(["a", "old", "nobody"])
    assert {run: each.status for run, each in known.items()} == {"a": "SUCCESS", "old": "ENQUEUED"}


async def test_a_worker_that_leaves_hands_its_runs_over(place: Place) -> None:
    begun, queue = asyncio.Event(), DbosQueue(place.url, "1")

    async def endless(_run: str, _given: Json) -> Json:
        begun.set()
        await asyncio.sleep(60)
        return None

    await queue.start("echo", "r1", None)
    engine = place.dbos()
    await engine.open({"echo": endless}, concurrency=1)
    await asyncio.wait_for(begun.wait(), 20)
    assert engine.busy == {"r1"}
    await engine.close()
    assert engine.busy == frozenset()
    known = DrivingTable(place.url).get("r1")
    assert known is not None
    assert known.state == "queued"
    (engaged,) = (await queue.engaged([])).values()
    assert (engaged.status, engaged.queue) == ("ENQUEUED", QUEUE)


async def test_what_waits_counts_against_no_limit(place: Place) -> None:
    queue = DbosQueue(place.url, "1")

    async def workflow(run: str, _given: Json) -> Json:
        return await engine.receive("t", "2027") if run == "waits" else run

    await queue.start("echo", "waits", None)
    await queue.start("echo", "works", None)
    engine = place.dbos()
    try:
        await engine.open({"echo": workflow}, concurrency=1, at_once=1)
        assert await queue.result("works") == "works"
        (engaged,) = (await queue.engaged([])).values()
        assert (engaged.run, engaged.queue) == ("waits", SHELF)
        known = DrivingTable(place.url).get("waits")
        assert known is not None
        assert (known.state, known.topic, known.until) == ("waiting", "t", "2027")
    finally:
        await engine.close()
