"""The checker: executes one check in its own process, where the program is only a name to call."""

from __future__ import annotations

import _thread
import builtins
import sys

from . import wire
from .remote import Remote, shown_as
from .transcript import placeless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .transcript import Transcript

Module = type(sys)
# How the texts of what has to be called begin.
METHODS = ("<method ", "<function ", "<builtin_function_or_method ", "<type ")


class ProgramError(Exception):
    """An exception of the program that is not a built-in one."""

    def __str__(self) -> str:
        # As it came, even where it is a KeyError as well, which puts it in quotes.
        return str(self.args[0]) if self.args else ""


class KeyMissing(KeyError):
    """A KeyError of the program, whose words are in quotes already."""

    __str__ = ProgramError.__str__


class Items(list[object]):
    """A list from a language without tuples: equal to a tuple or a set of the same items."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return wire.same(self, other)


class Entries(dict[object, object]):
    """A dictionary from a language whose keys came as words: equal to one with the keys meant."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return wire.same(self, other)


class Functions:
    """The functions of a program, called over a pipe; each call and its result is written down."""

    def __init__(
        self,
        requests: int,
        replies: int,
        transcript: Transcript,
        *,
        python: bool,
        objects: bool,
    ) -> None:
        self._requests = requests
        self._replies = replies
        self._transcript = transcript
        self._python = python
        self._objects = objects
        self._hello = wire.receive(replies)
        if "raised" in self._hello:
            raise rebuilt(self._hello)
        self._errors = _errors(self._hello.get("errors", {}))
        self._classes: dict[str, int] = self._hello.get("classes", {})
        self._remotes: dict[int, Remote] = {}
        self._count: dict[str, int] = {}
        self._called: dict[int, str] = {number: name for name, number in self._classes.items()}
        # Classes, and what was got from one; what they give is what a check asked for by name.
        self._makers = set(self._called)
        self._made: set[int] = set()
        self._lock = _thread.allocate_lock()

    def names(self, entry: str) -> dict[str, object]:
        """The names that a check can use; a built-in's only where the check is about it."""
        values = self._hello.get("values", {}).items()
        names: dict[str, object] = {str(name): self._value(v) for name, v in values}
        for name in self._hello["functions"]:
            stub: object = self._errors.get(name) or self._stub(str(name))
            if self._objects and name in self._classes and name not in self._errors:
                stub = self._remote(int(self._classes[name]), f"<class {name}>")
            if not self._python:
                names.setdefault(snake(str(name)), stub)
            names[str(name)] = stub
        # A check's `abs` is Python's own, whatever the program calls its functions.
        for name in set(vars(builtins)) & set(names) - {entry}:
            del names[name]
        return names

    def _stub(self, name: str) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            return self._sent(self._shown(name, args, kwargs), {"call": name}, args, kwargs)

        call.__name__ = name
        return call

    def _ask(self, request: dict[str, Any], /, *args: object, **kwargs: object) -> object:
        """The result of an operation on an object that the program keeps."""
        on, op = request["on"], request.get("op")
        if op == "hash":
            # Asked by sets and dictionaries, not by the check.
            return self._value(self._answer(request)["value"])
        if op == "contains" and on not in self._made:
            # It could be one that says yes to everything; what it holds is looked at here.
            held: Any = self._ask({**request, "op": "iter"})
            return any(each == args[0] for each in held)
        value = self._sent(self._said(request, args, kwargs), request, args, kwargs)
        if on in self._makers and isinstance(value, Remote):
            (self._made if op == "call" else self._makers).add(value._number)
        return value

    def _sent(
        self, said: str, request: dict[str, Any], args: Any, kwargs: dict[str, object]
    ) -> object:
        self._transcript.last = said
        request = {**request, "args": [self._encoded(arg) for arg in args]}
        if kwargs:
            request["kwargs"] = {k: self._encoded(v) for k, v in kwargs.items()}
        answer = self._answer(request, said)
        for arg, after in zip(args, answer["args"]):  # noqa: B905
            _update(arg, self._value(after))
        for name, after in answer.get("kwargs", {}).items():
            _update(kwargs[name], self._value(after))
        value = self._value(answer["value"])
        if "get" in request and isinstance(value, Remote) and value._text.startswith(METHODS):
            # Half of a call: the other half is what is told.
            self._called[value._number] = said
        else:
            self._transcript.add(said, "returned", placeless(self._written(value, self._name)))
        self._transcript.last = f"{said} returned {self._written(value, lambda r: r._text)}"
        return value

    def _answer(self, request: dict[str, Any], said: str = "") -> dict[str, Any]:
        """The program's answer to a request; an exception in it is raised here."""
        with self._lock:
            wire.send(self._requests, request)
            answer = wire.receive(self._replies)
        if "raised" in answer:
            if said:
                self._transcript.add(said, "raised", str(answer["raised"]))
                self._transcript.last = f"{said} raised {text_of(answer)}"
            raise self._rebuilt(answer)
        return answer

    def _said(self, request: dict[str, Any], args: Any, kwargs: dict[str, object]) -> str:
        """An operation on an object, as a person would write it."""
        thing = self._name(self._remotes[request["on"]])
        if "get" in request:
            return f"{thing}.{request['get']}"
        if "set" in request:
            return f"{thing}.{request['set']} = {self._written(args[0], self._name)}"
        if request["op"] == "call":
            return self._shown(thing, args, kwargs)
        return self._shown(request["op"], (self._remotes[request["on"]], *args), kwargs)

    def _shown(self, name: str, args: Any, kwargs: dict[str, object]) -> str:
        return shown_as(self._name, lambda: shown(name, args, kwargs))

    def _written(self, value: object, words: Callable[[Remote], str]) -> str:
        return shown_as(words, lambda: written(value))

    def _name(self, thing: Remote) -> str:
        """The name of an object in transcripts: its class and a number.

        The same for every program, however it writes its objects itself.
        """
        kind = thing._text[1:].partition(" ")[0]
        if thing._number not in self._called and kind in self._classes:
            self._count[kind] = self._count.get(kind, 0) + 1
            self._called[thing._number] = f"{kind}#{self._count[kind]}"
        return str(self._called.get(thing._number, thing._text))

    def _rebuilt(self, answer: dict[str, Any]) -> Exception:
        return rebuilt(answer, self._errors.get(str(answer["raised"])))

    def _value(self, data: Any) -> object:
        if not self._python:
            return loose(data)
        return wire.decode(data, 0.0, self._remote if self._objects else None)

    def _remote(self, number: int, text: str) -> Remote:
        """The stand-in for the object with a number, always the same one, with its latest text."""
        thing = self._remotes.setdefault(number, Remote(number, text, self._ask))
        object.__setattr__(thing, "_text", text)
        return thing

    def _encoded(self, value: object) -> object:
        if not self._python:
            return wire.plain(value)
        return shown_as(self._name, lambda: wire.encode(value, _number))


