"""Variants of a program that differ by one small edit: they mend a near miss without a model.

A small model that is shown its mistake writes the same file again; the mistake is often one slice,
one comparison or one conversion away. Whether an edit was right is decided by running it.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from twinsmith.core.replies.python_names import UNREADABLE
from twinsmith.core.syntax import parse

LONGEST_SOURCE = 6000
DEEPEST = 60
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMBINED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Div: ast.FloorDiv,
    ast.FloorDiv: ast.Div,
    ast.Mult: ast.Pow,
    ast.Mod: ast.FloorDiv,
}
_PAIRS = (
    ("max", "min"),
    ("all", "any"),
    ("ceil", "floor"),
    ("round", "int"),
    ("lower", "upper"),
    ("islower", "isupper"),
    ("startswith", "endswith"),
    ("append", "extend"),
    ("find", "rfind"),
    ("index", "rindex"),
)
_OTHER = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_AROUND = ("str", "int", "list", "sorted", "tuple", "float", "bool", "round", "len", "abs", "set")
_Place = tuple[ast.AST, str, int | None]
_TYPES = ("annotation", "returns", "type_params", "decorator_list")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """An edited program, and the number of the candidate that it was made of."""

    of: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """The variants that were tried, and those of them that were kept."""

    kept: tuple[Variant, ...] = ()
    tried: int = 0


def variants(source: str, most: int) -> tuple[str, ...]:
    """Up to `most` programs with one edit each, spread over the whole source."""
    try:
        tree = parse(source[: LONGEST_SOURCE + 1])
        if len(source) > LONGEST_SOURCE or not _is_flat(tree):
            return ()
        edits = [(where, edit) for where in _places(tree) for edit in _edits(_node(*where))]
        # Spelling out a program takes far longer than thinking of an edit: only those chosen are.
        step = max(1.0, len(edits) / max(1, most))
        chosen = [edits[int(n * step)] for n in range(min(most, len(edits)))]
        found = dict.fromkeys(_edited(tree, where, edit) for where, edit in chosen)
        found.pop(_text(tree), None)
    except UNREADABLE:
        return ()
    return tuple(filter(None, found))


def _is_flat(tree: ast.Module) -> bool:
    """Whether a program is not nested too deeply to be written out quickly."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False


def _edited(tree: ast.Module, where: _Place, edit: ast.AST) -> str:
    """The program with one edit; empty where that cannot be written. The tree stays as it was."""
    node = _node(*where)
    _put(*where, edit)
    try:
        text = _text(ast.fix_missing_locations(tree))
        parse(text)
    except UNREADABLE:
        return ""
    finally:
        _put(*where, node)
    return text


def _text(tree: ast.Module) -> str:
    return f"{ast.unparse(tree)}\n"


def _node(parent: ast.AST, field: str, place: int | None) -> ast.AST:
    held = getattr(parent, field)
    node = held if place is None else held[place]
    assert isinstance(node, ast.AST)
    return node


def _places(parent: ast.AST) -> Iterator[_Place]:
    """The places of a program that can be edited: not in types, not in docstrings."""
    for field, value in ast.iter_fields(parent):
        if field in _TYPES:
            continue
        for place, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or _explains(node):
                continue
            yield parent, field, place if isinstance(value, list) else None
            yield from _places(node)


def _explains(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def _edits(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.expr():
            yield from _of_expression(node)
        case ast.Return(value=ast.expr() as value):
            yield from (ast.Return(_called(name, value)) for name in _AROUND)
            backwards = ast.Slice(step=ast.UnaryOp(ast.USub(), ast.Constant(1)))
            yield ast.Return(ast.Subscript(value, backwards, ast.Load()))
            yield ast.Return(ast.UnaryOp(ast.Not(), value))
        case ast.If(test=test, body=body, orelse=orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.Pass()
        case ast.Expr() | ast.Break() | ast.Continue() | ast.AugAssign():
            yield ast.Pass()


def _of_expression(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=others):
            for other in _COMPARED.get(type(op), ()):
                yield ast.Compare(left, [other()], others)
        case ast.BinOp() | ast.BoolOp() | ast.UnaryOp():
            yield from _of_operation(node)
        case ast.Constant(value=value):
            yield from map(ast.Constant, _near(value))
        case ast.Subscript(value=value, slice=ast.Slice()):
            yield value
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Call():
            yield from _of_call(node)


def _of_operation(node: ast.BinOp | ast.BoolOp | ast.UnaryOp) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in _COMBINED:
                yield ast.BinOp(left, _COMBINED[type(op)](), right)
            yield from (left, right)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield from values
        case ast.UnaryOp(operand=operand):
            yield operand


def _near(value: object) -> tuple[str | int, ...]:
    match value:
        case bool():
            return (not value,)
        case int():
            return (value + 1, value - 1)
        case "" | " ":
            return ("" if value else " ",)
    return ()


def _of_call(node: ast.Call) -> Iterator[ast.expr]:
    match node.func:
        case ast.Attribute(value=value, attr=name, ctx=context):
            yield value
            if name in _OTHER:
                other = ast.Attribute(value, _OTHER[name], context)
                yield ast.Call(other, node.args, node.keywords)
        case ast.Name(id="range") as function:
            for place, arg in enumerate(node.args):
                for op in (ast.Add(), ast.Sub()):
                    moved = ast.BinOp(arg, op, ast.Constant(1))
                    args = [*node.args[:place], moved, *node.args[place + 1 :]]
                    yield ast.Call(function, args, [])
        case ast.Name(id="sorted") as function:
            rest = [each for each in node.keywords if each.arg != "reverse"]
            turned = [ast.keyword("reverse", ast.Constant(value=True))]
            yield ast.Call(function, node.args, rest if rest != node.keywords else [*rest, *turned])
            yield from node.args[:1]
        case ast.Name(id=name):
            if name in _OTHER:
                yield ast.Call(ast.Name(_OTHER[name], ast.Load()), node.args, node.keywords)
            if name in (*_AROUND, "ceil", "floor"):
                yield from node.args[:1]


def _called(name: str, value: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [value], [])
