"""The state of a search: does its leader pass, and how near has each ensemble come."""

from collections.abc import Mapping
from dataclasses import replace

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection
from twinsmith.core.outcome import Work
from twinsmith.core.probe import read_tests
from twinsmith.core.program import Candidate, Program
from twinsmith.flow.build.search import best_of, leader_passes, standing_of

TESTS = read_tests("assert double(2) == 4\nassert double(3) == 6\n", file="tests")


def work_of(passed: Mapping[int, int], *, winner: int | None) -> Work:
    """Candidates of ensemble 1 by their numbers, each of which passes so many of two checks."""
    pool = Pool().with_given(TESTS)
    for number, count in passed.items():
        program = Program(language="python", source=f"# {number}")
        pool = pool.with_candidates([Candidate(number=number, program=program, ensemble=1)])
        results = tuple(
            ProbeResult(name="", outcome="passed", value=right if place < count else "0")
            for place, right in enumerate(("4", "6"))
        )
        pool = pool.with_execution(Execution(candidate=number, results=results))
    return Work(pool=pool, selection=Selection(winner=winner, confidence=0.5))


def test_a_leader_passes_where_it_fails_nothing_that_was_given() -> None:
    assert leader_passes(work_of({1: 1, 2: 2}, winner=2))
    assert not leader_passes(work_of({1: 1, 2: 2}, winner=1))
    assert not leader_passes(work_of({1: 2}, winner=None))


def test_the_best_of_an_ensemble_passes_most_and_came_first() -> None:
    work = work_of({1: 0, 2: 1, 3: 1}, winner=None)
    best = best_of(work, 1)
    assert best is not None
    assert best.number == 2
    assert standing_of(work, 1) == "2, 1/2 checks"


def test_an_ensemble_without_a_program_stands_nowhere() -> None:
    answer = Candidate(number=1, program=None, ensemble=2, problem="no code")
    work = replace(Work(), pool=Pool().with_candidates([answer]))
    assert (best_of(work, 2), standing_of(work, 2)) == (None, "")
