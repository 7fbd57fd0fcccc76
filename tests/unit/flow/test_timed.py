"""A step's time, and what is told of steps: the same however often they are replayed."""

import asyncio

import pytest

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.codec import from_json, to_json
from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.model import Reply
from twinsmith.flow.begun import Begun
from twinsmith.flow.timed import Timed, timed

REPLY = Reply(text="x", model="m", tokens_in=1, tokens_out=2)


async def test_what_was_done_in_time_comes_with_its_seconds() -> None:
    clock = ManualClock()

    async def work() -> Reply:
        clock.advance(3)
        return REPLY

    assert await timed(work, most=10, clock=clock) == Timed(value=REPLY, seconds=3.0)


async def test_running_out_of_time_is_a_value_and_charged_whole() -> None:
    ended: list[str] = []

    async def work() -> Reply:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("given up")
        return REPLY

    assert await timed(work, most=0.01, clock=ManualClock()) == Timed(value=None, seconds=0.01)
    assert ended == ["given up"]


async def test_a_time_out_of_the_work_itself_is_not_taken_for_ours() -> None:
    async def work() -> Reply:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await timed(work, most=10, clock=ManualClock())


async def test_who_is_interrupted_has_not_run_out_of_time() -> None:
    async def work() -> Reply:
        await asyncio.sleep(60)
        return REPLY

    asked = asyncio.create_task(timed(work, most=60, clock=ManualClock()))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


@pytest.mark.parametrize("done", [Timed(value=REPLY, seconds=0.5), Timed(value=None, seconds=7.0)])
def test_both_are_remembered_as_what_they_were(done: Timed[Reply]) -> None:
    assert from_json(to_json(done, Timed[Reply]), Timed[Reply]) == done


def test_who_answered_first_does_not_matter() -> None:
    told = []
    for order in (["a", "b", "c"], ["c", "a", "b"]):
        begun = Begun()
        for name in ("a", "b", "c"):
            with begun.step(name):
                pass
        for name in order:
            begun.answered(name, "large" if name == "b" else "small")
        told.append(begun.models)
    assert told == [("small", "large")] * 2


def test_the_first_that_lacked_something_is_told_whoever_said_so_first() -> None:
    begun = Begun()
    assert begun.short == ""
    with begun.step("a"), begun.step("b"):
        pass
    for name in ("b", "a"):
        with pytest.raises(BudgetExceeded), begun.step(name):
            raise BudgetExceeded(f"{name} lacks time")
    assert begun.short == "a lacks time"


async def test_a_budget_that_is_spent_is_a_value_with_its_reason() -> None:
    clock = ManualClock()

    async def refused() -> int:
        clock.advance(2)
        raise BudgetExceeded("the budget 'day 1 usd' is spent")

    done = await timed(refused, most=9, clock=clock)
    assert done == Timed(value=None, seconds=2, why="the budget 'day 1 usd' is spent")


def test_a_step_that_was_recorded_before_reasons_were_can_be_read() -> None:
    assert from_json({"value": 5, "seconds": 1.5}, Timed[int]) == Timed(value=5, seconds=1.5)
