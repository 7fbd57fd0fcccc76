"""Core values to JSON and back, checked on the way in."""

from typing import Any, TypeVar

from pydantic import TypeAdapter

from twinsmith.core.events import Json

T = TypeVar("T")

_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def to_json(value: T, kind: type[T]) -> Json:
    """A value as JSON data."""
    data: Json = _adapter(kind).dump_python(value, mode="json")
    return data


def from_json(data: object, kind: type[T]) -> T:
    """The value that `to_json` was given; ValueError when the data does not fit."""
    return _adapter(kind).validate_python(data)


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    # Building one takes a millisecond; there is one a type for the life of the process.
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
