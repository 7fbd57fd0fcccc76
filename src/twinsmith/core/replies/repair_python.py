"""Repairs for Python sources that nearly run: an entry, imports, no demonstration."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial

from twinsmith.core.program import Kind
from twinsmith.core.replies.python_names import (
    Function,
    called,
    defined,
    effects,
    import_lines,
    imported,
    parsed,
    useless_imports,
)
from twinsmith.core.replies.python_text import readable
from twinsmith.core.replies.source_text import Mended, Step, plain

_MOST_STATEMENTS = 1000
_DEMO = re.compile(
    r"_*(?i:run_?|do_?)?(?i:tests?|checks?|demo|examples?|main|usage|verify)(?![a-z])"
)
_RUNNERS = frozenset({"doctest", "unittest", "pytest", "timeit"})


def _with_entry(source: str, entry: str, kind: Kind) -> Mended | None:
    """A source with a function of the name that was asked for, where it had another or a class."""
    tree = parsed(source)
    if tree is None or not entry or kind in {"cli", "service"} or entry in defined(tree):
        return None
    for cls in tree.body:
        if isinstance(cls, ast.ClassDef) and (method := _method(cls, entry)):
            static = "staticmethod" in {each.id for each in _names(method.decorator_list)}
            added = _wrapper(entry, method, f"{cls.name}().{method.name}", skip=0 if static else 1)
            return _added(source, added, f"{entry} added: it was a method of {cls.name}")
    functions = [node for node in tree.body if isinstance(node, Function)]
    alike = [node for node in functions if plain(node.name) == plain(entry)]
    alike = alike or [node for node in functions if not _DEMO.match(node.name)]
    if len(alike) != 1:
        return None
    added = _wrapper(entry, alike[0], alike[0].name, skip=0)
    return _added(source, added, f"{entry} added: it was called {alike[0].name}")


def _method(cls: ast.ClassDef, entry: str) -> ast.FunctionDef | None:
    """The method of a class that the entry means; None where making an object needs arguments."""
    methods = [node for node in cls.body if isinstance(node, ast.FunctionDef)]
    for node in methods:
        if node.name == "__init__" and len(node.args.args) - len(node.args.defaults) > 1:
            return None
    public = [node for node in methods if not node.name.startswith("_")]
    alike = [node for node in public if plain(node.name) == plain(entry)]
    only = public if cls.name == "Solution" and len(public) == 1 else []
    return next(iter(alike or only), None)


def _wrapper(
    entry: str, node: ast.FunctionDef | ast.AsyncFunctionDef, call: str, *, skip: int
) -> str:
    """A function named `entry` with the parameters of another, which it calls."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    if skip > len(positional):
        return ""
    own = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=each.arg) for each in positional[skip:]],
        vararg=args.vararg and ast.arg(arg=args.vararg.arg),
        kwonlyargs=[ast.arg(arg=each.arg) for each in args.kwonlyargs],
        kw_defaults=args.kw_defaults,
        kwarg=args.kwarg and ast.arg(arg=args.kwarg.arg),
        defaults=args.defaults,
    )
    given = [each.arg for each in own.args]
    given += [f"*{own.vararg.arg}"] if own.vararg else []
    given += [f"{each.arg}={each.arg}" for each in own.kwonlyargs]
    given += [f"**{own.kwarg.arg}"] if own.kwarg else []
    kind, wait = ("async def", "await ") if isinstance(node, ast.AsyncFunctionDef) else ("def", "")
    try:
        head = f"{kind} {entry}({ast.unparse(own)}):"
    except (RecursionError, ValueError):
        return ""
    return f"{head}\n    return {wait}{call}({', '.join(given)})\n"


def _added(source: str, text: str, words: str) -> Mended | None:
    whole = f"{source.rstrip()}\n\n\n{text}"
    return (whole, words) if text and parsed(whole) else None


