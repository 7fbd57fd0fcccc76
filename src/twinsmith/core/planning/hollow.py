"""A program that answers to the same names and does nothing: what it passes shows nothing."""

import ast
from dataclasses import replace

from twinsmith.core.program import Program
from twinsmith.core.replies.python_names import parsed

HOLLOW = 900
"""The number of programs that are only there to see whether checks notice."""


def hollowed(program: Program) -> Program | None:
    """The program with functions and methods that return nothing; None where it is no Python."""
    tree = parsed(program.source) if program.language == "python" else None
    if tree is None or program.kind == "cli":
        return None
    copy = ast.parse(program.source)
    for node in ast.walk(copy):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [ast.Pass()]
            node.decorator_list = [
                each for each in node.decorator_list if isinstance(each, ast.Name)
            ]
    return replace(program, source=ast.unparse(copy) + "\n", files=())
