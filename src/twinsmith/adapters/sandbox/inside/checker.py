"""Executes one check in a process of its own, where the program is only a name to call."""

from __future__ import annotations

import builtins
import sys

from . import wire
from .remote import Remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Module = type(sys)


class ProgramError(Exception):
    """The program raised something that is not a built-in exception."""


class Items(list[object]):
    """A list from a language without tuples: equal to a tuple or a set of the same items."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return wire.same(self, other)


class Entries(dict[object, object]):
    """A dictionary from a language whose keys came as words."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return wire.same(self, other)


class Functions:
    """The functions of a program, called over a pipe; remembers what the last call gave."""

    def __init__(
        self, requests: int, replies: int, entry: str, *, python: bool, objects: bool
    ) -> None:
        self._requests = requests
        self._replies = replies
        self._python = python
        self._objects = objects
        self.last = ""
        hello = wire.receive(replies)
        if "raised" in hello:
            raise rebuilt(hello)
        self._errors = {
            name: type(str(name), (ProgramError,), {}) for name in hello.get("errors", [])
        }
        values = hello.get("values", {}).items()
        self.names: dict[str, object] = {str(name): self._value(v) for name, v in values}
        classes = hello.get("classes", {})
        for name in hello["functions"]:
            stub: object = self._stub(str(name))
            if objects and name in classes:
                number = int(classes[name])
                stub = self._errors.get(name) or self._remote(number, f"<class {name}>")
            if not python:
                self.names.setdefault(snake(str(name)), stub)
            self.names[str(name)] = stub
        # A check's `abs` is Python's own, whatever the program calls its functions.
        for name in set(vars(builtins)) & set(self.names) - {entry}:
            del self.names[name]

    def _stub(self, name: str) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            self.last = shown(name, args, kwargs)
            request: dict[str, object] = {
                "call": name,
                "args": [self._encoded(arg) for arg in args],
            }
            if kwargs:
                request["kwargs"] = {k: self._encoded(v) for k, v in kwargs.items()}
            return self._sent(request, args)

        call.__name__ = name
        return call

    def _ask(self, request: dict[str, Any], *args: object, **kwargs: object) -> object:
        """Something of an object that the program keeps."""
        args = args or tuple(request.get("args", ()))
        what = request.get("get") or request.get("set") or request["op"]
        self.last = shown(f"object {request['on']} {what}", args, kwargs)
        encoded = {"args": [self._encoded(arg) for arg in args]}
        return self._sent({**request, **encoded}, args)

    def _sent(self, request: dict[str, Any], args: tuple[object, ...]) -> object:
        wire.send(self._requests, request)
        answer = wire.receive(self._replies)
        if "raised" in answer:
            self.last += f" raised {text_of(answer)}"
            raise self._rebuilt(answer)
        for arg, after in zip(args, answer["args"]):  # noqa: B905
            _update(arg, self._value(after))
        value = self._value(answer["value"])
        self.last += f" returned {value!r}"
        return value

    def _rebuilt(self, answer: dict[str, Any]) -> Exception:
        kind = self._errors.get(str(answer["raised"]))
        # As for others that are not Python's own: the words begin with the name.
        return kind(text_of(answer)) if kind else rebuilt(answer)

    def _value(self, data: Any) -> object:
        if not self._python:
            return loose(data)
        return wire.decode(data, 0.0, self._remote if self._objects else None)

    def _remote(self, number: int, text: str) -> Remote:
        return Remote(number, text, self._ask)

    def _encoded(self, value: object) -> object:
        if not self._python:
            return wire.plain(value)
        return wire.encode(value, _number)


class Ran:
    """One run of a command, as a check sees it."""

    def __init__(self, row: dict[str, Any]) -> None:
        if "outcome" in row:
            raise ProgramError(f"{row['outcome']}: {row['detail']}")
        self.stdout: str = row["output"]
        self.stderr: str = row["errors"]
        self.exit_code: int = row["code"]


def check(source: str, setup: str, names: Callable[[], dict[str, Any]], last: Any) -> list[str]:
    """Outcome and detail of one check."""
    try:
        space = names()
        stub = Module("solution")
        stub.__dict__.update(space)
        sys.modules["solution"] = stub
        space = {**space, "__name__": "check"}
        exec(compile(setup, "setup", "exec"), space)
        exec(compile(source, "check", "exec"), space)
    except AssertionError as error:
        said = f" ({error})" if str(error) else ""
        seen = f": {last()}" if last() else ""
        return ["failed", f"{_failing_line(error, source)}{said}{seen}"]
    except wire.BadFrame as error:
        return ["killed", f"the program stopped: {error}"]
    except BaseException as error:
        seen = f"; {last()}" if last() else ""
        own = type(error) is not ProgramError and isinstance(error, ProgramError)
        return ["raised", f"{error}{seen}" if own else f"{type(error).__name__}: {error}{seen}"]
    return ["passed", ""]


def _failing_line(error: BaseException, source: str) -> str:
    """The line of the check that was reached; a function it calls may lie in the setup."""
    lines, number = source.splitlines(), len(source.splitlines())
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "check":
            number = trace.tb_lineno
        trace = trace.tb_next
    return lines[number - 1].strip()


def shown(name: str, args: Any, kwargs: Any = ()) -> str:
    """A call as a person would write it."""
    words = [repr(arg) for arg in args] + [f"{k}={kwargs[k]!r}" for k in kwargs]
    return f"{name}({', '.join(words)})"


def text_of(answer: dict[str, Any]) -> str:
    """What was raised, in one line."""
    return f"{answer['raised']}: {answer.get('message', '')}{answer.get('where', '')}"


def rebuilt(answer: dict[str, Any]) -> Exception:
    """What the program raised, as an exception here."""
    kind = getattr(builtins, str(answer["raised"]), None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text_of(answer).partition(": ")[2])
        except TypeError:
            pass
    return ProgramError(text_of(answer))


def snake(name: str) -> str:
    """HasCloseElements and hasCloseElements as has_close_elements."""
    parts = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return parts.strip("_")


def loose(value: Any) -> Any:
    """A value from another language, where a list may have been meant as a tuple."""
    if isinstance(value, list):
        return Items(loose(item) for item in value)
    if isinstance(value, dict):
        return Entries((k, loose(v)) for k, v in value.items())
    return value


def _number(value: object) -> int:
    """Of an object that the program has; others cannot cross the pipe."""
    if isinstance(value, Remote):
        return int(value._number)
    raise TypeError(f"a check cannot hand over {value!r:.100}")


def _update(arg: object, after: object) -> None:
    if isinstance(arg, (list, bytearray)) and isinstance(after, type(arg)):
        arg[:] = after
    elif isinstance(arg, (dict, set)) and isinstance(after, type(arg)):
        arg.clear()
        arg.update(after)
