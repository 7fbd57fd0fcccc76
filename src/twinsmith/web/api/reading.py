"""Lists in pages: a cursor names the last one that was seen, so that nothing is seen twice."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

T = TypeVar("T")
Most = Annotated[int, Query(ge=1, le=500)]
Cursor = Annotated[str, Query(max_length=200)]


def page_of(
    found: Sequence[T], cursor: str, most: int, name: Callable[[T], str]
) -> tuple[list[T], str]:
    """The next items behind a cursor, and the cursor behind them; empty: there are no more.

    Items are in falling order of their names, so a cursor whose item is gone still has its place.
    """
    rest = [each for each in found if not cursor or name(each) < cursor]
    shown = list(rest[:most])
    return shown, name(shown[-1]) if len(rest) > most else ""
