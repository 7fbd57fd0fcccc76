"""The best that a run made, chosen or not."""

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection
from twinsmith.core.outcome import Work
from twinsmith.core.probe import Probe
from twinsmith.core.program import Candidate, Program

PROGRAM = Program(source="x = 1\n")
CHECKS = [Probe(name=str(n), origin="plan", source=f"assert f({n})") for n in range(3)]


def pool(*passed: int | None) -> Pool:
    """Candidates by how many of three checks they pass; None is one that was never written."""
    made = Pool()
    for check in CHECKS:
        made = made.with_check(check)
    for number, count in enumerate(passed, 1):
        program = None if count is None else PROGRAM
        made = made.with_candidates([Candidate(number=number, program=program)])
        results = tuple(
            ProbeResult(name=check.name, outcome="passed" if n < (count or 0) else "failed")
            for n, check in enumerate(CHECKS)
        )
        made = made.with_execution(Execution(candidate=number, results=results if program else ()))
    return made


def best(made: Pool, winner: int | None = None) -> int | None:
    chosen = Work(pool=made, selection=Selection(winner=winner, confidence=0.0)).best
    return chosen.number if chosen else None


def test_who_was_chosen_is_the_best() -> None:
    assert best(pool(1, 3), winner=1) == 1


def test_where_none_was_chosen_it_is_who_came_nearest_and_of_equals_the_first() -> None:
    assert best(pool(1, 3, 2)) == 2
    assert best(pool(None, 2, 2)) == 2


def test_one_that_never_ran_is_better_than_none() -> None:
    unseen = Pool().with_candidates([Candidate(number=1, program=PROGRAM)])
    assert best(unseen) == 1
    assert best(pool(None, None)) is None
    assert best(Pool()) is None
