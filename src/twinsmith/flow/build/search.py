"""The state of a search: does its leader pass, and how near has each ensemble come."""

from twinsmith.core.outcome import Work
from twinsmith.core.program import Candidate


def leader_passes(work: Work) -> bool:
    """True where the best candidate so far passes every check that was given."""
    winner = work.selection.winner
    return winner is not None and not work.pool.failing(winner)


def best_of(work: Work, ensemble: int) -> Candidate | None:
    """The candidate of an ensemble that comes nearest, if one of its answers is a program."""
    own = [c for c in work.pool.candidates if c.ensemble == ensemble and c.program]
    return max(own, key=lambda c: (work.pool.passed(c.number), -c.number), default=None)


def standing_of(work: Work, ensemble: int) -> str:
    """The best candidate of an ensemble and the checks that it passes, as a person reads it."""
    best = best_of(work, ensemble)
    if best is None:
        return ""
    passed, total = work.pool.passed(best.number)
    return f"{best.number}, {passed}/{total} checks"
