"""A piece, one function of a service: asking a model for it, and reading what it wrote."""

import ast
import json
import sys

from twinsmith.core.errors import BadReply
from twinsmith.core.planning.contract import (
    Contract,
    Operation,
    arguments,
    signature,
)
from twinsmith.core.replies.python_names import import_lines, missing, parsed, uncompilable
from twinsmith.core.replies.reply_code import source_in
from twinsmith.core.syntax import parse

REFUSED = 400
VERBS = ("add", "get", "all", "change", "remove")
_STORE = '''\
class Store:
    """Keeps the rows of all tables; it is there already, as `store`."""
    def add(self, table: str, **values) -> dict: "a new row with its {key}; the rest is empty"
    def get(self, table: str, {key}) -> dict | None: "the row with this {key}"
    def all(self, table: str, **equal) -> list[dict]: "rows with these values, oldest first"
    def change(self, table: str, {key}, **values) -> dict: "changes a row and gives it back"
    def remove(self, table: str, {key}) -> None: "takes a row away"

{tables}
'''


def asked(operation: Operation, contract: Contract) -> str:
    """The question for one piece: the tables, how rows are kept, and the stub to fill in."""
    return f"{_kept(contract)}{stub(operation, contract)}"


def stub(operation: Operation, contract: Contract) -> str:
    """The stub of a piece: its signature, and a docstring that says what it does and returns."""
    meaning = operation.quote or operation.function.replace("_", " ")
    lines = [f'"""{meaning}', ""]
    if operation.login:
        lines.append("`user` is the name of who asks.")
    unasked = [f.name for f in operation.takes if not f.required and f.default in ('""', "null")]
    lines += [f"Where `{name}` is empty, it does not matter." for name in unasked]
    lines.append(_returns(operation))
    lines += [
        f'Returns {refusal.status}, {{"error": "…"}} when {refusal.when}.'
        for refusal in operation.refuses
    ]
    lines.append('"""')
    body = "\n".join(f"    {each}".rstrip() for each in lines)
    return f"{signature(operation, contract)}\n{body}\n"


def _returns(operation: Operation) -> str:
    if operation.answers in ("text", "html"):
        what = "a string" if operation.answers == "text" else "a string with HTML"
        example = operation.example()
        told = f", such as {example!r}" if example else ""
        return f"Returns a pair, the status and the body: {operation.status}, {what}{told}."
    if operation.answers == "redirect":
        return f"Returns a pair, the status and the address to go to: {operation.status}, a string."
    if operation.answers == "nothing" or not operation.gives:
        return f"Returns a pair, the status and the body: {operation.status}, {{}}."
    told = f"Returns a pair, the status and the body: {operation.status}, {operation.gives}"
    several = operation.gives.startswith("[")
    return f"{told}; an empty list where there are none." if several else f"{told}."


def _kept(contract: Contract) -> str:
    """The tables, and how a piece keeps rows in them; without values, which would be copied."""
    if not contract.tables:
        return ""
    tables = "\n".join(f'# store.add("{t.name}", …) keeps {t.text()}' for t in contract.tables)
    return f"{_STORE.format(key=contract.tables[0].key.name, tables=tables)}\n"


def read_piece(text: str, operation: Operation, contract: Contract) -> str:
    """The piece in a reply, with its helpers inside it; BadReply says what is missing."""
    source = source_in(text, "python", entry=operation.function)
    tree = parsed(source)
    if tree is None:
        raise BadReply(f"{operation.function} is no Python")
    own = next(
        (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == operation.function),
        None,
    )
    if own is None:
        raise BadReply(f"the answer does not define {operation.function}")
    if _is_empty(own):
        raise BadReply(f"{operation.function} has no body")
    wanted = [name for name, _ in arguments(operation, contract)]
    given = [each.arg for each in (*own.args.posonlyargs, *own.args.args, *own.args.kwonlyargs)]
    if not own.args.kwarg:
        if len(given) != len(wanted) or "store" in given:
            raise BadReply(f"{operation.function} takes {given}, not {wanted}")
        # What has its name keeps it, in whatever place; the others stand for each other in order.
        others = [name for name in given if name not in wanted]
        own = _renamed(own, dict(zip(others, (n for n in wanted if n not in given), strict=True)))
        own.args = _called_with(operation, contract)
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom) and _usual(n)]
    helpers = [n for n in tree.body if n is not own and _is_helper(n, operation.function)]
    # What a piece brings along lies inside it, so that pieces never meet.
    own.body = [*_documented(own)[:1], *imports, *helpers, *_documented(own)[1:]]
    own.returns = None
    if wrong := _misused(own, contract):
        raise BadReply(f"{operation.function} uses {wrong}, which is not there")
    return _imported(own)


