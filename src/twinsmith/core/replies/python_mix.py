"""Mixing functions of several Python files into one."""

import ast
from collections.abc import Mapping

from twinsmith.core.replies.python_names import parsed

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def mixed(base: str, donors: Mapping[str, str]) -> str:
    """A Python file with some functions replaced by those of other files, each with what it needs.

    A function that needs something by a name that means another thing in the base stays as it is.
    """
    for name, donor in donors.items():
        base = _with(base, name, donor, frozenset(donors))
    return base


def _with(base: str, name: str, donor: str, exchanged: frozenset[str]) -> str:
    here, there = _bound(base), _bound(donor)
    old, new = here.get(name), there.get(name)
    if not isinstance(old, Definition) or not isinstance(new, Definition):
        return base
    needed = _needed(new, there)
    for each, node in needed.items():
        clash = each in here and each not in exchanged
        if clash and ast.dump(here[each]) != ast.dump(node):
            return base
    missing = [node for each, node in needed.items() if each not in here]
    imports = [node for node in missing if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [node for node in missing if node not in imports]
    lines = base.splitlines()
    first, last = _first_line(old) - 1, old.end_lineno or old.lineno
    texts = [_text(donor, node) for node in dict.fromkeys([*others, new])]
    lines[first:last] = "\n\n\n".join(texts).splitlines()
    start = _after_docstring(base)
    lines[start:start] = [_text(donor, node) for node in dict.fromkeys(imports)]
    made = "\n".join(lines) + "\n"
    return made if parsed(made) is not None else base


def _needed(node: ast.stmt, there: Mapping[str, ast.stmt]) -> dict[str, ast.stmt]:
    """The definitions of a file that a statement uses, directly or not, in the file's order."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        used = {each.id for each in ast.walk(waiting.pop()) if isinstance(each, ast.Name)}
        new = {name for name in used if name in there and there[name] is not node} - found
        found |= new
        waiting += [there[name] for name in new]
    return {name: each for name, each in there.items() if name in found}


def _bound(source: str) -> dict[str, ast.stmt]:
    """The names that a file binds at its outermost level, with the statements that bind them."""
    tree = parsed(source)
    found: dict[str, ast.stmt] = {}
    for node in tree.body if tree else ():
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found[node.name] = node
            case ast.Import() | ast.ImportFrom():
                found |= {(a.asname or a.name).partition(".")[0]: node for a in node.names}
            case ast.Assign(targets=targets):
                found |= {t.id: node for t in targets if isinstance(t, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = node
    return found


def _text(source: str, node: ast.stmt) -> str:
    lines = source.splitlines()
    return "\n".join(lines[_first_line(node) - 1 : node.end_lineno])


def _first_line(node: ast.stmt) -> int:
    marks = node.decorator_list if isinstance(node, Definition | ast.ClassDef) else []
    return min([node.lineno, *(mark.lineno for mark in marks)])


def _after_docstring(source: str) -> int:
    """The line where imports can be added: after the docstring and imports from `__future__`."""
    tree = parsed(source)
    line = 0
    for node in tree.body if tree else ():
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="__future__"):
                line = node.end_lineno or line
            case _:
                break
    return line
