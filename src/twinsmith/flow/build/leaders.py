"""The leading candidates of a search, looked at closely: by review tools, and for speed."""

from dataclasses import replace

from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.quality import objections
from twinsmith.core.judging.selection import select
from twinsmith.core.outcome import Work
from twinsmith.core.program import Candidate
from twinsmith.core.task import Job
from twinsmith.core.verdict import Finding
from twinsmith.flow.build.inspect import MOST_COMPARED, compared, growing, inspect, timed
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Reviewer, Sandbox


class Leaders:
    """The reviewer's look at leading candidates: it can bar one, never make a wrong one right."""

    def __init__(self, job: Job, limits: Limits, recorder: Recorder) -> None:
        self._quality = job.quality
        self._limits = limits
        self._recorder = recorder

    async def inspected(self, work: Work) -> Work:
        """The work with a leader that no review tool objects to, or with none."""
        try:
            while (winner := work.selection.winner) is not None:
                if winner in work.pool.findings:
                    break
                findings = await self._findings(work.pool.numbered(winner), work.pool)
                barred = bool(objections(findings, self._quality))
                pool = work.pool.with_findings(winner, findings, barred=barred)
                work = replace(work, pool=pool)
                if barred:
                    work = replace(work, selection=select(pool.evidence()))
        except BudgetExceeded as error:
            return replace(work, problem=str(error))
        return work

    async def quickest(self, work: Work) -> Work:
        """The work led by one of those that give the same that is not far slower than another."""
        chosen, pool = work.selection, work.pool
        steps = growing(pool)
        same = chosen.clusters[0][:MOST_COMPARED] if chosen.clusters else ()
        if chosen.winner is None or len(same) < 2 or not steps.checks:
            return work
        async with self._recorder.stage("compare speed") as stage:
            executions: dict[int, Execution] = {}
            for number in same:

                async def in_sandbox(sandbox: Sandbox, number: int = number) -> Execution:
                    return await timed(pool.numbered(number), steps, sandbox)

                try:
                    executions[number] = await self._recorder.execute(number, in_sandbox)
                except BudgetExceeded:
                    return work
            slow = compared(steps, executions, self._quality)
            stage.text = f"{len(slow)} of {len(same)} far slower than the fastest"
        for number, finding in slow.items():
            barred = finding.severity == "blocking"
            pool = pool.with_findings(number, (finding,), barred=barred)
        quick = [n for n in same if n not in slow and n not in pool.barred]
        best = quick[0] if quick and chosen.winner in slow else chosen.winner
        return await self.inspected(
            replace(work, pool=pool, selection=replace(chosen, winner=best))
        )

    async def _findings(self, candidate: Candidate, pool: Pool) -> tuple[Finding, ...]:
        async def look(reviewer: Reviewer, sanitized: Sandbox) -> tuple[Finding, ...]:
            return await inspect(candidate, pool, self._quality, self._limits, reviewer, sanitized)

        return await self._recorder.inspect(candidate.number, look)
