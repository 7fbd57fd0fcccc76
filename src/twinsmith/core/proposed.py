"""Asserts that a model wrote, in one form each: what should hold, as a call where it is one."""

import ast
from collections import Counter
from collections.abc import Iterator

from twinsmith.core.probe import Probe, read_check

MOST_CHECKS = 30


def counted(text: str, function: str) -> dict[str, int]:
    """The asserts about a function in a reply, in one spelling each, and how often they stand."""
    found = Counter(probe.source for probe in proposed(text, function))
    return dict(found.most_common(MOST_CHECKS))


def proposed(text: str, function: str) -> Iterator[Probe]:
    """The asserts about a function in a completion, as calls where they are calls."""
    for node in _asserts(text):
        probe = read_check(ast.unparse(ast.Assert(test=_compared_by_value(node.test))), number=0)
        if probe is None or function not in probe.source:
            continue
        if probe.call is None or probe.call.function == function:
            yield Probe(name="", origin="plan", source=probe.source, call=probe.call)


def _asserts(text: str) -> Iterator[ast.Assert]:
    """Of a completion that is no program, the lines that are asserts."""
    for part in [text] if _parses(text) else text.splitlines():
        if _parses(part.strip()):
            body = ast.parse(part.strip()).body
            yield from (node for node in body if isinstance(node, ast.Assert))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _compared_by_value(test: ast.expr) -> ast.expr:
    """`f(x) is True`, `f(x)`, `not f(x)` and `3 == f(x)` as `f(x) == …`."""
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
