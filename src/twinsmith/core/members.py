"""The members of JSON objects, each read as the type it should have: other types count as absent.

A line of the journal may come from an earlier or a later version, so nothing in it is sure.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from twinsmith.core.events import Json

Object = Mapping[str, Json]
LONGEST_NAME = 9
"""The most digits that the name of a numbered member may have."""
LARGEST = 10**15
"""From here on a number is none that twinsmith ever tells."""
_NOTHING: Object = {}


def text(data: Object, name: str) -> str:
    """A text; empty where the member is none."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def flag(data: Object, name: str) -> bool:
    """Whether a member is the value true."""
    return data.get(name) is True


def whole(data: Object, name: str) -> int | None:
    """A whole number; None where the member is none."""
    value = data.get(name)
    return value if _is_whole(value) else None


def number(data: Object, name: str, default: float = 0.0) -> float:
    """A finite number, or the default where the member is none."""
    value = data.get(name)
    return _finite(value, default)


def items(data: Object, name: str) -> list[Json]:
    """The items of a list; none where the member is no list."""
    value = data.get(name)
    return value if isinstance(value, list) else []


def texts(data: Object, name: str) -> tuple[str, ...]:
    """The texts in a list."""
    return tuple(each for each in items(data, name) if isinstance(each, str))


def wholes(value: Json) -> tuple[int, ...]:
    """The whole numbers in a list."""
    return tuple(each for each in value if _is_whole(each)) if isinstance(value, list) else ()


def numbers(value: Json) -> tuple[float, ...]:
    """The items of a list as numbers; what is none counts as 0."""
    return tuple(_finite(each, 0.0) for each in value) if isinstance(value, list) else ()


def objects(data: Object, name: str) -> Iterator[Object]:
    """The objects in a list."""
    return (each for each in items(data, name) if isinstance(each, dict))


def member(data: Object, name: str) -> Object:
    """An object; an empty one where the member is none."""
    value = data.get(name)
    return value if isinstance(value, dict) else _NOTHING


def numbered(data: Object, name: str) -> Iterator[tuple[int, Json]]:
    """The members of an object whose names are numbers: `{"1": …}`."""
    for key, value in member(data, name).items():
        if key.isdecimal() and len(key) <= LONGEST_NAME:
            yield int(key), value


def _is_whole(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST


def _finite(value: Json, default: float) -> float:
    if _is_whole(value):
        return float(value)
    return value if isinstance(value, float) and math.isfinite(value) else default
