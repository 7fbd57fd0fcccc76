"""The table of contents: every stage once, in order, durable."""

import asyncio

from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.outcome import RunOutcome, Work
from twinsmith.core.plan import Plan
from twinsmith.core.probe import Probes
from twinsmith.core.program import Candidate
from twinsmith.core.task import Job
from twinsmith.core.verdict import Verdict, best_of
from twinsmith.flow.build.accept import choose, result_files
from twinsmith.flow.build.critique import critique
from twinsmith.flow.build.execute import execute, probes_for
from twinsmith.flow.build.generate import generate
from twinsmith.flow.build.plan import plan
from twinsmith.flow.recorder import Ports, Recorder
from twinsmith.ports import Sandbox

# The order of recorded steps is part of a run's record: raise this when it changes, and runs that
# an older order began are refused by name instead of being replayed wrongly.
PIPELINE_VERSION = "3"


async def build(job: Job, limits: Limits, ports: Ports) -> RunOutcome:
    """From a job to its outcome."""
    run = Recorder(job, ports)
    try:
        async with run.stage("plan") as stage:
            planned = await plan(job.task, run.ask)
            probes = probes_for(job.task, planned)
            stage.text = f"{planned.entry}, {len(probes.checks)} checks"
    except (BadReply, BudgetExceeded) as error:
        return await _accept(job, Work(problem=str(error)), run)
    candidates = await _generate(job, planned, run)
    executions = await _execute(candidates, probes, limits, run)
    verdicts = await _critique(candidates, probes, executions, run)
    work = Work(plan=planned, probes=probes, candidates=candidates, verdicts=verdicts)
    return await _accept(job, work, run)


async def _generate(job: Job, planned: Plan, run: Recorder) -> tuple[Candidate, ...]:
    async with run.stage("generate") as stage:
        numbers = range(1, job.candidates + 1)
        asked = [generate(job.task, planned, number, run.ask) for number in numbers]
        if job.budget.usd is None:
            # All at once: the embedded model answers four in little more than the time of two.
            with run.ledger.at_once():
                candidates = tuple(await asyncio.gather(*asked))
        else:
            # One by one: what one may cost is only known when the one before it is paid.
            candidates = tuple([await one for one in asked])
        usable = sum(candidate.program is not None for candidate in candidates)
        stage.text = f"{usable} of {len(candidates)} candidates usable"
    return candidates


async def _execute(
    candidates: tuple[Candidate, ...], probes: Probes, limits: Limits, run: Recorder
) -> tuple[Execution, ...]:
    async with run.stage("execute") as stage:
        executions: list[Execution] = []
        for candidate in candidates:

            async def in_sandbox(sandbox: Sandbox, candidate: Candidate = candidate) -> Execution:
                return await execute(candidate, probes, limits, sandbox)

            try:
                executions.append(await run.execute(candidate.number, in_sandbox))
            except BudgetExceeded as error:
                not_run = Execution(candidate=candidate.number, results=(), problem=str(error))
                executions.append(not_run)
        ran = sum(bool(execution.results) for execution in executions)
        stage.text = f"{ran} of {len(candidates)} candidates ran"
    return tuple(executions)


async def _critique(
    candidates: tuple[Candidate, ...],
    probes: Probes,
    executions: tuple[Execution, ...],
    run: Recorder,
) -> tuple[Verdict, ...]:
    async with run.stage("critique") as stage:
        verdicts: tuple[Verdict, ...] = ()
        for candidate, execution in zip(candidates, executions, strict=True):
            verdict = critique(candidate, probes, execution)
            verdicts = (*verdicts, verdict)
            best = best_of(verdicts) or verdict
            await run.tell(
                "candidate.judged",
                key=str(candidate.number),
                who="critic",
                data={
                    "candidate": candidate.number,
                    "accepted": verdict.accepted,
                    "passed": verdict.passed,
                    "total": verdict.total,
                    "best": f"candidate {best.candidate}, {best.passed}/{best.total} checks",
                },
            )
        accepted = sum(verdict.accepted for verdict in verdicts)
        stage.text = f"{accepted} of {len(verdicts)} candidates accepted"
    return verdicts


async def _accept(job: Job, work: Work, run: Recorder) -> RunOutcome:
    async with run.stage("accept") as stage:
        best, why = choose(work.verdicts)
        solved = best is not None and best.accepted
        outcome = RunOutcome(
            run=job.run,
            solved=solved,
            reason=work.problem or why,
            out=job.out,
            verdicts=work.verdicts,
            winner=best.candidate if best and solved else None,
            spent=run.ledger.spent,
            models=run.models,
        )
        await run.publish(result_files(job, work, outcome))
        stage.text = "solved" if solved else "not solved"
    return outcome
