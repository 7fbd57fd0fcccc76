"""Which arms of running experiments a new run is in, and what became of the runs in them."""

from collections.abc import Sequence

from twinsmith.core.task import Task
from twinsmith.core.trying.arrangement import AS_SET, Arrangement, over
from twinsmith.core.trying.experiment import (
    Arm,
    Assigned,
    Experiment,
    arm_of,
    shared_key,
    unit_of,
)
from twinsmith.core.trying.experiment_results import Result, Trial, result_in
from twinsmith.runs.book import Book
from twinsmith.wiring.experiments import experiments_of, trials_of

Arms = tuple[tuple[str, str], ...]


def arms_for(book: Book, task: Task, given: Arrangement) -> tuple[Arrangement, Arms]:
    """The arrangement of a task's arms with `given` over it, and those arms.

    Whoever tells themselves how something is done takes no part in an experiment about that.
    """
    tried, arms = AS_SET, []
    for each in experiments_of(book.settings).listed():
        if each.state != "running" or each.mode != "live":
            continue
        if shared_key((each.a, each.b), (given,)):
            continue
        arm = arm_of(each, unit_of(task.text))
        tried = over(tried, each.arrangement(arm))
        arms.append((each.name, arm))
    return over(tried, given), tuple(arms)


def trials(book: Book, experiment: Experiment) -> tuple[Trial, ...]:
    """The runs of an experiment with what became of them; what is final is kept."""
    table, found = trials_of(book.settings), []
    for each in table.listed(experiment.name):
        result = each.result
        if result is None:
            result = result_in(each.assigned, book.journal.entries(each.assigned.run))
            if result is not None and result.final:
                table.settle(experiment.name, result)
        found.append(Trial(assigned=each.assigned, result=result))
    return tuple(found)


def history(book: Book, most: int) -> tuple[Result, ...]:
    """What became of the latest builds, oldest first, whatever they were for."""
    found: list[Result] = []
    for run in reversed(book.journal.runs()):
        if len(found) >= most:
            break
        assigned = Assigned(experiment="", run=run, unit=run, arm="a")
        result = result_in(assigned, book.journal.entries(run))
        if result is not None and result.final:
            found.append(result)
    return tuple(reversed(found))


def results_of(found: Sequence[Trial]) -> tuple[Result, ...]:
    """The results that there are."""
    return tuple(each.result for each in found if each.result is not None)


def counted(found: Sequence[Trial], arm: Arm) -> tuple[int, int]:
    """How many runs of an arm there are, and how many of them have no result yet."""
    mine = [each for each in found if each.assigned.arm == arm]
    return len(mine), sum(each.result is None for each in mine)
