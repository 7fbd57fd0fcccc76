"""Python source to its syntax tree, although other threads may parse at the same moment.

Python 3.11 counts how deep its parser is for all threads together (CPython issue 106905): when two
parse at once, one of them is told so by a SystemError. What it read is right the next time.
"""

import ast
from collections.abc import Callable
from typing import TypeVar

MOST_TRIES = 5
Tree = TypeVar("Tree", ast.Module, ast.Expression)


def parse(source: str) -> ast.Module:
    """The tree of a whole source, or what `ast.parse` raises."""
    return _undisturbed(lambda: ast.parse(source))


def parse_expression(source: str) -> ast.Expression:
    """The tree of one expression, or what `ast.parse` raises."""
    return _undisturbed(lambda: ast.parse(source, mode="eval"))


def _undisturbed(read: Callable[[], Tree]) -> Tree:
    for _ in range(MOST_TRIES - 1):
        try:
            return read()
        except SystemError:
            continue
    return read()
