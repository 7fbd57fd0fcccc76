"""Values and frames as they cross a pipe: JSON, never pickle; what comes back is data."""

from __future__ import annotations

import posix as os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

LARGEST_FRAME = 4 << 20
LONGEST_ITERATOR = 10_000


class BadFrame(Exception):
    """A message through the pipe that cannot be read."""


class Opaque:
    """A value that cannot cross the pipe; equal to nothing but itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class Iterated:
    """The items of an iterator, which came one by one or would have."""

    def __init__(self, items: list[object]) -> None:
        self._items = items
        self._rest = iter(items)

    def __iter__(self) -> Iterated:
        return self

    def __next__(self) -> object:
        return next(self._rest)

    def __repr__(self) -> str:
        return f"iter({self._items!r})"


class _Scanning:
    """The settings that the C scanner of `json` asks for; importing `json` itself takes 6 ms."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def _json() -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    try:
        from _json import encode_basestring_ascii, make_encoder, make_scanner

        context: Any = _Scanning()
        nobody: Any = None
        scan = make_scanner(context)
        encode = make_encoder(
            None, nobody, encode_basestring_ascii, None, ": ", ", ", False, False, True
        )

        def dumps(value: Any) -> str:
            return "".join(encode(value, 0))

        def loads(text: str) -> Any:
            value, end = scan(text, 0)
            return value if not text[end:].strip() else _nothing()

        if loads(dumps([1, "é", None, 0.5])) == [1, "é", None, 0.5]:
            return dumps, loads
    except (ImportError, TypeError, ValueError, StopIteration):
        pass
    import json

    return json.dumps, json.loads


dumps, _loads = _json()


def _nothing() -> Any:
    raise ValueError("more than one value")


def loads(text: str) -> Any:
    """The JSON value in a text; ValueError where it holds none."""
    try:
        return _loads(text)
    except (StopIteration, RecursionError):
        raise ValueError("not JSON") from None


def encode(value: object, keep: Callable[[object], int] | None = None) -> object:
    """A value as JSON, with a tag where JSON has no word for it.

    An object that cannot cross the pipe is kept where it is, and its number crosses.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 1 << 53 else {"$": "int", "v": hex(value)}
    if isinstance(value, float):
        return {"$": "float", "v": value.hex()}
    if isinstance(value, complex):
        return {"$": "complex", "v": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, list):
        return [encode(item, keep) for item in value]
    if isinstance(value, (tuple, set, frozenset)):
        tag = next(t.__name__ for t in (tuple, set, frozenset) if isinstance(value, t))
        return {"$": tag, "v": [encode(item, keep) for item in value]}
    if isinstance(value, dict):
        return {"$": "dict", "v": [[encode(k, keep), encode(v, keep)] for k, v in value.items()]}
    if isinstance(value, (bytes, bytearray)):
        return {"$": type(value).__name__, "v": value.hex()}
    if hasattr(value, "__next__"):
        items = [item for item, _ in zip(value, range(LONGEST_ITERATOR))]  # type: ignore[call-overload]  # noqa: B905
        return {"$": "iterator", "v": [encode(item, keep) for item in items]}
    return _foreign(value, keep)


def _foreign(value: object, keep: Callable[[object], int] | None) -> object:
    try:
        text = f"<{type(value).__name__} {repr(value)[:200]}>"
    except Exception:
        text = f"<{type(value).__name__} object>"
    if keep is None:
        return {"$": "opaque", "v": text}
    return {"$": "object", "v": [keep(value), text]}


def decode(
    data: Any, until: float = 0.0, find: Callable[[int, str], object] | None = None
) -> object:
    """The value that JSON with tags means; BadFrame when decoding is not over by `until`."""
    if isinstance(data, list):
        return [decode(item, until, find) for item in data]
    if not isinstance(data, dict):
        return data
    tag, v = data["$"], data["v"]

    def again(item: Any) -> Any:
        return decode(item, until, find)

    makers: dict[str, Callable[[], object]] = {
        "int": lambda: int(v, 16),
        "float": lambda: float.fromhex(v),
        "complex": lambda: complex(float.fromhex(v[0]), float.fromhex(v[1])),
        "tuple": lambda: tuple(again(item) for item in v),
        "set": lambda: {again(item) for item in _timed(v, until)},
        "frozenset": lambda: frozenset(again(item) for item in _timed(v, until)),
        "dict": lambda: {again(k): again(i) for k, i in _timed(v, until)},
        "bytes": lambda: bytes.fromhex(v),
        "bytearray": lambda: bytearray.fromhex(v),
        "iterator": lambda: Iterated([again(item) for item in v]),
        "opaque": lambda: Opaque(str(v)),
        "object": lambda: find(int(v[0]), str(v[1])) if find else Opaque(str(v[1])),
    }
    return makers[tag]()


def _timed(items: list[Any], until: float) -> Iterator[Any]:
    for item in items:
        if until and time.monotonic() > until:
            raise BadFrame("its answer takes too long to read")
        yield item


def plain(value: object) -> object:
    """A value as other languages have it: tuples and sets are lists, keys are words."""
    if isinstance(value, dict):
        return {k if isinstance(k, str) else dumps(plain(k)): plain(v) for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return list(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return repr(value)


def same(given: object, expected: object) -> bool:
    """Whether a value of another language is the one expected in Python's words."""
    if isinstance(expected, (set, frozenset)) and isinstance(given, list):
        return sorted(map(plain, given), key=repr) == plain(expected)
    return bool(plain(given) == plain(expected))


def frame(message: object) -> bytes:
    """One message: its length in four bytes, then JSON."""
    body = dumps(message).encode("utf-8", "surrogatepass")
    return len(body).to_bytes(4, "big") + body


def frames(buffer: bytearray) -> Iterator[dict[str, Any]]:
    """The whole messages at the beginning of a buffer, which are removed from it."""
    while len(buffer) >= 4:
        size = int.from_bytes(buffer[:4], "big")
        if size > LARGEST_FRAME:
            raise BadFrame("its answer is too large")
        if len(buffer) < 4 + size:
            return
        message = _message(bytes(buffer[4 : 4 + size]))
        del buffer[: 4 + size]
        yield message


def send(fd: int, message: object) -> None:
    """Write one message, however long that takes."""
    view = memoryview(frame(message))
    while view:
        view = view[os.write(fd, view) :]


def receive(fd: int, most: int = LARGEST_FRAME) -> dict[str, Any]:
    """The next message; BadFrame when the other side is gone or talks nonsense."""
    size = int.from_bytes(_exactly(fd, 4), "big")
    if size > most:
        raise BadFrame("its answer is too large")
    return _message(_exactly(fd, size))


def _message(body: bytes) -> dict[str, Any]:
    try:
        message = loads(body.decode("utf-8", "surrogatepass"))
    except ValueError:
        raise BadFrame("its answer cannot be read") from None
    if not isinstance(message, dict):
        raise BadFrame("its answer cannot be read")
    return message


def _exactly(fd: int, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = os.read(fd, min(size - len(parts), 1 << 20))
        if not part:
            raise BadFrame("it ended before it answered")
        parts += part
    return bytes(parts)
