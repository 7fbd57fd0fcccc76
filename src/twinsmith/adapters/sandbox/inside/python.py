"""A Python program inside the starter's fork: as a command, or answering calls."""

from __future__ import annotations

import atexit
import builtins
import sys

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "solution.py"
Module = type(sys)


def look_ordinary() -> None:
    """What `site` would have added, and nothing of ours in sight."""
    import _sitebuiltins

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "inside"]:
        del sys.modules[name]


def run_main(source: str, argv: list[str]) -> int:
    """Run the program as `python3 solution.py` would; gives its exit code."""
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
    """What an interpreter does at its end, short of taking itself apart."""
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
    """Load the program and answer calls until there are no more; one, if it is given here."""
    module = Module("solution")
    sys.modules["solution"] = module
    try:
        exec(compile(source, FILE, "exec"), module.__dict__)
    except BaseException as error:
        wire.send(replies, _raised(error))
        return
    if first is not None:
        wire.send(replies, _answer(vars(module), first))
        return
    public = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    functions = [name for name, value in public.items() if callable(value)]
    values = {
        name: wire.encode(value)
        for name, value in public.items()
        if not callable(value) and not isinstance(value, Module)
    }
    wire.send(replies, {"functions": functions, "values": values})
    while True:
        try:
            request = wire.receive(requests)
        except wire.BadFrame:
            return
        wire.send(replies, _answer(public, request))


def _answer(public: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    try:
        args = [wire.decode(arg) for arg in request["args"]]
        kwargs = {k: wire.decode(v) for k, v in request.get("kwargs", {}).items()}
        function = public.get(str(request["call"]))
        if function is None:
            raise NameError(f"name {request['call']!r} is not defined")  # noqa: TRY301
        value = function(*args, **kwargs)
        # Arguments travel back as well: a program may change a list in place.
        return {"value": wire.encode(value), "args": [wire.encode(arg) for arg in args]}
    except BaseException as error:
        return _raised(error)
    finally:
        _flush()


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
