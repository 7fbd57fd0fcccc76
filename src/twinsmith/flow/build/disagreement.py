"""Disagreements of the two leading candidates: which of them a critic or a person can settle."""

import ast

from twinsmith.core.checks.inputs import REFUSES
from twinsmith.core.judging.selection import Separation


def votable(between: Separation | None) -> Separation | None:
    """The disagreement, where both sides are values; that one program fails needs no opinion."""
    if between is None:
        return None
    both = (between.winner, between.runner_up)
    return between if all(each == REFUSES or is_literal(each) for each in both) else None


def is_literal(text: str) -> bool:
    """True where a text is a value as Python writes it."""
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True
