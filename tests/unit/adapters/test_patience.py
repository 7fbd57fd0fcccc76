import asyncio
import random

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.models.patience import (
    FAILURES_TO_OPEN,
    LONGEST_WAIT,
    OPEN_SECONDS,
    Breaker,
    Pace,
    wait_before,
)

CHANCE = random.Random(1)


def test_waits_grow_with_jitter_up_to_a_limit() -> None:
    for attempt, most in ((0, 0.5), (1, 1.0), (3, 4.0), (20, LONGEST_WAIT)):
        waits = {wait_before(attempt, None, CHANCE) for _ in range(50)}
        assert len(waits) > 10
        assert all(wait is not None and most / 2 <= wait <= most for wait in waits)


def test_a_server_that_asks_for_time_gets_it_unless_it_asks_for_too_much() -> None:
    assert wait_before(0, 7.0, CHANCE) == 7.0
    assert wait_before(0, LONGEST_WAIT + 1, CHANCE) is None


def test_a_breaker_opens_after_failures_in_a_row_and_lets_one_try_later() -> None:
    breaker = Breaker()
    for now in range(FAILURES_TO_OPEN):
        assert breaker.closed(now)
        breaker.failed(now)
    assert not breaker.closed(FAILURES_TO_OPEN)
    later = FAILURES_TO_OPEN + OPEN_SECONDS
    assert breaker.closed(later)
    assert not breaker.closed(later + 1)
    breaker.succeeded()
    assert breaker.closed(later + 1)
    assert breaker.closed(later + 1)


async def test_a_pace_bounds_questions_at_once_and_a_minute() -> None:
    clock = ManualClock()
    pace = Pace(at_once=2, per_minute=60, clock=clock)
    inside, most = 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with pace.turn():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(10)))
    assert most == 2
    assert clock.seconds() >= 9
