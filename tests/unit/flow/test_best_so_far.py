"""A run that has no time left hands over the best that it has."""

import json

from tests.conftest import PROFILE
from tests.worlds import DOUBLE, SQUARE, World, job_of, saying, with_effort
from twinsmith.core.budget import Budget

BOTH = saying(slow=[json.dumps(PROFILE)], coder=[SQUARE, DOUBLE])


async def test_when_time_runs_out_the_best_so_far_is_handed_over() -> None:
    # Both are written and tried; then a look at the leader is more than there is time for.
    world, job = World(BOTH, sandbox_seconds=9), job_of(budget=Budget(tokens=9000, seconds=20))
    outcome = await world.build(with_effort(job, least=1.0))
    assert (outcome.solved, outcome.winner) == (False, None)
    assert world.files(job)["rejected/solution.py"] == DOUBLE
    assert "20 seconds" in outcome.reason
    # One is tried, the other is not any more.
    world, job = World(BOTH, sandbox_seconds=9), job_of(budget=Budget(tokens=9000, seconds=10))
    outcome = await world.build(with_effort(job, least=1.0))
    assert not outcome.solved
    assert "rejected/solution.py" in world.files(job)
    assert "10 seconds" in outcome.reason
    # None is tried: what was written is handed over all the same.
    world, job = World(BOTH), job_of(budget=Budget(tokens=9000, seconds=2))
    outcome = await world.build(job)
    assert "2 seconds" in outcome.reason
    assert world.files(job)["rejected/solution.py"] == SQUARE
