"""A candidate and the probes in, what happened out."""

from dataclasses import replace

from twinsmith.core.execution import Execution, Limits
from twinsmith.core.plan import Plan
from twinsmith.core.probe import Probes, read_check, read_tests
from twinsmith.core.program import Candidate
from twinsmith.core.task import Task
from twinsmith.ports import Sandbox


def probes_for(task: Task, plan: Plan) -> Probes:
    """The person's tests first, then what the plan proposed and reads as one assert."""
    given = read_tests(task.tests, file="tests") if task.tests else Probes(checks=())
    proposed = [read_check(line, number=n) for n, line in enumerate(plan.checks, start=1)]
    return replace(given, checks=given.checks + tuple(p for p in proposed if p is not None))


async def execute(
    candidate: Candidate, probes: Probes, limits: Limits, sandbox: Sandbox
) -> Execution:
    """Run all probes on one candidate; nothing runs where there is no program."""
    if candidate.program is None:
        return Execution(candidate=candidate.number, results=())
    execution = await sandbox.run(candidate.program, probes, limits)
    return replace(execution, candidate=candidate.number)
