"""Which tasks are still open."""

from twinsmith.core.case import Case, Ended, open_cases
from twinsmith.core.progress import State
from twinsmith.core.task import Task

HARD = Task(text="hard", language="python", kind="function")
EASY = Task(text="easy", language="python", kind="function")


def ended(run: str, task: Task, state: State, *, sure: bool = True) -> Ended:
    return Ended(run=run, task=task, state=state, reason=f"why {run}", sure=sure)


def test_what_was_not_solved_stays_open_until_it_is() -> None:
    first = [ended("a", HARD, "not solved"), ended("b", EASY, "solved")]
    assert open_cases(first) == (Case(run="a", task=HARD, reason="why a", tries=1),)
    second = [*first, ended("c", HARD, "not solved")]
    assert open_cases(second) == (Case(run="c", task=HARD, reason="why c", tries=2),)
    assert open_cases([*second, ended("d", HARD, "solved")]) == ()


def test_a_guess_is_a_case_and_a_cancelled_run_says_nothing() -> None:
    unsure = ended("a", EASY, "solved", sure=False)
    assert [case.run for case in open_cases([unsure])] == ["a"]
    assert [case.run for case in open_cases([unsure, ended("b", EASY, "cancelled")])] == ["a"]
    assert open_cases([ended("c", EASY, "cancelled")]) == ()


def test_other_tests_make_another_task() -> None:
    strict = Task(text="hard", language="python", kind="function", tests="assert f() == 1")
    found = open_cases([ended("a", HARD, "not solved"), ended("b", strict, "solved")])
    assert [case.task for case in found] == [HARD]
