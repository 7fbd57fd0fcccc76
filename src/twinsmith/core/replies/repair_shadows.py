"""Repairing locals that hide the function which they are filled from: `total = total(items)`."""

import ast
from textwrap import indent

from twinsmith.core.program import Kind
from twinsmith.core.replies.python_names import Function, parsed
from twinsmith.core.replies.source_text import Mended


def unshadowed(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """A source with locals renamed that hide a function which is called beside them."""
    tree = parsed(source)
    if tree is None:
        return None
    functions = {node.name for node in tree.body if isinstance(node, Function)}
    lines, told = source.splitlines(), set[str]()
    inside = [node for cls in tree.body if isinstance(cls, ast.ClassDef) for node in cls.body]
    found = [node for node in (*tree.body, *inside) if isinstance(node, Function)]
    # The last first: what stands before it keeps its lines.
    for node in sorted(found, key=lambda each: -each.lineno):
        hidden = _hidden(node, functions)
        if hidden:
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)]) - 1
            renamed = _Renamed(hidden).visit(ast.parse(ast.unparse(node)).body[0])
            text = indent(ast.unparse(ast.fix_missing_locations(renamed)), " " * node.col_offset)
            lines[first : node.end_lineno] = text.splitlines()
            told |= hidden
    made = "\n".join(lines) + "\n"
    if not told or parsed(made) is None:
        return None
    return made, f"locals that hid the functions {', '.join(sorted(told))} renamed"


def _hidden(node: ast.FunctionDef | ast.AsyncFunctionDef, functions: set[str]) -> frozenset[str]:
    """The functions that a function calls and whose names it also gives to local values."""
    every = list(ast.walk(node))
    stored = {n.id for n in every if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    called = {n.func.id for n in every if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    meant = {each.arg for each in every if isinstance(each, ast.arg)}
    meant |= {each.name for each in every if isinstance(each, Function) and each is not node}
    meant |= {name for n in every if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
    if any(isinstance(n, ast.Lambda | ast.ClassDef) for n in every):
        # A value that can be called may be what is meant.
        return frozenset()
    return frozenset((functions & stored & called) - meant)


class _Renamed(ast.NodeTransformer):
    """Renames local values; functions that are called keep their names."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.Call:
        called = node.func
        return ast.Call(
            func=called if isinstance(called, ast.Name) else self.visit(called),
            args=[self.visit(each) for each in node.args],
            keywords=[self.visit(each) for each in node.keywords],
        )

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(id=f"{node.id}_", ctx=node.ctx) if node.id in self._names else node
