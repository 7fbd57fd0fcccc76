"""A leading candidate in, findings besides its results out: tools, undefined behaviour, speed."""

from collections.abc import Mapping
from dataclasses import replace

from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.efficiency import Timing, ladder, slow_ones, timings
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.quality import Thresholds, regarded, undefined_behaviour
from twinsmith.core.judging.security_findings import security_findings
from twinsmith.core.probe import Probes
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Finding
from twinsmith.ports import Reviewer, Sandbox

MOST_COMPARED = 3
PATIENCE = Limits(probe_seconds=2.0, cpu_seconds=2.0)
"""The limits of one step of a ladder of growing inputs: one that takes longer says enough."""


async def inspect(
    candidate: Candidate,
    pool: Pool,
    thresholds: Thresholds,
    limits: Limits,
    reviewer: Reviewer,
    sanitized: Sandbox,
) -> tuple[Finding, ...]:
    """The findings of review tools on a program, and of running it sanitized."""
    program = candidate.program
    assert program is not None
    found = await reviewer.review(program)
    if program.language == "python":
        found = (*found, *security_findings(program.source))
        for file in program.files:
            more = security_findings(file.text)
            found += tuple(replace(each, where=f"{file.name} {each.where}") for each in more)
    seen = pool.seen.get(candidate.number, ())
    calls = Probes(checks=pool.probes[: len(seen)], setup=pool.setup)
    again = await sanitized.run(program, calls, limits)
    plain = Execution(candidate=candidate.number, results=seen)
    return regarded((*found, *undefined_behaviour(plain, again)), thresholds)


def growing(pool: Pool) -> Probes:
    """A ladder of ever larger inputs of the call that can grow most; empty where none can."""
    calls = sorted(pool.calls(), key=lambda call: len(repr(call.args)), reverse=True)
    ladders = (ladder(call) for call in calls[:MOST_COMPARED])
    return next((steps for steps in ladders if steps.checks), Probes())


async def timed(candidate: Candidate, steps: Probes, sandbox: Sandbox) -> Execution:
    """The execution of a candidate on a ladder of growing inputs, with the time of each step."""
    assert candidate.program is not None
    return await sandbox.run(candidate.program, steps, PATIENCE)


def compared(
    steps: Probes, executions: Mapping[int, Execution], thresholds: Thresholds
) -> dict[int, Finding]:
    """The candidates that are far slower than the fastest, by number, with a finding each."""
    measured: dict[int, tuple[Timing, ...]] = {
        number: timings(steps, execution) for number, execution in executions.items()
    }
    return slow_ones(measured, slow=thresholds.slow, too_slow=thresholds.too_slow)
