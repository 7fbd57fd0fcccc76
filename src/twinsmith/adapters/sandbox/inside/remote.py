"""Objects of a Python library as a check has them: they stay with the program, calls travel.

What a check expects never travels: whoever hears it could say yes to it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What an operation is called inside the program; the method here has the same name.
OPERATIONS = (
    *("len", "iter", "getitem", "setitem", "delitem", "call"),
    *("bool", "str", "int", "float", "abs", "neg"),
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"),
    *("radd", "rsub", "rmul", "iadd", "isub", "enter", "exit"),
)


_words: list[Callable[[Remote], str]] = []


def shown_as(words: Callable[[Remote], str], write: Callable[[], str]) -> str:
    """What is written when objects go by these words: the program is not asked for its own."""
    _words.append(words)
    try:
        return write()
    finally:
        _words.pop()


class Remote:
    """One object over there; what is asked of it is asked of the program."""

    def __init__(self, number: int, text: str, ask: Callable[[dict[str, Any]], Any]) -> None:
        fields = {"_number": number, "_text": text, "_ask": ask}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask({"on": self._number, "get": name})

    def __setattr__(self, name: str, value: object) -> None:
        self._ask({"on": self._number, "set": name, "args": [value]})

    def __repr__(self) -> str:
        return _words[-1](self) if _words else str(self._text)

    def __contains__(self, item: object) -> bool:
        held: Any = self._ask({"on": self._number, "op": "iter", "args": []})
        return any(each == item for each in held)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and bool(self._compared("eq", other))

    def __hash__(self) -> int:
        return int(self._number)

    def __lt__(self, other: object) -> bool:
        return bool(self._compared("lt", other))

    def __le__(self, other: object) -> bool:
        return bool(self._compared("le", other))

    def __gt__(self, other: object) -> bool:
        return bool(self._compared("gt", other))

    def __ge__(self, other: object) -> bool:
        return bool(self._compared("ge", other))

    def _compared(self, name: str, other: object) -> object:
        """Between two objects of the program only."""
        if not isinstance(other, Remote):
            raise TypeError(f"{self!r} is compared with {other!r:.100}: compare what it holds")
        return self._ask({"on": self._number, "op": name, "args": [other]})


def _operation(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: object) -> Any:
        shown = [None] * len(args) if name == "exit" else list(args)
        return self._ask({"on": self._number, "op": name, "args": shown})

    return method


for _name in OPERATIONS:
    setattr(Remote, f"__{_name}__", _operation(_name))
