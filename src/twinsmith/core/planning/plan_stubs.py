"""Reading a plan that is written as Python stubs: small models plan best in code.

cars = Table(id=int, plate=str)

@post("/cars", status=201)
def add_car(plate: str):
    '''words of the task'''
    refuse(409, "the plate is known")
    return {"id": 1, "plate": "AB-12"}
"""

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from urllib.parse import parse_qsl, urlsplit

from twinsmith.core.events import Json
from twinsmith.core.replies.python_names import parsed
from twinsmith.core.replies.reply_code import source_in

_VERBS = ("get", "post", "put", "patch", "delete")
_KINDS = {"int": "integer", "float": "number", "bool": "boolean", "list": "list", "dict": "object"}
_BODIES = ("form", "text")


def plan_in(text: str) -> dict[str, Json] | None:
    """Tables and routes of the stubs in a reply; None where it has none."""
    tree = _readable(source_in(text, "python"))
    if tree is None:
        return None
    routes: list[Json] = [
        route
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and (route := _route(node)) is not None
    ]
    return {"tables": dict(_tables(tree)), "routes": routes} if routes else None


def _readable(source: str) -> ast.Module | None:
    """The parsed stubs; without the last one where the answer was cut in the middle of it."""
    tree = parsed(source)
    while tree is None and "\n@" in source:
        source = source.rpartition("\n@")[0]
        tree = parsed(source)
    return tree


def _tables(tree: ast.Module) -> Iterator[tuple[str, Json]]:
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="Table"), keywords=columns),
            ):
                yield name, {each.arg: _kind(each.value) for each in columns if each.arg}


def _route(node: ast.FunctionDef) -> dict[str, Json] | None:
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Name(id=verb) | ast.Attribute(attr=verb),
                args=[ast.Constant(value=str(path)), *_],
                keywords=more,
            ) if verb in _VERBS:
                told = {each.arg: _value(each.value) for each in more}
                place, asked = urlsplit(path).path, dict(parse_qsl(urlsplit(path).query))
                gives = _given(node)
                body = told.get("body")
                return {
                    "quote": ast.get_docstring(node) or "",
                    "function": node.name,
                    "method": verb.upper(),
                    "path": place,
                    "login": told.get("login") is True,
                    "status": told.get("status"),
                    "gives": gives,
                    "refuses": list(_refusals(node)),
                    "accepts": body if body in _BODIES else "",
                    **_taken(node, asked, gives),
                }
    return None


def _taken(node: ast.FunctionDef, asked: dict[str, str], gives: Json) -> dict[str, Json]:
    """The values that a route takes, by name: examples, kinds and defaults."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    kinds: dict[str, Json] = {each.arg: _kind(each.annotation) for each in arguments}
    positional = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    values = node.args.defaults
    given = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
    given |= {
        each.arg: value
        for each, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if value is not None
    }
    defaults: dict[str, Json] = {name: _value(value) for name, value in given.items()}
    for name in asked:
        if name not in kinds:
            kinds[name], defaults[name] = "string", ""
    known = gives[0] if isinstance(gives, list) and gives else gives
    told = known if isinstance(known, dict) else {}
    takes: dict[str, Json] = {
        name: asked.get(name, told.get(name, kind)) for name, kind in kinds.items()
    }
    return {"takes": takes, "kinds": kinds, "defaults": defaults}


def _refusals(node: ast.FunctionDef) -> Iterator[Json]:
    for each in ast.walk(node):
        match each:
            case ast.Call(
                func=ast.Name(id="refuse"),
                args=[ast.Constant(value=int(status)), ast.Constant(value=str(when)), *_],
            ):
                yield {"status": status, "when": when}


def _given(node: ast.FunctionDef) -> Json:
    """The example answer in a stub's last `return`; arguments in it become example values."""
    returns = [each for each in ast.walk(node) if isinstance(each, ast.Return)]
    value = returns[-1].value if returns else None
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    usual: dict[str, Json] = {"integer": 1, "number": 2.5, "boolean": True, "list": []}
    known = {each.arg: usual.get(_kind(each.annotation), f"some {each.arg}") for each in arguments}
    return _value(value, known) if value is not None else None


def _value(node: ast.expr | None, known: Mapping[str, Json] = MappingProxyType({})) -> Json:
    """The JSON value of an expression; None where it would have to be computed."""
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, known) for part in parts if not _is_dots(part)]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {str(_value(key)): _value(value, known) for key, value in pairs if key}
        case ast.JoinedStr(values=parts):
            texts = (part.value if isinstance(part, ast.Constant) else "…" for part in parts)
            return "".join(map(str, texts))
        case ast.Name(id=name):
            return known.get(name)
    return None


def _is_dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _kind(node: ast.expr | None) -> str:
    """The kind of value that an annotation means, such as `str | None` or `Optional[int]`."""
    match node:
        case ast.Name(id=name):
            return _KINDS.get(name.lower(), "string")
        case ast.BinOp(left=left):
            return _kind(left)
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return _kind(inner)
        case ast.Subscript(value=value):
            return _kind(value)
    return "string"
