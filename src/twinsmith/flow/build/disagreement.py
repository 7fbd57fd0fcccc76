"""Disagreements of the two leading candidates: which of them a critic or a person can settle."""

from twinsmith.core.checks.inputs import REFUSES
from twinsmith.core.judging.selection import Separation
from twinsmith.core.probe import is_literal


def votable(between: Separation | None) -> Separation | None:
    """The disagreement, where both sides are values; that one program fails needs no opinion."""
    if between is None:
        return None
    both = (between.winner, between.runner_up)
    return between if all(each == REFUSES or is_literal(each) for each in both) else None
