"""Checks that a program must pass, and how they are read from text.

Text is only parsed here; it runs nowhere but in the sandbox.
"""

import ast
import sys
from dataclasses import dataclass
from typing import Literal

from twinsmith.core.errors import ConfigError
from twinsmith.core.program import MODULE

Origin = Literal["person", "plan"]
MOST_PROBES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One check: statements that raise when the program is wrong."""

    name: str
    source: str
    origin: Origin


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
                checks.append(_person(f"{file}:{node.lineno}", text))
            case ast.FunctionDef(name=name) if name.startswith("test"):
                if node.args.args or node.args.kwonlyargs:
                    raise ConfigError(
                        f"{file}:{node.lineno}: {name} takes arguments; "
                        "fixtures are not supported: write a function without arguments"
                    )
                checks.append(_person(f"{file}:{node.lineno} {name}", f"{text}\n{name}()"))
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
    return Probes(checks=tuple(checks), setup="\n".join(setup))


def read_check(line: str, *, number: int) -> Probe | None:
    """One assert that a model proposed; None when it is not exactly one assert."""
    try:
        body = ast.parse(line.strip()).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        return None
    return Probe(name=f"check {number}", source=ast.unparse(body[0]), origin="plan")


def _person(name: str, source: str) -> Probe:
    return Probe(name=name, source=source, origin="person")


def _parse(source: str, file: str) -> ast.Module:
    try:
        return ast.parse(source)
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
