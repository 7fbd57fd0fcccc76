"""A deployed service and a check that fails on it in, a service that passes it out.

Fresh functions come first and mended ones beside them: asked to mend, a small model often gives
wrong logic back unchanged. One function is exchanged at a time; the rest of the source stays.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial

from twinsmith.core.effort import ENSEMBLES
from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.execution import Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import select
from twinsmith.core.operating.diagnosis import Diagnosis
from twinsmith.core.operating.hunt import serves
from twinsmith.core.operating.mend import Mend
from twinsmith.core.outcome import Work
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.mending import complaints, told_about
from twinsmith.core.planning.patch import functions_in
from twinsmith.core.planning.requirement import NOTHING_REQUIRED
from twinsmith.core.planning.standing import Asked, transcript
from twinsmith.core.program import Candidate
from twinsmith.core.progress import several
from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS
from twinsmith.core.task import Job
from twinsmith.flow.build.chronicle import Chronicle
from twinsmith.flow.build.diagnose import diagnose
from twinsmith.flow.build.execute import execute
from twinsmith.flow.build.pieces import Bench, Framed, Order, Patched
from twinsmith.flow.build.reproduce import failing_checks, promises, whole
from twinsmith.flow.build.verdicts import judge
from twinsmith.flow.incidents import similar
from twinsmith.flow.recorder import Recorder

HEATS = (0.0, 0.4, 0.8)
"""The temperature of each round."""
MOST_SUSPECTS = 3
UNSEEN = "it cannot be reproduced"
"""How the reason begins where nothing shows what is wrong."""
UNFIT = ("NameError", "ImportError", "ModuleNotFoundError", "SyntaxError")
"""How the failure of a check begins that is wrong by itself."""


class Mending:
    """The search of both ensembles for one fix."""

    def __init__(self, job: Job, limits: Limits, recorder: Recorder) -> None:
        assert job.mend is not None
        self._job = job
        self._mend: Mend = job.mend
        self._limits = replace(
            limits,
            cpu_seconds=max(limits.cpu_seconds, CPU_SECONDS),
            probe_seconds=max(limits.probe_seconds, PROBE_SECONDS),
        )
        self._recorder = recorder
        self._chronicle = Chronicle(recorder)
        self._ensembles = ENSEMBLES[: job.effort.ensembles]
        self._asked = 0
        self._mine: frozenset[str] = frozenset()
        """The sources of the checks that show what is wrong."""

    async def solve(self) -> Work:
        """The work with a mended service; its problem says why there is none."""
        contract = self._mend.contract(json.loads(self._job.task.spec))
        shop = Patched(frame=Framed(self._job.task, contract), base=self._mend.program)
        bench = Bench(shop=shop, recorder=self._recorder)
        parts = functions_in(self._mend.program.source, shop.names)
        bench.parts[1] = parts
        await self._chronicle.divided(contract)
        work = self._ended(await self._sought(bench, parts), contract)
        await self._chronicle.judged(work, judge(work.pool))
        return work

    async def _sought(self, bench: Bench, parts: dict[str, str]) -> Work:
        """The work after all rounds that were needed, or with what stands in their way."""
        contract = bench.shop.contract
        try:
            work = await self._reproduced(bench)
            problem = self._unfit(work, parts)
            if problem:
                return replace(work, problem=problem)
            suspects = await self._suspects(work, contract, parts)
        except BudgetExceeded as error:
            return Work(problem=str(error))
        await self._chronicle.suspected(suspects)
        for nth, heat in enumerate(HEATS):
            late = self._recorder.ledger.spent.seconds >= self._job.budget.seconds
            if work.problem or late or self._fixed(work) is not None:
                break
            work = await self._round(nth, heat, bench, parts, suspects, work)
        return work

    async def _reproduced(self, bench: Bench) -> Work:
        """The work with the deployed service as its first candidate, and what that fails."""
        mend, contract = self._mend, bench.shop.contract
        failing = await failing_checks(self._job.task, mend, contract, self._limits, self._recorder)
        if not failing.checks:
            return Work(problem=f"{UNSEEN}: nothing that was tried shows it")
        self._mine = frozenset(each.source for each in failing.checks)
        work = Work(pool=Pool().with_given(whole(mend, contract, failing)))
        async with self._recorder.stage("reproduce") as stage:
            deployed = Candidate(number=1, program=mend.program)
            work = self._as_it_was(await self._tried(bench, work, [deployed]), contract)
            wrong, held = work.pool.failing(1), work.pool.held(1)
            stage.text = f"{several(len(wrong), 'check')} fail as it is deployed, {len(held)} hold"
        return work

    def _as_it_was(self, work: Work, contract: Contract) -> Work:
        """The work without what services mostly promise and this one never kept.

        What it keeps has to be kept by a fix as well, although nobody accepted it by that.
        """
        promised = {each.source for each in promises(contract)}
        mine = {each.source for each in self._mend.checks.checks}
        pool = work.pool
        for check, probe, _ in pool.failing(1):
            if probe.source in promised - mine:
                pool = pool.without(check)
        return replace(work, pool=pool)

    def _unfit(self, work: Work, parts: dict[str, str]) -> str:
        """Why nothing can be mended; empty where something can."""
        if work.problem or 1 in work.pool.problems:
            return work.problem or f"the deployed service does not start: {work.pool.problems[1]}"
        mine = self._mine
        results = [(probe, result) for _, probe, result in work.pool.failing(1)]
        failing = [probe for probe, _ in results]
        if not any(probe.source in mine for probe in failing):
            return f"{UNSEEN}: the deployed service passes the check that should fail"
        for probe, result in results:
            # Such a check would fail on every service.
            if probe.source in mine and result.detail.startswith(UNFIT):
                return f"{probe.name} cannot be run: {result.detail[:200]}; mend the check"
        broken = next((probe.name for probe in failing if probe.source not in mine), "")
        if broken:
            return f"the deployed service fails a check that it was accepted by: {broken}"
        return "" if parts else "no function of the deployed service can be told apart"

    async def _suspects(
        self, work: Work, contract: Contract, parts: dict[str, str]
    ) -> dict[str, str]:
        """The functions at fault, each with what is said about it."""
        names = frozenset(parts)
        wrong = complaints(work.pool, 1, names, ())
        blamed = [name for each in wrong for name in sorted(each.functions)]
        blamed += self._reached(work, contract)
        chosen = [name for name in dict.fromkeys(blamed) if name in names] or list(parts)
        every = "\n".join(each.text for each in wrong[:1])
        believed = await self._believed({name: parts[name] for name in chosen}, every)
        # A belief only says with whom to begin: what a check has shown is shown.
        first = [each.function for each in believed]
        order = sorted(chosen, key=lambda name: name not in first)[:MOST_SUSPECTS]
        told = {name: [e.text for e in believed if e.function == name] for name in order}
        return {
            name: "\n".join(
                filter(None, (self._mend.told, told_about(name, wrong) or every, *told[name]))
            )
            for name in order
        }

    async def _believed(self, parts: dict[str, str], shown: str) -> tuple[Diagnosis, ...]:
        """What the slow thinkers say about an incident; nothing where a person gave the check."""
        trouble = self._mend.trouble
        if trouble is None:
            return ()
        async with self._recorder.stage("diagnose") as stage:
            found = await diagnose(
                self._job.task.text,
                trouble,
                shown,
                dict(list(parts.items())[:MOST_SUSPECTS]),
                await self._recorder.remember(lambda graph: similar(trouble, graph)),
                self._ensembles,
                self._recorder,
            )
            stage.text = "; ".join(each.text for each in found) or "nobody could tell the cause"
        return found

    def _reached(self, work: Work, contract: Contract) -> list[str]:
        """The functions of the routes that failing checks asked, the last one first."""
        return [
            each.function
            for _, _, result in work.pool.failing(1)
            for method, path, *_ in reversed(transcript(result))
            for each in contract.pieces
            if serves(each, f"{method} {path}")
        ]

    async def _round(
        self,
        nth: int,
        heat: float,
        bench: Bench,
        parts: dict[str, str],
        suspects: dict[str, str],
        work: Work,
    ) -> Work:
        """The work with fresh functions of both ensembles for each suspect, and mended ones."""
        async with self._recorder.stage(f"mend {nth + 1}") as stage:
            orders = [
                self._order(name, ensemble, heat, told, mends)
                for name, told in suspects.items()
                for ensemble in self._ensembles
                for mends in ("", parts[name])
            ]
            written, _ = await self._recorder.together([bench.write(each) for each in orders], [])
            known = {self._normal(c) for c in work.pool.candidates}
            made: list[Candidate] = []
            for each in written:
                whole = bench.whole(
                    len(work.pool.candidates) + len(made) + 1,
                    {**parts, each.part: each.source} if each.source else {},
                    ensemble=each.ensemble,
                    way="refined",
                    problems=[each.problem],
                )
                if self._normal(whole) not in known:
                    known.add(self._normal(whole))
                    made.append(whole)
            work = await self._tried(bench, work, made)
            stage.text = f"{', '.join(suspects)}: {several(len(made), 'version')}"
        return work

    def _order(self, part: str, ensemble: int, heat: float, told: str, mends: str) -> Order:
        self._asked += 1
        # A fresh function is told what went wrong from the second round on.
        return Order(
            part=part,
            ensemble=ensemble,
            nth=self._asked - 1,
            temperature=heat if ensemble == 1 else min(1.0, heat + 0.3),
            told=told if mends or heat else "",
            mends=mends,
        )

    async def _tried(self, bench: Bench, work: Work, written: Sequence[Candidate]) -> Work:
        """The work after each version ran every check."""
        pool = work.pool.with_candidates(written)
        await self._chronicle.wrote(pool, bench.made_of)
        for candidate in written:
            if candidate.program is None:
                continue
            attempt = partial(execute, candidate, pool.unseen_by(candidate.number), self._limits)
            try:
                execution = await self._recorder.execute(candidate.number, attempt)
            except BudgetExceeded as error:
                return replace(work, pool=pool, problem=str(error))
            pool = pool.with_execution(execution)
        work = replace(work, pool=pool, selection=select(pool.evidence()))
        await self._chronicle.judged(work, judge(pool))
        return work

    def _fixed(self, work: Work) -> int | None:
        """The number of the version that passes every check and changes least; None: none does."""
        pool = work.pool
        whole = [n for n in pool.seen if n > 1 and n not in pool.problems and not pool.failing(n)]
        return max(whole, key=lambda n: (self._likeness(pool.numbered(n)), -n), default=None)

    def _likeness(self, candidate: Candidate) -> float:
        """How much of the deployed source a version keeps, from 0 to 1."""
        source = candidate.program.source if candidate.program else ""
        return SequenceMatcher(None, self._mend.program.source, source, autojunk=False).ratio()

    def _ended(self, work: Work, contract: Contract) -> Work:
        winner = self._fixed(work)
        problem = work.problem or ("" if winner else "no version passes the check that fails")
        return replace(
            work,
            selection=replace(work.selection, winner=winner),
            asked=Asked(requirements=NOTHING_REQUIRED, contract=contract),
            problem=problem if winner is None else "",
        )

    def _normal(self, candidate: Candidate) -> str:
        return candidate.program.source if candidate.program else candidate.problem
