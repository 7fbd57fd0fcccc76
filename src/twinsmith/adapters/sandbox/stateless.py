"""Whether a Python program could keep anything from one call to the next, by how it is written.

One that cannot may answer several calls in one process, which is ten times quicker than a process
for each. Read strictly: what is not known to be harmless counts as memory. A program that fools
this deceives only itself: its own calls meet, and the judge is as far away as ever.
"""

import ast

from twinsmith.core.syntax import parse

PURE = frozenset(
    {
        *("bisect", "cmath", "collections", "collections.abc", "copy", "fractions", "heapq"),
        *("itertools", "json", "math", "operator", "re", "statistics", "string", "textwrap"),
        *("typing", "unicodedata"),
    }
)
PURE_FUNCTIONS = frozenset({"cmp_to_key", "partial", "reduce"})
FORBIDDEN = frozenset(
    {
        *("breakpoint", "compile", "delattr", "eval", "exec", "exit", "globals", "help", "input"),
        *("locals", "memoryview", "open", "quit", "setattr", "super", "vars"),
    }
)


def is_stateless(source: str) -> bool:
    """Whether nothing in a Python source outlives a call."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return all(map(_is_fixed, tree.body)) and not any(map(_remembers, ast.walk(tree)))


def _is_fixed(node: ast.stmt) -> bool:
    """Whether a statement of a module leaves only functions and constants behind."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef():
            return True
        case ast.Expr(value=value) | ast.Assign(value=value):
            return _is_constant(value)
        case ast.AnnAssign(value=ast.expr() as value):
            return _is_constant(value)
    return False


def _remembers(node: ast.AST) -> bool:
    """Whether a call could use this node to change what a later call sees."""
    match node:
        case ast.Global() | ast.ClassDef() | ast.AsyncFunctionDef():
            return True
        case ast.Import() | ast.ImportFrom():
            return not _is_pure(node)
        case ast.FunctionDef(args=args, decorator_list=decorators):
            defaults = [*args.defaults, *(d for d in args.kw_defaults if d is not None)]
            return bool(decorators) or not all(map(_is_constant, defaults))
        case ast.Lambda(args=args):
            return not all(map(_is_constant, args.defaults))
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return True
        case ast.Attribute(attr=name) if name.startswith("_"):
            return True
        case ast.Subscript(value=ast.Attribute(), ctx=ast.Store() | ast.Del()):
            return True
        case ast.Name(id=name):
            return name in FORBIDDEN or name.startswith("__")
    return False


def _is_pure(node: ast.Import | ast.ImportFrom) -> bool:
    match node:
        case ast.Import(names=names):
            return all(alias.name in PURE for alias in names)
        case ast.ImportFrom(module="functools", names=names, level=0):
            return all(alias.name in PURE_FUNCTIONS for alias in names)
        case ast.ImportFrom(module=module, level=level):
            return level == 0 and module in PURE


def _is_constant(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.Tuple(elts=elts):
            return all(map(_is_constant, elts))
        case ast.UnaryOp(operand=operand):
            return _is_constant(operand)
        case ast.BinOp(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
    return False
