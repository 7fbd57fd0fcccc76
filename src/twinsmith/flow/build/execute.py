"""A pool in, the same pool with what happened when its candidates ran out."""

from dataclasses import replace

from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Probes
from twinsmith.core.program import Candidate
from twinsmith.ports import Sandbox


def not_run_yet(pool: Pool) -> list[tuple[Candidate, Probes]]:
    """Which candidates have to be tried with what."""
    waiting = [(each, pool.unseen_by(each.number)) for each in pool.candidates if each.program]
    return [
        (each, probes)
        for each, probes in waiting
        if probes.checks and each.number not in pool.problems
    ]


async def execute(
    candidate: Candidate, probes: Probes, limits: Limits, sandbox: Sandbox
) -> Execution:
    """Run probes on one candidate."""
    assert candidate.program is not None
    execution = await sandbox.run(candidate.program, probes, limits)
    return replace(execution, candidate=candidate.number)
