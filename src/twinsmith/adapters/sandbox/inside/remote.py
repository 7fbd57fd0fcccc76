"""Stand-ins for objects of a Python library in a check: the objects stay with the program.

What a check expects never travels: whoever hears it could say yes to it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

# What an operation is called inside the program; the method here has the same name.
OPERATIONS = (
    *("len", "iter", "reversed", "getitem", "setitem", "delitem", "contains", "call", "enter"),
    *("bool", "str", "int", "float", "format", "abs", "neg", "pos", "invert", "round", "divmod"),
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"),
    *("lshift", "rshift", "iadd", "isub", "imul", "iand", "ior", "delattr"),
    *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rand", "ror", "rxor"),
)
_words: list[Callable[[Remote], str]] = []


def shown_as(words: Callable[[Remote], str], write: Callable[[], T]) -> T:
    """The text that `write` gives while stand-ins are shown by these words, not by their repr."""
    _words.append(words)
    try:
        return write()
    finally:
        _words.pop()


class Remote:
    """The stand-in for one object of the program; every operation on it is sent to the program."""

    def __init__(self, number: int, text: str, ask: Callable[..., Any]) -> None:
        fields = {"_number": number, "_text": text, "_ask": ask}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask({"on": self._number, "get": name})

    def __setattr__(self, name: str, value: object) -> None:
        self._ask({"on": self._number, "set": name}, value)

    def __repr__(self) -> str:
        if _words:
            return _words[-1](self)
        return str(self._ask({"on": self._number, "op": "repr"}))

    def __hash__(self) -> int:
        return int(self._ask({"on": self._number, "op": "hash"}))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and bool(self._compared("eq", other))

    def __lt__(self, other: object) -> bool:
        return bool(self._compared("lt", other))

    def __le__(self, other: object) -> bool:
        return bool(self._compared("le", other))

    def __gt__(self, other: object) -> bool:
        return bool(self._compared("gt", other))

    def __ge__(self, other: object) -> bool:
        return bool(self._compared("ge", other))

    def __instancecheck__(self, other: object) -> bool:
        return isinstance(other, Remote) and bool(self._compared("isinstance", other))

    def __subclasscheck__(self, other: object) -> bool:
        return isinstance(other, Remote) and bool(self._compared("issubclass", other))

    def __exit__(self, kind: type[BaseException] | None, error: object, _: object) -> Any:
        told = [kind.__name__, str(error)] if kind else []
        return self._ask({"on": self._number, "op": "exit"}, *told)

    def _compared(self, name: str, other: object) -> object:
        """Compare two objects of the program; TypeError where the other is not the program's."""
        if not isinstance(other, Remote):
            raise TypeError(f"{self._text} is compared with {other!r:.100}: compare what it holds")
        return self._ask({"on": self._number, "op": name}, other)


def _operation(name: str) -> Callable[..., Any]:
    def method(self: Any, /, *args: object, **kwargs: object) -> Any:
        return self._ask({"on": self._number, "op": name}, *args, **kwargs)

    return method


for _name in OPERATIONS:
    setattr(Remote, f"__{_name}__", _operation(_name))
