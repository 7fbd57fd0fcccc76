"""The origin of each line of a program: frame, skeleton, retrieved text or a model."""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal

from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.piece import stub
from twinsmith.core.planning.python_kit import CONTRACT_FILE, KIT_FILE
from twinsmith.core.planning.standing import Asked
from twinsmith.core.program import FILE_NAMES, Program
from twinsmith.core.replies.python_names import parsed

Origin = Literal["frame", "skeleton", "retrieved", "model"]
SHORTEST = 12
"""The fewest characters of a line that counts as copied where it stands elsewhere."""


def origins(
    program: Program, asked: Asked | None, retrieved: Sequence[str]
) -> dict[str, list[tuple[Origin, int]]]:
    """For each file, its lines in runs of one origin: the origin, and how many lines it has."""
    known = frozenset(_long(line for text in retrieved for line in text.splitlines()))
    contract = asked.contract if asked is not None and _is_framed(program) else None
    found: dict[str, list[tuple[Origin, int]]] = {}
    for name, text in _files(program):
        lines = text.splitlines()
        if contract is None:
            each = [_written(line, known) for line in lines]
        elif name == FILE_NAMES[program.language]:
            each = _around(text, contract, known)
        else:
            each = ["frame"] * len(lines)
        found[name] = [(origin, len(list(run))) for origin, run in groupby(each)]
    return found


def shares(found: Mapping[str, Sequence[tuple[Origin, int]]]) -> dict[str, float]:
    """The share of all lines that each origin has."""
    counted: Counter[str] = Counter()
    for runs in found.values():
        for origin, lines in runs:
            counted[origin] += lines
    whole = counted.total() or 1
    return {origin: round(lines / whole, 3) for origin, lines in sorted(counted.items())}


def _files(program: Program) -> Iterable[tuple[str, str]]:
    yield FILE_NAMES[program.language], program.source
    for file in program.files:
        yield file.name, file.text


def _is_framed(program: Program) -> bool:
    return {file.name for file in program.files} == {KIT_FILE, CONTRACT_FILE}


def _around(text: str, contract: Contract, known: frozenset[str]) -> list[Origin]:
    """The origin of each line in the main file of a service that is built around a frame."""
    skeleton = {
        line.strip()
        for each in contract.pieces
        for line in stub(each, contract).splitlines()
        if line.strip()
    }
    written = _written_lines(text, frozenset(each.function for each in contract.pieces))
    found: list[Origin] = []
    for number, line in enumerate(text.splitlines(), 1):
        if number not in written:
            found.append("frame")
        elif not line.strip():
            found.append(found[-1])
        else:
            found.append("skeleton" if line.strip() in skeleton else _written(line, known))
    return found


def _written_lines(text: str, names: frozenset[str]) -> frozenset[int]:
    """The numbers of the lines inside functions with these names."""
    tree = parsed(text)
    return frozenset(
        number
        for node in (tree.body if tree else ())
        if isinstance(node, ast.FunctionDef) and node.name in names
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def _written(line: str, known: frozenset[str]) -> Origin:
    return "retrieved" if line.strip() in known else "model"


def _long(lines: Iterable[str]) -> Iterable[str]:
    return (line.strip() for line in lines if len(line.strip()) >= SHORTEST)
