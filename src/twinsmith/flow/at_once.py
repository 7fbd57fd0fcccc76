"""Several questions at the same time, all of them seen through, whatever becomes of one."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")


async def all_through(
    asked: Sequence[Coroutine[Any, Any, T]], also: Sequence[Coroutine[Any, Any, U]]
) -> tuple[list[T], list[U]]:
    """The answers to all questions; where one fails, it raises once the others have ended.

    An answer that is on its way is paid: who does not wait for it pays for it again.
    """
    first, second = await asyncio.gather(_ended(asked), _ended(also))
    return _given(first), _given(second)


async def _ended(asked: Sequence[Coroutine[Any, Any, T]]) -> list[T | BaseException]:
    return await asyncio.gather(*asked, return_exceptions=True)


def _given(ended: Sequence[T | BaseException]) -> list[T]:
    given: list[T] = []
    for each in ended:
        if isinstance(each, BaseException):
            raise each
        given.append(each)
    return given
