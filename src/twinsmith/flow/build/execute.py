"""A candidate and its probes in, what happened when it ran out."""

from dataclasses import replace

from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Probes
from twinsmith.core.program import Candidate
from twinsmith.ports import Sandbox


def not_run_yet(pool: Pool) -> list[tuple[Candidate, Probes]]:
    """The candidates of a pool that have not seen all probes, each with those that it lacks."""
    waiting = [(each, pool.unseen_by(each.number)) for each in pool.candidates if each.program]
    return [
        (each, probes)
        for each, probes in waiting
        if probes.checks and each.number not in pool.problems
    ]


async def execute(
    candidate: Candidate, probes: Probes, limits: Limits, sandbox: Sandbox
) -> Execution:
    """The execution of one candidate with these probes in the sandbox."""
    assert candidate.program is not None
    execution = await sandbox.run(candidate.program, probes, limits)
    return replace(execution, candidate=candidate.number)
