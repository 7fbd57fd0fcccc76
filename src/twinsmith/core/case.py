"""Tasks that were not solved, or hardly: worth trying again when twinsmith has learned more."""

from collections.abc import Iterable
from dataclasses import dataclass

from twinsmith.core.progress import State
from twinsmith.core.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run that has come to its end."""

    run: str
    task: Task
    state: State
    reason: str
    sure: bool = True
    """Whether the solution of this run was more than a guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A task that is still open; `run` and `reason` are those of the last try."""

    run: str
    task: Task
    reason: str
    tries: int


def open_cases(ended: Iterable[Ended]) -> tuple[Case, ...]:
    """The tasks whose last run, in the order given, did not solve them for sure.

    A cancelled run tells nothing about its task.
    """
    cases: dict[Task, Case] = {}
    for end in ended:
        if end.state == "cancelled":
            continue
        before = cases.pop(end.task, None)
        if end.state == "not solved" or not end.sure:
            tries = 1 + (before.tries if before else 0)
            cases[end.task] = Case(run=end.run, task=end.task, reason=end.reason, tries=tries)
    return tuple(cases.values())
