"""Asserts that a model wrote, each in one spelling, and as a call where it is one."""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from twinsmith.core.probe import Probe, read_check
from twinsmith.core.replies.python_names import parsed
from twinsmith.core.syntax import parse

MOST_CHECKS = 30
MOST_OF_A_TEST = 4
_BUILTINS = frozenset(dir(builtins))
_PARTS = re.compile(r"^(?=def |assert )", re.MULTILINE)
_FENCED = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)


def counted(text: str, function: str) -> dict[Probe, int]:
    """The asserts about a function in a reply, each in one spelling, and how often each occurs."""
    found = Counter(proposed(text, function))
    return dict(found.most_common(MOST_CHECKS))


def proposed(text: str, function: str) -> Iterator[Probe]:
    """The asserts about a function in a completion, as calls where they are calls."""
    for node in _asserts(text):
        probe = read_check(ast.unparse(ast.Assert(test=_compared_by_value(node.test))), number=0)
        if probe is None or function not in probe.source:
            continue
        if probe.call is None or probe.call.function == function:
            yield replace(probe, name=probe.source.removeprefix("assert "))


def library_checks(text: str, names: Sequence[str]) -> dict[Probe, int]:
    """The asserts and small test functions about some names in a reply, and how often they stand.

    A test of one assert is that assert. What uses a name that nobody promised is no check.
    """
    known = set(names)
    found: Counter[Probe] = Counter()
    for test in _tests(text):
        node = _Raising().visit(test)
        body = node.body if isinstance(node, ast.FunctionDef) else [node]
        # Each assert with all before it: a mistake further down costs nothing here.
        ends = [place for place, line in enumerate(body, 1) if _asserts_something(line)]
        for end in ends[:MOST_OF_A_TEST]:
            probe = _check(body[:end]) if _is_about(body[:end], known) else None
            if probe is not None:
                found[probe] += 1
    return dict(found.most_common(MOST_CHECKS))


def _check(lines: Sequence[ast.stmt]) -> Probe | None:
    match lines:
        case [ast.Assert(test=test)]:
            alone = ast.unparse(ast.Assert(test=_compared_by_value(test)))
            probe = read_check(alone, number=0)
            return probe and replace(probe, name=probe.source.removeprefix("assert "))
    texts = [ast.unparse(ast.fix_missing_locations(line)) for line in lines]
    name = "; ".join(" ".join(text.split()) for text in texts)
    return Probe(name=name, origin="plan", source="\n".join(texts))


def _is_about(lines: Sequence[ast.stmt], known: set[str]) -> bool:
    """Whether statements use a name that is known, and none that is not."""
    every = [each for line in lines for each in ast.walk(line)]
    used = {each.id for each in every if isinstance(each, ast.Name)}
    return bool(known & used) and not used - known - _bound_in(every) - _BUILTINS


class _Raising(ast.NodeTransformer):
    """Rewrites `with pytest.raises(E): f()` as a `try` that needs no package."""

    def visit_With(self, node: ast.With) -> ast.With | ast.Try:
        match node.items:
            case [ast.withitem(context_expr=ast.Call(func=asked, args=[kind, *_]))] if isinstance(
                asked, ast.Attribute
            ) and asked.attr in ("raises", "assertRaises"):
                pass
            case _:
                return node
        none = parse(f"raise AssertionError({ast.unparse(kind) + ' was not raised'!r})").body
        handler = ast.ExceptHandler(type=kind, body=[ast.Pass()])
        return ast.Try(body=node.body, handlers=[handler], orelse=none, finalbody=[])


def _asserts_something(line: ast.stmt) -> bool:
    return any(isinstance(each, ast.Assert | ast.Raise) for each in ast.walk(line))


def _bound_in(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that a test binds by itself."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found


def _tests(text: str) -> Iterator[ast.Assert | ast.FunctionDef]:
    """The asserts and test functions of a text, each read by itself: the last may have been cut."""
    for part in _PARTS.split(_code(text)):
        if parsed(part) is None:
            continue
        # A tree of its own: tests are rewritten.
        for node in parse(part).body:
            match node:
                case ast.Assert() | ast.FunctionDef(args=ast.arguments(args=[])):
                    yield node


def _asserts(text: str) -> Iterator[ast.Assert]:
    """The lines of a text that are asserts, where the whole is no program."""
    for part in [text] if parsed(text) else text.splitlines():
        tree = parsed(part.strip())
        yield from (node for node in (tree.body if tree else ()) if isinstance(node, ast.Assert))


def _code(text: str) -> str:
    return "\n".join(_FENCED.findall(text)) or text


def _compared_by_value(test: ast.expr) -> ast.expr:
    """An assert's condition as `f(x) == …`, also where it says `f(x) is True` or `not f(x)`."""
    match test:
        case ast.Call(func=ast.Name()):
            return _equal(test, ast.Constant(value=True))
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name()) as call):
            return _equal(call, ast.Constant(value=False))
        case ast.Compare(left=ast.Call() as call, ops=[ast.Is()], comparators=[value]):
            return _equal(call, value)
        case ast.Compare(
            left=value, ops=[ast.Eq() | ast.Is()], comparators=[ast.Call() as call]
        ) if not isinstance(value, ast.Call):
            return _equal(call, value)
    return test


def _equal(call: ast.Call, value: ast.expr) -> ast.Compare:
    return ast.Compare(left=call, ops=[ast.Eq()], comparators=[value])