def _without_demonstrations(source: str, entry: str, kind: Kind) -> Mended | None:
    """A source without statements that run at import and that no function needs."""
    tree = parsed(source)
    if tree is None or kind in {"cli", "service"} or (entry and entry not in defined(tree)):
        return None
    if len(tree.body) > _MOST_STATEMENTS:
        return None
    changed, needed = effects(source, tree, entry)
    if kind == "library":
        needed |= defined(tree)
    foreign = imported(tree)
    idle = [
        node
        for node in tree.body
        if _is_idle(node) or not (_is_firm(node, foreign) or changed(node) & needed)
    ]
    kept = {line for node in tree.body if node not in idle for line in _lines(node)}
    idle = [node for node in idle if kept.isdisjoint(_lines(node))]
    if not idle:
        return None
    dropped = {line for node in idle for line in _lines(node)}
    lines = source.split("\n")
    for node in idle:
        above = node.lineno - 1
        while above > 0 and lines[above - 1].startswith("#"):
            dropped.add(above)
            above -= 1
    text = "\n".join(line for i, line in enumerate(lines, start=1) if i not in dropped)
    text = text.strip("\n") + "\n"
    return (text, "code that would run at import removed") if parsed(text) else None


def _lines(node: ast.stmt) -> range:
    decorators = getattr(node, "decorator_list", [])
    first = min(each.lineno for each in (node, *decorators))
    return range(first, (node.end_lineno or node.lineno) + 1)


def _is_idle(node: ast.stmt) -> bool:
    """Whether a statement only shows or checks something."""
    match node:
        case ast.Assert():
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__")), orelse=[]):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in {"print", "exit", "quit"} or bool(_DEMO.match(name))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr))):
            return name in _RUNNERS or (name, attr) == ("sys", "exit")
        case ast.Expr(value=value):
            return not isinstance(value, ast.Constant | ast.Call | ast.Await | ast.NamedExpr)
    return False


def _is_firm(node: ast.stmt, foreign: set[str]) -> bool:
    """Whether a statement stays, whatever uses it."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.ClassDef():
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return True
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            calls = any(isinstance(each, ast.Call) for each in ast.walk(node))
            return not calls or _sets_up(node, foreign)
        case ast.Expr():
            return _sets_up(node, foreign)
    firm = (*(ast.FunctionDef, ast.ClassDef), *(ast.Import, ast.ImportFrom))
    return any(isinstance(each, firm) for each in ast.walk(node))


def _sets_up(node: ast.stmt, foreign: set[str]) -> bool:
    """Whether a statement sets up a module: `sys.setrecursionlimit(…)`, `getcontext().prec = …`."""
    match node:
        case ast.Expr(value=ast.Call(func=target)):
            return called(target) in foreign
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target, *_]):
            return called(target) in foreign
    return False


def _names(nodes: Sequence[ast.expr]) -> Iterator[ast.Name]:
    return (node for node in nodes if isinstance(node, ast.Name))


def _with_imports(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """A source with imports for well-known names that it uses."""
    tree = parsed(source)
    lines = import_lines(source, tree) if tree else []
    if tree is None or not lines:
        return None
    place = 0
    for node in tree.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) if node is tree.body[0]:
                place = node.end_lineno or 0
            case ast.ImportFrom(module="__future__"):
                place = node.end_lineno or 0
    if place == 0 and tree.body:
        place = _lines(tree.body[0])[0] - 1
    text = source.split("\n")
    gap = [] if _begins_with_import(text[place:]) else ["", ""]
    whole = "\n".join([*text[:place], *lines, *gap, *text[place:]])
    return (whole, f"imports added: {'; '.join(lines)}") if parsed(whole) else None


def _begins_with_import(lines: Sequence[str]) -> bool:
    return bool(lines) and (not lines[0].strip() or lines[0].startswith(("import ", "from ")))


def _without_useless_imports(
    source: str, entry: str, kind: Kind, beside: frozenset[str]
) -> Mended | None:
    """A source without imports of unused packages and of the program itself."""
    tree = parsed(source)
    useless = useless_imports(tree, beside) if tree and kind in {"function", "library"} else []
    if tree is None or not useless or (entry and entry not in defined(tree)):
        return None
    dropped = {line for node in useless for line in _lines(node)}
    if any(set(_lines(node)) & dropped for node in tree.body if node not in useless):
        return None
    lines = source.split("\n")
    text = "\n".join(line for i, line in enumerate(lines, start=1) if i not in dropped)
    return (text, "imports that nothing uses removed") if parsed(text) else None


def python_steps(beside: frozenset[str]) -> tuple[Step, ...]:
    """The repairs for a Python file; `beside` names the modules that lie beside it."""
    return (
        readable,
        _with_entry,
        _without_demonstrations,
        partial(_without_useless_imports, beside=beside),
        _with_imports,
    )
