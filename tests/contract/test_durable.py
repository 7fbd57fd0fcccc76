"""What every durable engine must do: in memory, on SQLite, on a real PostgreSQL."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from twinsmith.adapters.durable.dbos_engine import DbosEngine, JsonSerializer
from twinsmith.adapters.durable.memory import MemoryDurable
from twinsmith.core.errors import EngineError, RunCancelled
from twinsmith.core.events import Json
from twinsmith.flow.at_once import all_through
from twinsmith.ports import Durable

pytestmark = pytest.mark.xdist_group("durable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A frozen value with a tuple in it: what steps give back."""

    text: str
    parts: tuple[int, ...] = ()


class Engine(Durable, Protocol):
    async def cancel(self, run: str) -> None: ...


class Place:
    """One store, opened by one engine after another as processes come and go."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._records: dict[str, Json] = {}

    @asynccontextmanager
    async def engine(self, pipeline: str = "1") -> AsyncIterator[Engine]:
        if not self.url:
            yield MemoryDurable(self._records)
            return
        engine = DbosEngine(self.url, pipeline)
        try:
            yield engine
        finally:
            engine.close()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    match request.param:
        case "memory":
            yield Place("")
        case "sqlite":
            yield Place(f"sqlite:///{tmp_path}/state.db")
        case _:
            server = request.getfixturevalue("postgres")
            yield Place(f"{server}/contract_{abs(hash(tmp_path.name)) % 10**9}")


def counted(calls: list[str], name: str, value: Made) -> Callable[[], Awaitable[Made]]:
    async def work() -> Made:
        calls.append(name)
        return value

    return work


async def test_values_come_back_as_what_they_were(place: Place) -> None:
    async with place.engine() as engine:

        async def flow() -> Made:
            made = await engine.step("a", counted([], "a", Made(text="é", parts=(1, 2))), Made)
            assert made == Made(text="é", parts=(1, 2))
            return made

        assert await engine.drive("r1", flow, Made) == Made(text="é", parts=(1, 2))


async def test_a_finished_run_gives_its_end_again_and_does_nothing(place: Place) -> None:
    calls: list[str] = []
    for _ in range(2):
        async with place.engine() as engine:

            async def flow(engine: Engine = engine) -> Made:
                calls.append("flow")
                return await engine.step("a", counted(calls, "a", Made(text="x")), Made)

            assert await engine.drive("r1", flow, Made) == Made(text="x")
    assert calls == ["flow", "a"]


async def test_after_a_failure_finished_steps_are_not_done_again(place: Place) -> None:
    calls: list[str] = []
    broken = True

    async def second() -> Made:
        calls.append("b")
        if broken:
            raise EngineError("the world is down")
        return Made(text="b")

    async def attempt() -> Made:
        async with place.engine() as engine:

            async def flow() -> Made:
                await engine.step("a", counted(calls, "a", Made(text="a")), Made)
                return await engine.step("b", second, Made)

            return await engine.drive("r1", flow, Made)

    for _ in range(2):
        with pytest.raises(EngineError, match="the world is down"):
            await attempt()
    broken = False
    assert await attempt() == Made(text="b")
    assert calls == ["a", "b", "b", "b"]


async def test_an_exception_outside_a_step_leaves_the_run_open_too(place: Place) -> None:
    for fails in (True, False):
        async with place.engine() as engine:

            async def flow(engine: Engine = engine, fails: bool = fails) -> Made:
                made = await engine.step("a", counted([], "a", Made(text="a")), Made)
                if fails:
                    raise ZeroDivisionError("a bug")
                return made

            if fails:
                with pytest.raises(ZeroDivisionError, match="a bug"):
                    await engine.drive("r1", flow, Made)
            else:
                assert await engine.drive("r1", flow, Made) == Made(text="a")


async def test_what_the_flow_raises_is_not_taken_for_the_engines_own_trouble(place: Place) -> None:
    async def flow() -> Made:
        raise FileNotFoundError("the flow's own")

    async with place.engine() as engine:
        with pytest.raises(FileNotFoundError, match="the flow's own"):
            await engine.drive("r1", flow, Made)


async def test_a_flow_that_begins_another_step_than_before_cannot_go_on(place: Place) -> None:
    async def attempt(*names: str) -> Made:
        async with place.engine() as engine:

            async def flow() -> Made:
                for name in names:
                    await engine.step(name, counted([], name, Made(text=name)), Made)
                raise EngineError("the world is down")

            return await engine.drive("r1", flow, Made)

    with pytest.raises(EngineError, match="the world is down"):
        await attempt("a", "b")
    with pytest.raises(EngineError, match=r"r1 cannot go on: its step 2 was 'b', now it is 'c'"):
        await attempt("a", "c")
    with pytest.raises(EngineError, match="the world is down"):
        await attempt("a", "b", "c")


async def test_steps_at_once_are_known_by_the_order_in_which_they_began(place: Place) -> None:
    """Whichever comes back first, and whichever was recorded when the run stopped."""
    calls: list[str] = []
    broken = True

    async def attempt() -> list[str]:
        async with place.engine() as engine:

            async def one(n: int) -> Made:
                async def work() -> Made:
                    await asyncio.sleep(0.05 * (3 - n))
                    if n == 1 and broken:
                        await asyncio.sleep(0.2)
                        raise EngineError("the world is down")
                    calls.append(f"at once {n}")
                    return Made(text=str(n))

                return await engine.step(f"at once {n}", work, Made)

            async def flow() -> Made:
                made = await asyncio.gather(*map(one, range(4)))
                return Made(text=" ".join(each.text for each in made))

            return (await engine.drive("r1", flow, Made)).text.split()

    with pytest.raises(EngineError, match="the world is down"):
        await attempt()
    broken = False
    assert await attempt() == ["0", "1", "2", "3"]
    assert sorted(calls) == [f"at once {n}" for n in range(4)]


async def test_what_fails_is_told_once_the_steps_at_the_same_time_are_through(
    place: Place,
) -> None:
    calls: list[str] = []
    broken = True

    async def fails() -> Made:
        if broken:
            raise EngineError("the world is down")
        return Made(text="b")

    async def slow() -> Made:
        await asyncio.sleep(0.3)
        calls.append("slow")
        return Made(text="a")

    async def attempt() -> Made:
        async with place.engine() as engine:

            async def flow() -> Made:
                steps = engine.step("slow", slow, Made), engine.step("fails", fails, Made)
                (made, _), _ = await all_through(steps, [])
                return made

            return await engine.drive("r1", flow, Made)

    with pytest.raises(EngineError, match="the world is down"):
        await attempt()
    assert calls == ["slow"]
    broken = False
    assert await attempt() == Made(text="a")
    assert calls == ["slow"]


async def test_a_cancelled_run_stops_and_stays_stopped(place: Place) -> None:
    calls: list[str] = []

    async def attempt(*, cancel: bool) -> Made:
        async with place.engine() as engine:

            async def flow() -> Made:
                await engine.step("a", counted(calls, "a", Made(text="a")), Made)
                if cancel:
                    await engine.cancel("r1")
                return await engine.step("b", counted(calls, "b", Made(text="b")), Made)

            return await engine.drive("r1", flow, Made)

    for cancel in (True, False):
        with pytest.raises(RunCancelled, match="r1 was cancelled"):
            await attempt(cancel=cancel)
    assert calls == ["a"]


async def test_cancelling_what_never_began_or_has_ended_changes_nothing(place: Place) -> None:
    async with place.engine() as engine:
        await engine.drive("r1", counted([], "a", Made(text="a")), Made)
    async with place.engine() as engine:
        await engine.cancel("r1")
        await engine.cancel("unheard of")
    async with place.engine() as engine:
        assert await engine.drive("r1", counted([], "b", Made(text="b")), Made) == Made(text="a")


async def test_runs_do_not_mix(place: Place) -> None:
    for run in ("r1", "r2"):
        async with place.engine() as engine:

            async def flow(engine: Engine = engine, run: str = run) -> Made:
                return await engine.step("a", counted([], "a", Made(text=run)), Made)

            assert await engine.drive(run, flow, Made) == Made(text=run)


class TestDbos:
    """What only the real engine can get wrong."""

    async def test_an_older_pipelines_run_is_refused_by_name(self, tmp_path: Path) -> None:
        place = Place(f"sqlite:///{tmp_path}/state.db")

        async def broken() -> Made:
            raise EngineError("down")

        async with place.engine("1") as engine:
            with pytest.raises(EngineError, match="down"):
                await engine.drive("r1", broken, Made)
        async with place.engine("2") as engine:
            with pytest.raises(EngineError, match="begun by pipeline 1@r1, this is 2@r1"):
                await engine.drive("r1", broken, Made)

    async def test_records_are_private_readable_json_in_wal_mode(self, tmp_path: Path) -> None:
        async with Place(f"sqlite:///{tmp_path}/state.db").engine() as engine:

            async def flow() -> Made:
                return await engine.step("a", counted([], "a", Made(text="é")), Made)

            await engine.drive("r1", flow, Made)
        assert (tmp_path / "state.db").stat().st_mode & 0o077 == 0
        with sqlite3.connect(tmp_path / "state.db") as db:
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            rows = db.execute("SELECT output, serialization FROM operation_outputs").fetchall()
        db.close()
        assert rows == [('{"text": "é", "parts": []}', "twinsmith_json")]

    async def test_a_database_that_was_left_half_made_is_made_anew(self, tmp_path: Path) -> None:
        with sqlite3.connect(tmp_path / "state.db.new") as half:
            half.execute("CREATE TABLE workflow_status (x)")
        half.close()
        (tmp_path / "state.db.new-wal").write_text("")
        async with Place(f"sqlite:///{tmp_path}/state.db").engine() as engine:
            await engine.drive("r1", counted([], "a", Made(text="a")), Made)
        assert not list(tmp_path.glob("state.db.new*"))

    def test_the_serializer_never_needs_pickle(self) -> None:
        serializer = JsonSerializer()
        assert serializer.deserialize(serializer.serialize({"a": (1, None)})) == {"a": [1, None]}
        assert "ValueError" in serializer.serialize(ValueError("x"))

    async def test_a_database_out_of_reach_is_one_line_without_its_password(self) -> None:
        engine = DbosEngine("postgresql://me:hunter2@127.0.0.1:1/x", "1")
        try:
            with pytest.raises(EngineError, match="the engine cannot use") as error:
                await engine.drive("r1", counted([], "a", Made(text="a")), Made)
        finally:
            engine.close()
        assert "hunter2" not in str(error.value)
        assert "\n" not in str(error.value)

    async def test_a_broken_database_file_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "state.db").write_text("this is not a database, it is a poem" * 100)
        engine = DbosEngine(f"sqlite:///{tmp_path}/state.db", "1")
        try:
            with pytest.raises(EngineError, match="not a database"):
                await engine.drive("r1", counted([], "a", Made(text="a")), Made)
        finally:
            engine.close()
