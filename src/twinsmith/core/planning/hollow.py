"""Hollow programs: the same names, but they do nothing; a check that they pass shows nothing."""

import ast
from dataclasses import replace

from twinsmith.core.program import Program
from twinsmith.core.replies.python_names import parsed
from twinsmith.core.syntax import parse

HOLLOW = 900
"""The candidate number under which hollow programs are run."""


def hollowed(program: Program) -> Program | None:
    """A program whose functions and methods do nothing; None where it is no Python or a command."""
    texts = [program.source, *(file.text for file in program.files)]
    python = program.language == "python" and all(parsed(text) is not None for text in texts)
    if not python or program.kind == "cli":
        return None
    files = tuple(replace(file, text=_emptied(file.text)) for file in program.files)
    return replace(program, source=_emptied(program.source), files=files)


def _emptied(source: str) -> str:
    tree = parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [ast.Pass()]
            node.decorator_list = [
                each for each in node.decorator_list if isinstance(each, ast.Name)
            ]
    return ast.unparse(tree) + "\n"