def _misused(own: ast.FunctionDef, contract: Contract) -> str:
    """The first wrong use of the store in a piece; empty where it is used as it was told."""
    tables = {table.name for table in contract.tables}
    called: set[int] = set()
    for node in ast.walk(own):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="store") as store, attr=verb)):
                called.add(id(store))
                table = _text_of(node.args[0]) if node.args else ""
                if verb not in VERBS:
                    return f"store.{verb}"
                if table and table not in tables:
                    return f"a table {table}"
    used = (n for n in ast.walk(own) if isinstance(n, ast.Name) and n.id == "store")
    other = any(id(name) not in called for name in used)
    return "store as something that holds keys" if other else ""


def _text_of(node: ast.expr) -> str:
    """The text of a string literal; empty where a node is none."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _imported(own: ast.FunctionDef) -> str:
    """The source of a piece with forgotten imports added; BadReply where a name is unknown."""
    source = ast.unparse(own) + "\n"
    tree = parse(source)
    wanted = parse("\n".join(import_lines(source, tree))).body
    own.body = [*own.body[:1], *wanted, *own.body[1:]]
    source = ast.unparse(ast.fix_missing_locations(own)) + "\n"
    unknown = sorted(missing(source) - {"store"})
    if unknown:
        raise BadReply(f"{own.name} uses {unknown[0]}, which is not there: its arguments are all")
    # A tree may still be no program: with one such function the whole service does not start.
    if wrong := uncompilable(source):
        raise BadReply(f"{own.name} is no Python: {wrong}")
    return source


def _usual(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether a statement imports only modules of the standard library, each name by itself.

    Everything of a module cannot be imported inside a function; names that it lacks are found then.
    """
    if any(each.name == "*" for each in node.names):
        return False
    names = (
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
    )
    return all(name.partition(".")[0] in sys.stdlib_module_names for name in names)


def _is_helper(node: ast.stmt, function: str) -> bool:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name not in (function, "Store")
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name != "store"
    return False


def _documented(own: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function, with a docstring first."""
    if ast.get_docstring(own) is not None:
        return own.body
    return [ast.Expr(value=ast.Constant(value=own.name.replace("_", " "))), *own.body]


def _is_empty(own: ast.FunctionDef) -> bool:
    told = own.body[1:] if ast.get_docstring(own) is not None else own.body
    return all(isinstance(n, ast.Pass) or _is_dots(n) for n in told)


def _is_dots(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _renamed(own: ast.FunctionDef, names: dict[str, str]) -> ast.FunctionDef:
    for node in ast.walk(own):
        if isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return own


def _called_with(operation: Operation, contract: Contract) -> ast.arguments:
    """The parameters of a piece as the contract has them."""
    (first,) = parse(f"{signature(operation, contract)} pass").body
    assert isinstance(first, ast.FunctionDef)
    return first.args


def hollow(operation: Operation, contract: Contract) -> str:
    """A piece that keeps nothing and returns an empty answer of the right form."""
    match operation.example():
        case dict() as example if operation.answers == "json":
            given = {name: _nothing_like(value) for name, value in example.items()}
            said = repr(given)
        case list():
            said = "[]"
        case _:
            said = repr("") if operation.answers in ("text", "html") else "{}"
    return f"{signature(operation, contract)}\n    return {operation.status}, {said}\n"


def refusing(operation: Operation, contract: Contract) -> str:
    """A piece that refuses every request."""
    status = next((each.status for each in operation.refuses), REFUSED)
    return f'{signature(operation, contract)}\n    return {status}, {{"error": "no"}}\n'


def _nothing_like(value: object) -> object:
    match value:
        case bool():
            return False
        case int() | float():
            return 0
        case str():
            return ""
        case list():
            return []
        case dict():
            return {}
    return None


def example_call(operation: Operation, contract: Contract) -> str:
    """A call of a route's function with the contract's examples, as a critic would write it."""
    given = [json.dumps("ann")] if operation.login else []
    given += [f"{name}={_id_for(contract, name)}" for name in operation.parameters]
    given += [f"{field.name}={field.value()!r}" for field in operation.takes]
    return f"{operation.function}({', '.join(given)})"


def _id_for(contract: Contract, name: str) -> str:
    return "1" if contract.kind_of(name) == "integer" else repr(f"some-{name}")
