"""Checks that a program must pass, and how they are read from text.

Text is only parsed here; it runs nowhere but in the sandbox.
"""

import ast
import sys
from dataclasses import dataclass, replace
from typing import Literal

from twinsmith.core.errors import ConfigError
from twinsmith.core.program import MODULE
from twinsmith.core.replies.python_names import UNREADABLE
from twinsmith.core.syntax import parse

Origin = Literal["person", "task", "plan"]
MOST_PROBES = 500
ABOUT_ACCOUNTS = -1
"""The requirement number of all checks of registering and logging in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a function, as Python literals; without an expected value it is only observed.

    Data, not code: it means the same in every language.
    """

    function: str
    args: tuple[str, ...]
    expected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One run of a command-line program; an expectation that is None is not checked."""

    args: tuple[str, ...] = ()
    stdin: str = ""
    stdout: str | None = None
    exit_code: int | None = 0
    files: tuple[tuple[str, str], ...] = ()
    """Names and texts of the files that the command finds in its folder."""


Input = Call | Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One check of a program: a call, a run of a command, or Python statements.

    `source` alone is Python statements that raise when the program is wrong, whatever language it
    is written in: they see its functions by name, a command as `run(*args, stdin="")` and a
    service as `http(method, path, json=None, headers={}, body="")`.
    """

    name: str
    origin: Origin
    source: str = ""
    call: Call | None = None
    command: Command | None = None
    about: int = 0
    """The number of the requirement that the probe was written for; 0: none in particular."""
    functions: tuple[str, ...] = ()
    """The functions of a service that the probe tries, where its source does not name them."""
    fresh: bool = False
    """Whether the service is started anew for this probe, so that nothing earlier is left."""

    @property
    def asks(self) -> Input | None:
        """The input of the probe; None where it is code of its own."""
        return self.call or self.command


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """All checks of a run; `setup` runs before each of them."""

    checks: tuple[Probe, ...] = ()
    setup: str = ""


def read_tests(source: str, *, file: str) -> Probes:
    """A person's test file as probes: each top-level assert and each `test_…` function is one."""
    tree = _parse(source, file)
    _refuse_foreign_imports(tree, file)
    setup: list[str] = []
    checks: list[Probe] = []
    for node in tree.body:
        text = ast.unparse(node)
        match node:
            case ast.Assert():
                checks.append(_probe(f"{file}:{node.lineno}", node, origin="person"))
            case ast.FunctionDef(name=name) if name.startswith("test"):
                if node.args.args or node.args.kwonlyargs:
                    raise ConfigError(
                        f"{file}:{node.lineno}: {name} takes arguments; "
                        "fixtures are not supported: write a function without arguments"
                    )
                checks.append(
                    Probe(
                        name=f"{file}:{node.lineno} {name}",
                        source=f"{text}\n{name}()",
                        origin="person",
                    )
                )
            case ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) if (
                name.lower().startswith("test")
            ):
                raise ConfigError(
                    f"{file}:{node.lineno}: {name} is not a plain function; "
                    "write asserts or `def test_…()` functions"
                )
            case _:
                setup.append(text)
    if not checks:
        raise ConfigError(f"{file}: no assert and no test_… function found; add one")
    if len(checks) > MOST_PROBES:
        raise ConfigError(f"{file}: {len(checks)} checks; at most {MOST_PROBES}: split the file")
    if not all(_is_plain_import(line) for line in setup):
        # A name may mean something else than the program's own function.
        checks = [replace(check, call=None) for check in checks]
    return Probes(checks=tuple(checks), setup="\n".join(setup))


def read_check(line: str, *, number: int) -> Probe | None:
    """An assert that a model proposed, as a probe; None when it is not exactly one assert."""
    try:
        body = parse(line.strip()).body
    except UNREADABLE:
        return None
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        return None
    return _probe(f"check {number}", body[0], origin="plan")


def _is_plain_import(line: str) -> bool:
    match parse(line).body:
        case [ast.ImportFrom(module=module, names=names)]:
            return module == MODULE and all(alias.asname is None for alias in names)
        case [ast.Expr(value=ast.Constant())]:
            return True
    return False


def _probe(name: str, check: ast.Assert, *, origin: Origin) -> Probe:
    return Probe(name=name, source=ast.unparse(check), origin=origin, call=_call(check))


def _call(check: ast.Assert) -> Call | None:
    """The call in an assert such as `f(1, [2]) == 3`; None where a value is no literal."""
    match check:
        case ast.Assert(
            test=ast.Compare(
                left=ast.Call(func=ast.Name(id=function), args=args, keywords=[]),
                ops=[ast.Eq()],
                comparators=[expected],
            ),
            msg=None,
        ) if all(map(is_literal, [*args, expected])):
            return Call(
                function=function,
                args=tuple(ast.unparse(arg) for arg in args),
                expected=ast.unparse(expected),
            )
    return None


def is_literal(value: ast.expr | str) -> bool:
    """True where an expression or a text is a value as Python writes it."""
    try:
        ast.literal_eval(value)
    except UNREADABLE:
        return False
    return True


def _parse(source: str, file: str) -> ast.Module:
    try:
        return parse(source)
    except SyntaxError as error:
        raise ConfigError(f"{file}:{error.lineno}: {error.msg}; mend the file") from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise ConfigError(f"{file}: cannot be read as Python: {error}; mend the file") from None


def _refuse_foreign_imports(tree: ast.Module, file: str) -> None:
    allowed = sys.stdlib_module_names | {MODULE}
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module), level=0):
                names = [module]
            case ast.ImportFrom():
                names = ["."]
            case _:
                continue
        for name in names:
            if name.split(".")[0] not in allowed:
                raise ConfigError(
                    f"{file}:{node.lineno}: imports {name!r}, which the sandbox does not have; "
                    f"use plain asserts, the standard library and {MODULE!r}"
                )
