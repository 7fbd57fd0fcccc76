"""One function of a service exchanged for another, and the rest of its source left as it is."""

import ast
from collections.abc import Collection, Mapping
from dataclasses import replace

from twinsmith.core.planning.contract import KINDS, Contract, Field, Kind, Table
from twinsmith.core.replies.python_names import parsed


def functions_in(source: str, names: Collection[str]) -> dict[str, str]:
    """The text of each function of a program that has one of these names."""
    tree = parsed(source)
    return {
        node.name: ast.get_source_segment(source, node) or ""
        for node in (tree.body if tree else ())
        if isinstance(node, ast.FunctionDef) and node.name in names and not node.decorator_list
    }


def patched(source: str, functions: Mapping[str, str]) -> str:
    """The source with these functions in the place of those of the same names."""
    for name, text in functions.items():
        tree = parsed(source)
        node = next(
            (
                each
                for each in (tree.body if tree else ())
                if isinstance(each, ast.FunctionDef) and each.name == name
            ),
            None,
        )
        if node is not None and node.end_lineno is not None:
            lines = source.split("\n")
            lines[node.lineno - 1 : node.end_lineno] = text.strip("\n").split("\n")
            source = "\n".join(lines)
    return source


def tables_in(source: str) -> tuple[Table, ...]:
    """The tables that a service around our frame keeps, as its source tells them."""
    tree = parsed(source)
    for node in tree.body if tree else ():
        match node:
            case ast.Assign(targets=[ast.Name(id="TABLES")], value=value):
                return tuple(_tables(value))
    return ()


def _tables(value: ast.expr) -> list[Table]:
    try:
        told = ast.literal_eval(value)
        return [
            Table(
                name=str(name),
                columns=tuple(Field(name=str(c), kind=_kind(kind)) for c, kind in columns.items()),
            )
            for name, (_, columns) in told.items()
        ]
    except (ValueError, TypeError, AttributeError):
        return []


def _kind(text: object) -> Kind:
    return next((each for each in KINDS if each == text), "string")


def with_tables(contract: Contract, source: str) -> Contract:
    """The contract with the tables that the deployed source really has."""
    found = tables_in(source)
    return replace(contract, tables=found) if found else contract