class Ran:
    """The result of one run of a command, as a check sees it."""

    def __init__(self, row: dict[str, Any]) -> None:
        if "outcome" in row:
            raise ProgramError(f"{row['outcome']}: {row['detail']}")
        self.stdout: str = row["output"]
        self.stderr: str = row["errors"]
        self.exit_code: int = row["code"]


def check(
    source: str, setup: str, names: Callable[[], dict[str, Any]], transcript: Transcript
) -> list[str]:
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
        seen = f": {transcript.last}" if transcript.last else ""
        return ["failed", f"{_failing_line(error, source)}{said}{seen}"]
    except wire.BadFrame as error:
        return ["killed", f"the program stopped: {error}"]
    except BaseException as error:
        seen = f"; {transcript.last}" if transcript.last else ""
        told = getattr(error, "told", None) or f"{type(error).__name__}: {error}"
        return ["raised", f"{told}{seen}"]
    return ["passed", ""]


def _failing_line(error: BaseException, source: str) -> str:
    """The line of the check at which it failed, also where the error is in a function it calls."""
    lines, number = source.splitlines(), len(source.splitlines())
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "check":
            number = trace.tb_lineno
        trace = trace.tb_next
    return lines[number - 1].strip()


def shown(name: str, args: Any, kwargs: Any = ()) -> str:
    """A call as a person would write it."""
    words = [written(arg) for arg in args] + [f"{k}={written(kwargs[k])}" for k in kwargs]
    return f"{name}({', '.join(words)})"


def written(value: object) -> str:
    """A value as a Python literal; one that cannot be written, by its type."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def text_of(answer: dict[str, Any]) -> str:
    """The exception in a program's answer, in one line."""
    return f"{answer['raised']}: {answer.get('message', '')}{answer.get('where', '')}"


def rebuilt(answer: dict[str, Any], kind: type[Exception] | None = None) -> Exception:
    """The exception in a program's answer, rebuilt as one that can be raised here."""
    kind = kind or getattr(builtins, str(answer["raised"]), None)
    kind = KeyMissing if kind is KeyError else kind
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = ProgramError
    error: Any
    try:
        error = kind(str(answer.get("message", "")))
    except TypeError:
        error = ProgramError(str(answer.get("message", "")))
    error.told = text_of(answer)
    return error  # type: ignore[no-any-return]


def snake(name: str) -> str:
    """A name in snake case: HasCloseElements and hasCloseElements as has_close_elements."""
    parts = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return parts.strip("_")


def loose(value: Any) -> Any:
    """A value from another language, where a list may have been meant as a tuple."""
    if isinstance(value, list):
        return Items(loose(item) for item in value)
    if isinstance(value, dict):
        return Entries((k, loose(v)) for k, v in value.items())
    return value


def _errors(bases: dict[str, list[str]]) -> dict[str, type[ProgramError]]:
    """Classes for the program's own exceptions, with the bases that a check could catch."""
    made: dict[str, type[ProgramError]] = {}

    def make(name: str) -> type[ProgramError]:
        if name not in made:
            own = [make(base) for base in bases[name] if base in bases]
            known = [getattr(builtins, str(base), None) for base in bases[name]]
            others = [b for b in known if isinstance(b, type) and issubclass(b, Exception)]
            try:
                every: Any = (*(own or [ProgramError]), *(b for b in others if b is not Exception))
                made[name] = type(str(name), every, {})
            except TypeError:
                made[name] = type(str(name), (ProgramError,), {})
        return made[name]

    return {name: make(name) for name in bases}


def _number(value: object) -> int:
    """The number of an object that the program keeps; other objects cannot cross the pipe."""
    if isinstance(value, Remote):
        return int(value._number)
    raise TypeError(f"a check cannot hand over {value!r:.100}")


def _update(arg: object, after: object) -> None:
    if isinstance(arg, (list, bytearray)) and isinstance(after, type(arg)):
        arg[:] = after
    elif isinstance(arg, (dict, set)) and isinstance(after, type(arg)):
        arg.clear()
        arg.update(after)
