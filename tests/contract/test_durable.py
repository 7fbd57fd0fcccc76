"""What every durable engine must do: in memory, on SQLite, on a real PostgreSQL."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durable import Engine, Made, Place, counted, drive
from twinsmith.core.errors import EngineError, RunCancelled, Waiting
from twinsmith.core.events import Json
from twinsmith.flow.at_once import all_through

pytestmark = pytest.mark.xdist_group("durable")


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


async def test_values_come_back_as_what_they_were(place: Place) -> None:
    async with place.engine() as engine:

        async def flow() -> Made:
            made = await engine.step("a", counted([], "a", Made(text="é", parts=(1, 2))), Made)
            assert made == Made(text="é", parts=(1, 2))
            return made

        assert await drive(engine, "r1", flow, Made) == Made(text="é", parts=(1, 2))


async def test_a_finished_run_gives_its_end_again_and_does_nothing(place: Place) -> None:
    calls: list[str] = []
    for _ in range(2):
        async with place.engine() as engine:

            async def flow(engine: Engine = engine) -> Made:
                calls.append("flow")
                return await engine.step("a", counted(calls, "a", Made(text="x")), Made)

            assert await drive(engine, "r1", flow, Made) == Made(text="x")
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

            return await drive(engine, "r1", flow, Made)

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
                    await drive(engine, "r1", flow, Made)
            else:
                assert await drive(engine, "r1", flow, Made) == Made(text="a")


async def test_what_the_flow_raises_is_not_taken_for_the_engines_own_trouble(place: Place) -> None:
    async def flow() -> Made:
        raise FileNotFoundError("the flow's own")

    async with place.engine() as engine:
        with pytest.raises(FileNotFoundError, match="the flow's own"):
            await drive(engine, "r1", flow, Made)


async def test_a_flow_that_begins_another_step_than_before_cannot_go_on(place: Place) -> None:
    async def attempt(*names: str) -> Made:
        async with place.engine() as engine:

            async def flow() -> Made:
                for name in names:
                    await engine.step(name, counted([], name, Made(text=name)), Made)
                raise EngineError("the world is down")

            return await drive(engine, "r1", flow, Made)

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

            return (await drive(engine, "r1", flow, Made)).text.split()

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

            return await drive(engine, "r1", flow, Made)

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
                    await place.cancel("r1")
                return await engine.step("b", counted(calls, "b", Made(text="b")), Made)

            return await drive(engine, "r1", flow, Made)

    for cancel in (True, False):
        with pytest.raises(RunCancelled, match="r1 was cancelled"):
            await attempt(cancel=cancel)
    assert calls == ["a"]


async def test_cancelling_what_never_began_or_has_ended_changes_nothing(place: Place) -> None:
    async with place.engine() as engine:
        await drive(engine, "r1", counted([], "a", Made(text="a")), Made)
    await place.cancel("r1")
    await place.cancel("unheard of")
    async with place.engine() as engine:
        assert await drive(engine, "r1", counted([], "b", Made(text="b")), Made) == Made(text="a")


async def test_runs_do_not_mix(place: Place) -> None:
    for run in ("r1", "r2"):
        async with place.engine() as engine:

            async def flow(engine: Engine = engine, run: str = run) -> Made:
                return await engine.step("a", counted([], "a", Made(text=run)), Made)

            assert await drive(engine, run, flow, Made) == Made(text=run)


async def test_a_message_is_waited_for_without_a_process(place: Place) -> None:
    calls: list[str] = []

    async def attempt() -> str:
        async with place.engine() as engine:

            async def flow() -> str:
                await engine.step("a", counted(calls, "a", Made(text="a")), Made)
                return json.dumps(await engine.receive("colour", "2026-11-18T10:00:00"))

            return await drive(engine, "r1", flow, str)

    for _ in range(2):
        with pytest.raises(Waiting, match="r1 waits until 2026-11-18T10:00") as waiting:
            await attempt()
        assert (waiting.value.topic, waiting.value.until[:10]) == ("colour", "2026-11-18")
    async with place.engine() as engine:
        assert await engine.send("r1", "colour", {"text": "grün"})
        assert not await engine.send("r1", "colour", {"text": "red"})
        assert await engine.send("r2", "colour", "another run's")
    for _ in range(2):
        assert json.loads(await attempt()) == {"text": "grün"}
    assert calls == ["a"]


async def test_once_its_time_is_over_a_message_comes_too_late(place: Place) -> None:
    async def attempt() -> str:
        async with place.engine() as engine:

            async def flow() -> str:
                return json.dumps(await engine.receive("colour", "2026-11-18T10:00:00"))

            return await drive(engine, "r1", flow, str)

    with pytest.raises(Waiting):
        await attempt()
    place.clock.at = "2026-11-18T10:00:00.000001"
    assert await attempt() == "null"
    async with place.engine() as engine:
        assert not await engine.send("r1", "colour", "blue")
    assert await attempt() == "null"


async def test_a_run_keeps_the_input_that_it_was_begun_with(place: Place) -> None:
    seen: list[Json] = []

    async def attempt(given: Json, *, fails: bool) -> Json:
        async def workflow(run: str, kept: Json) -> Json:
            seen.append([run, kept])
            if fails:
                raise EngineError("the world is down")
            return kept

        async with place.engine() as engine:
            await engine.open({"echo": workflow})
            return await engine.drive("echo", "r1", given)

    with pytest.raises(EngineError, match="the world is down"):
        await attempt({"n": 1}, fails=True)
    assert await attempt({"n": 2}, fails=False) == {"n": 1}
    assert seen == [["r1", {"n": 1}]] * 2
