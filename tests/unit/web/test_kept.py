"""What takes long is asked for now and then."""

import asyncio

import pytest

from twinsmith.web.kept import MOST_KEPT, Kept


class Clock:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


class Source:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self) -> int:
        self.asked += 1
        await asyncio.sleep(0)
        return self.asked


async def test_an_answer_is_kept_for_some_seconds() -> None:
    clock, source = Clock(), Source()
    kept = Kept(clock)
    assert await kept.get("a", source, 10) == 1
    clock.at = 10.0
    assert await kept.get("a", source, 10) == 1
    clock.at = 10.1
    assert await kept.get("a", source, 10) == 2
    assert await kept.get("b", source, 10) == 3


async def test_who_asks_at_the_same_time_gets_the_same_answer() -> None:
    source, kept = Source(), Kept()
    assert await asyncio.gather(*(kept.get("a", source, 10) for _ in range(5))) == [1] * 5


async def test_who_fails_is_asked_anew_and_what_changed_is_forgotten() -> None:
    source, kept = Source(), Kept()

    async def fails() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await kept.get("a", fails, 10)
    assert await kept.get("a", source, 10) == 1
    kept.forget()
    assert await kept.get("a", source, 10) == 2


async def test_no_more_is_kept_than_there_is_room_for() -> None:
    source, kept = Source(), Kept()
    for number in range(MOST_KEPT + 1):
        await kept.get(number, source, 10)
    await kept.get(0, source, 10)
    assert source.asked == MOST_KEPT + 2
