"""Where each line of a program comes from."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal

from twinsmith.core.planning.piece import stub
from twinsmith.core.planning.standing import Asked
from twinsmith.core.program import FILE_NAMES, Program

Origin = Literal["frame", "skeleton", "retrieved", "model"]
SHORTEST = 12
"""Characters of a line that is no accident when it stands elsewhere word for word."""


def origins(
    program: Program, asked: Asked | None, retrieved: Sequence[str]
) -> dict[str, list[tuple[Origin, int]]]:
    """Of each file: so many lines of one origin, then so many of the next; empty lines go along."""
    known = frozenset(_long(line for text in retrieved for line in text.splitlines()))
    framed = asked is not None and bool(program.files) and bool(asked.pieces)
    found: dict[str, list[tuple[Origin, int]]] = {}
    for name, text in _files(program):
        lines = text.splitlines()
        if not framed:
            each = [_written(line, known) for line in lines]
        elif name == FILE_NAMES[program.language]:
            assert asked is not None
            each = _around(lines, asked, known)
        else:
            each = ["frame"] * len(lines)
        found[name] = [(origin, len(list(run))) for origin, run in groupby(each)]
    return found


def shares(found: Mapping[str, Sequence[tuple[Origin, int]]]) -> dict[str, float]:
    """Of all lines, how many are of which origin."""
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


def _around(lines: Sequence[str], asked: Asked, known: frozenset[str]) -> list[Origin]:
    """The main file of a framed service: functions that models wrote, with our first lines."""
    contract = asked.contract
    assert contract is not None
    skeleton = {
        line.strip()
        for each in contract.pieces
        for line in stub(each, contract).splitlines()
        if line.strip()
    }
    written = {line for source in asked.pieces.values() for line in source.splitlines()}
    found: list[Origin] = []
    for line in lines:
        if line.strip() in skeleton:
            found.append("skeleton")
        elif line in written and line.strip():
            found.append(_written(line, known))
        else:
            found.append("frame" if line.strip() or not found else found[-1])
    return found


def _written(line: str, known: frozenset[str]) -> Origin:
    return "retrieved" if line.strip() in known else "model"


def _long(lines: Iterable[str]) -> Iterable[str]:
    return (line.strip() for line in lines if len(line.strip()) >= SHORTEST)
