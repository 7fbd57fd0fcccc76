"""Running a Python program inside the starter's fork: as a command, or answering calls."""

from __future__ import annotations

import atexit
import builtins
import posix as os
import sys

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "solution.py"
Module = type(sys)
# Operations that Python has a word for, and those in which the object comes second.
WORDS = {
    *("len", "iter", "reversed", "bool", "str", "repr", "int", "float", "format", "round"),
    *("divmod", "hash", "delattr"),
}
SWAPPED = {
    *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rand", "ror", "rxor"),
}


def look_ordinary() -> None:
    """Make the interpreter look ordinary: `exit` and `quit` exist, the harness is out of sight."""
    import _sitebuiltins

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "inside"]:
        del sys.modules[name]


def put_first(files: dict[str, str], folder: str) -> None:
    """Put the modules of a program of several files before all others of the same name."""
    if len(files) < 2:
        return
    sys.path.insert(0, folder)
    own = {name.partition("/")[0].removesuffix(".py") for name in files}
    # Those that are built in come first for every program.
    own -= {*sys.builtin_module_names, "__main__"}
    for name in [name for name in sys.modules if name.partition(".")[0] in own]:
        del sys.modules[name]


def run_main(source: str, argv: list[str]) -> int:
    """Run the program as `python3 solution.py` would; gives the exit code."""
    module = Module("__main__")
    module.__dict__.update(__file__=FILE, __builtins__=builtins)
    sys.modules["__main__"] = module
    sys.argv = argv
    sys.path.insert(0, "")
    try:
        exec(compile(source, FILE, "exec"), module.__dict__)
    except SystemExit as leaving:
        code = _exit_code(leaving.code)
    except BaseException as error:
        import traceback

        trace = error.__traceback__
        traceback.print_exception(type(error), error, trace.tb_next if trace else None)
        code = 1
    else:
        code = 0
    return _finished(code)


def _exit_code(code: object) -> int:
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


def _finished(code: int) -> int:
    """End as an interpreter does: threads, exit functions, output; gives the exit code."""
    threading: Any = sys.modules.get("threading")
    try:
        if threading is not None:
            threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        code = code or 120
    _flush()
    return code


def drive(source: str, requests: int, replies: int, first: dict[str, Any] | None) -> None:
    """Load the program and answer calls until there are no more; with `first`, only that one."""
    module = Module("solution")
    sys.modules["solution"] = module
    try:
        exec(compile(source, FILE, "exec"), module.__dict__)
    except BaseException as error:
        wire.send(replies, _raised(error))
        return
    if first is not None:
        wire.send(replies, Program(vars(module)).answer(first))
        return
    public = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    program = Program(public)
    functions = [name for name, value in public.items() if callable(value)]
    classes = {name: program.keep(public[name]) for name in functions if _is_own(public[name])}
    values = {
        name: wire.encode(value, program.keep)
        for name, value in public.items()
        if not callable(value) and not isinstance(value, Module)
    }
    errors = {
        name: [base.__name__ for base in public[name].__bases__]
        for name in classes
        if issubclass(public[name], BaseException)
    }
    hello = {"functions": functions, "values": values, "classes": classes, "errors": errors}
    wire.send(replies, hello)
    while True:
        try:
            request = wire.receive(requests)
        except wire.BadFrame:
            return
        wire.send(replies, program.answer(request))


def _is_own(value: object) -> bool:
    """Whether a value is a class of the program, in its main file or one beside it."""
    if not isinstance(value, type):
        return False
    place = getattr(sys.modules.get(value.__module__), "__file__", None) or ""
    return value.__module__ == "solution" or place.startswith(f"{os.getcwd()}/")


class Program:
    """The names that a program defines, and its objects that a check holds."""

    def __init__(self, public: dict[str, Any]) -> None:
        self._public = public
        self._kept: list[object] = []
        self._numbers: dict[int, int] = {}

    def keep(self, value: object) -> int:
        """The number of an object that stays in this process; the same object has one number."""
        number = self._numbers.setdefault(id(value), len(self._kept))
        if number == len(self._kept):
            self._kept.append(value)
        return number

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of a check: a result, or the exception that was raised."""
        try:
            args = [self._value(arg) for arg in request.get("args", [])]
            kwargs = {k: self._value(v) for k, v in request.get("kwargs", {}).items()}
            value = self._done(request, args, kwargs)
            # Arguments travel back as well: a program may change a list in place.
            back = [wire.encode(arg, self.keep) for arg in args]
            named = {k: wire.encode(v, self.keep) for k, v in kwargs.items()}
            return {"value": wire.encode(value, self.keep), "args": back, "kwargs": named}
        except BaseException as error:
            return _raised(error)
        finally:
            _flush()

    def _value(self, data: object) -> object:
        return wire.decode(data, 0.0, lambda number, _: self._kept[number])

    def _done(self, request: dict[str, Any], args: list[Any], kwargs: dict[str, Any]) -> object:
        if "on" not in request:
            function = self._public.get(str(request["call"]))
            if function is None:
                raise NameError(f"name {request['call']!r} is not defined")
            return function(*args, **kwargs)
        thing: Any = self._kept[int(request["on"])]
        if "get" in request:
            return getattr(thing, str(request["get"]))
        if "set" in request:
            setattr(thing, str(request["set"]), args[0])
            return None
        if request["op"] == "exit":
            return type(thing).__exit__(thing, *self._left_by(args))
        return _operated(str(request["op"]), thing, args, kwargs)

    def _left_by(self, told: list[Any]) -> tuple[object, object, None]:
        """The exception by which a check leaves a `with` block, rebuilt from name and words."""
        if not told:
            return None, None, None
        kind = self._public.get(told[0], getattr(builtins, told[0], None))
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            kind = Exception
        try:
            return kind, kind(told[1]), None
        except TypeError:
            return kind, kind.__new__(kind), None


def _operated(name: str, thing: Any, args: list[Any], kwargs: dict[str, Any]) -> object:
    """The result of an operation on an object, failing just as Python itself would."""
    if name == "call":
        return thing(*args, **kwargs)
    if name == "enter":
        return type(thing).__enter__(thing)
    if name in ("isinstance", "issubclass"):
        return getattr(builtins, name)(args[0], thing)
    if name in WORDS:
        return getattr(builtins, name)(thing, *args)
    import operator

    if name in SWAPPED:
        return getattr(operator, f"__{name[1:]}__")(args[0], thing)
    return getattr(operator, f"__{name}__")(thing, *args)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue


def _raised(error: BaseException) -> dict[str, object]:
    where, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            where = f" (line {trace.tb_lineno})"
        trace = trace.tb_next
    try:
        message = str(error)
    except BaseException:
        message = "?"
    return {"raised": type(error).__name__, "message": message[:2000], "where": where}
