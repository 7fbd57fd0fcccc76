"""A service task in, a service out: requirements, contract, pieces, and dialogues with the whole.

The slow thinkers say what is asked for and plan it, coders write one function a route, critics talk
to what came of it without having seen it. What fails goes back to the functions that it is about.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from twinsmith.core.effort import ENSEMBLES
from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.execution import Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import select
from twinsmith.core.knowing.knowledge import Hit
from twinsmith.core.outcome import Work
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.dialogue import called_in, service_setup
from twinsmith.core.planning.hollow import HOLLOW
from twinsmith.core.planning.mending import complaints, told_about, told_about_all
from twinsmith.core.planning.requirement import Requirements, with_more
from twinsmith.core.planning.serving import unasked
from twinsmith.core.planning.spec import contract_from
from twinsmith.core.planning.standing import Asked, Standing, Trial
from twinsmith.core.planning.unsupported import without_unsupported
from twinsmith.core.probe import Probe, Probes, read_tests
from twinsmith.core.program import Candidate
from twinsmith.core.progress import several
from twinsmith.core.services.http_checks import (
    CPU_SECONDS,
    PROBE_SECONDS,
    account_checks,
    basic_checks,
    log_findings,
    setup_of,
    severity_of,
    usual_checks,
)
from twinsmith.core.task import Job
from twinsmith.core.verdict import Finding
from twinsmith.flow.build.chronicle import Chronicle
from twinsmith.flow.build.contract import contracted
from twinsmith.flow.build.dialogues import dialogues
from twinsmith.flow.build.execute import execute, not_run_yet
from twinsmith.flow.build.leaders import Leaders
from twinsmith.flow.build.pieces import (
    Bench,
    Framed,
    Order,
    Parts,
    Unframed,
    empty_program,
    refusing_program,
)
from twinsmith.flow.build.requirements import required
from twinsmith.flow.build.retrieve import advice, retrieve_part
from twinsmith.flow.build.search import standing_of
from twinsmith.flow.build.talks import Talks, best_of_each
from twinsmith.flow.build.verdicts import judge
from twinsmith.flow.recorder import Recorder

BY_THE_CONTRACT = -2
"""The voice, in place of an ensemble's, of checks that hold for most contracts."""
FIRST_HEATS = {1: 0.0, 2: 0.3}
HEAT = 0.8
ADVISED = 2
MOST_ROUNDS = 3
MOST_SUSPECTS = 4


class Services:
    """The search of both ensembles for one service."""

    def __init__(self, job: Job, work: Work, limits: Limits, recorder: Recorder) -> None:
        self._job, self._task = job, job.task
        self._start = work
        self._limits = replace(
            limits,
            cpu_seconds=max(limits.cpu_seconds, CPU_SECONDS),
            probe_seconds=max(limits.probe_seconds, PROBE_SECONDS),
        )
        self._recorder = recorder
        self._talks = Talks(limits=self._limits, recorder=recorder)
        self._leaders = Leaders(job, self._limits, recorder)
        self._chronicle = Chronicle(recorder)
        self._ensembles = ENSEMBLES[: job.effort.ensembles]
        self._framed = job.effort.frames(job.task.language)
        self._asked = 0
        self._gate: list[Trial] = []
        self._known: dict[str, Hit] = {}

    async def solve(self) -> Work:
        """The work with a service: planned, written, tried, then mended piece by piece."""
        wanted = await self._requirements()
        contract = await self._contract(wanted)
        wanted = with_more(wanted, unasked(wanted.each, contract))
        await self._chronicle.required(wanted)
        await self._chronicle.divided(contract)
        shop = (Framed if self._framed else Unframed)(self._task, contract)
        bench = Bench(shop=shop, recorder=self._recorder)
        await self._retrieve(contract)
        pool = Pool().with_given(self._given(contract))
        usual = dict.fromkeys(usual_checks(contract), 1)
        pool = pool.with_proposed(usual, BY_THE_CONTRACT)
        work = await self._first(bench, wanted, replace(self._start, pool=pool))
        stands = await self._stands(bench, wanted, work)
        for nth in range(MOST_ROUNDS):
            suspects = self._suspects(bench, work, stands)
            await self._chronicle.suspected(suspects)
            made = len(work.pool.candidates)
            late = self._recorder.ledger.spent.seconds >= self._job.budget.seconds
            if work.problem or late or not suspects or made >= self._job.effort.candidates:
                break
            work = await self._again(nth, bench, suspects, work)
            stands = await self._stands(bench, wanted, work)
        work = await self._through_the_gate(contract, work)
        await self._chronicle.judged(work, judge(work.pool))
        stands = await self._stands(bench, wanted, work)
        winner = work.selection.winner
        pieces = bench.parts.get(winner, {}) if winner is not None else {}
        asked = Asked(requirements=wanted, contract=contract, standings=stands, pieces=pieces)
        asked = without_unsupported(asked, work.profile.unsupported)
        await self._chronicle.stood(asked.standings)
        return replace(
            work,
            asked=asked,
            pieces=tuple(self._known.values()),
            problem=work.problem or self._recorder.short,
        )

    async def _requirements(self) -> Requirements:
        async with self._recorder.stage("requirements") as stage:
            wanted = await required(self._task.text, self._ensembles, self._recorder, accounts=True)
            await self._chronicle.required(wanted)
            stage.text = several(len(wanted.each), "requirement")
        return wanted

    async def _contract(self, wanted: Requirements) -> Contract:
        async with self._recorder.stage("contract") as stage:
            if self._task.spec:
                contract = contract_from(json.loads(self._task.spec))
            else:
                contract = await contracted(
                    self._task.text, wanted, self._ensembles, self._recorder
                )
            contract = replace(contract, title=" ".join(self._task.text.split())[:200])
            routes = several(len(contract.operations), "route")
            stage.text = f"{routes}, {several(len(contract.pieces), 'piece')}"
        return contract

    async def _retrieve(self, contract: Contract) -> None:
        """Look up what is known about each part of the service, to show one of the two coders."""
        if not (self._job.effort.retrieval and self._framed and len(self._ensembles) > 1):
            return
        async with self._recorder.stage("retrieve") as stage:
            for each in contract.pieces:
                meaning = f"{each.function.replace('_', ' ')}: {each.quote}"
                look = partial(retrieve_part, self._job, meaning)
                hits = await self._recorder.recall(look, about=each.function)
                if hits:
                    self._known[each.function] = hits[0]
            stage.text = several(len(self._known), "piece")

    def _given(self, contract: Contract) -> Probes:
        """The checks that decide: a person's tests, and what the contract promises to everybody."""
        basics = basic_checks(contract)
        if not self._framed:
            basics = (*basics, *account_checks(contract))
        deciding = tuple(each for each in basics if severity_of(each) == "blocking")
        setup = f"{setup_of(contract)}\n{service_setup(contract)}"
        if not self._task.tests:
            return Probes(checks=deciding, setup=setup)
        tests = read_tests(self._task.tests, file="tests")
        fresh = tuple(replace(each, fresh=True) for each in tests.checks)
        return Probes(checks=(*fresh, *deciding), setup=f"{setup}\n{tests.setup}")

    async def _first(self, bench: Bench, wanted: Requirements, work: Work) -> Work:
        """The work with one service from each ensemble, and with the dialogues of both critics."""
        async with self._recorder.stage("explore") as stage:
            writers = self._writers(0)
            orders = [
                self._order(name, ensemble, FIRST_HEATS[ensemble], self._advice(name, ensemble))
                for ensemble in writers
                for name in bench.shop.names
            ]
            # One by one a local model answers the same for the same seed.
            written = await self._recorder.in_turn([bench.write(order) for order in orders])
            # Before critics are asked: a short budget must not end with programs nobody tried.
            work = await self._tried(bench, work, bench.wholes({}, written, writers, 0))
            voices = [(e, each) for e in self._ensembles for each in wanted.each]
            critics = [
                dialogues(
                    self._task.text,
                    bench.shop.contract,
                    each,
                    nth=100 * ensemble + each.number,
                    ensemble=ensemble,
                    ask=self._recorder.ask,
                )
                for ensemble, each in voices
            ]
            proposed, _ = await self._recorder.together(critics, [])
            proposals = [
                (ensemble, replace(probe, fresh=True))
                for (ensemble, _), probes in zip(voices, proposed, strict=True)
                for probe in probes
            ]
            work = await self._with_dialogues(bench.shop.contract, proposals, work)
            work = await self._tried(bench, work, [])
            stage.text = self._standing(work)
        return work

    def _advice(self, part: str, ensemble: int) -> str:
        """The retrieved piece for the second coder alone: should it mislead, the first is safe."""
        known = self._known.get(part)
        return advice((known,)) if known and ensemble == ADVISED else ""

    async def _with_dialogues(
        self, contract: Contract, proposals: Sequence[tuple[int, Probe]], work: Work
    ) -> Work:
        """The work with the critics' dialogues, without those that an empty service passes."""
        probes = list(dict.fromkeys(probe for _, probe in proposals))
        empty, pool = empty_program(contract), work.pool
        try:
            passed = await self._talks.passed(HOLLOW, empty, probes, pool.setup)
            left = [probe for probe in probes if probe.source not in passed]
            nothing = refusing_program(contract)
            self._talks.refusals = await self._talks.passed(HOLLOW, nothing, left, pool.setup)
        except BudgetExceeded as error:
            return replace(work, problem=str(error))
        for ensemble, probe in proposals:
            if probe.source not in passed:
                pool = pool.with_check(probe, ensemble=ensemble)
        return replace(work, pool=pool)

    def _writers(self, made: int) -> tuple[int, ...]:
        """The ensembles that write a service now: no more than the effort still allows."""
        return self._ensembles[: max(1, self._job.effort.candidates - made)]

    def _order(self, part: str, ensemble: int, heat: float, told: str = "") -> Order:
        self._asked += 1
        return Order(
            part=part,
            ensemble=ensemble,
            nth=self._asked - 1,
            temperature=heat,
            told="\n".join(filter(None, (self._start.profile.practice, told))),
        )

    async def _again(self, nth: int, bench: Bench, suspects: Mapping[str, str], work: Work) -> Work:
        """The work with fresh pieces for what fails, then with the best version of each."""
        async with self._recorder.stage(f"again {nth + 1}") as stage:
            nearest = self._nearest(bench, work)
            base: Parts = bench.parts[nearest] if nearest is not None else {}
            source = work.pool.numbered(nearest).ensemble if nearest is not None else 1
            if source != 1:
                # Only the first ensemble is told what failed.
                told_of = [each for each in suspects.values() if each]
                await self._chronicle.crossed(source, 1, "complaints", told_of)
            made = len(work.pool.candidates)
            writers = self._writers(made)
            orders = [
                self._order(name, ensemble, HEAT, told if ensemble == 1 else "")
                for ensemble in writers
                for name, told in suspects.items()
            ]
            written, _ = await self._recorder.together([bench.write(order) for order in orders], [])
            wholes = bench.wholes(base, written, writers, made)
            told = "\n".join(dict.fromkeys(filter(None, suspects.values())))
            wholes = [replace(c, told=told) if c.ensemble == 1 else c for c in wholes]
            work = await self._tried(bench, work, wholes)
            best = best_of_each(bench, suspects, work.pool, work.selection.winner)
            if best is not None:
                number = len(work.pool.candidates) + 1
                whole = bench.whole(number, best, ensemble=1, way="varied")
                work = await self._tried(bench, work, [whole])
            stage.text = f"{', '.join(suspects)}: {self._standing(work)}"
        return work

    async def _tried(self, bench: Bench, work: Work, written: list[Candidate]) -> Work:
        """The work after each service ran the checks that it lacks; a password in a log bars it."""
        pool = work.pool.with_candidates(written)
        await self._chronicle.wrote(pool, bench.made_of)
        work = replace(work, pool=pool)
        for candidate, probes in not_run_yet(pool):
            attempt = partial(execute, candidate, probes, self._limits)
            try:
                execution = await self._recorder.execute(candidate.number, attempt)
            except BudgetExceeded as error:
                work = replace(work, problem=str(error))
                break
            pool = pool.with_execution(execution)
            told = log_findings(execution.log)
            if told:
                pool = pool.with_findings(candidate.number, told, barred=True)
        work = replace(work, pool=pool, selection=select(pool.evidence()))
        work = await self._leaders.inspected(work)
        await self._recorder.tell(
            "candidates.compared",
            key=f"{len(work.pool.candidates)}, {len(work.pool.probes)}",
            who="selection",
            data={
                "best": self._standing(work),
                "winner": work.selection.winner,
                "ensembles": {str(e): standing_of(work, e) for e in self._ensembles},
            },
        )
        await self._chronicle.judged(work, judge(work.pool))
        return work

    async def _through_the_gate(self, contract: Contract, work: Work) -> Work:
        """The work led by a service that withstands attacks on accounts and tokens, or by none."""
        checks = account_checks(contract) if self._framed else ()
        deciding = [each for each in checks if severity_of(each) == "blocking"]
        if not deciding or work.selection.winner is None or work.problem:
            return work
        async with self._recorder.stage("gate") as stage:
            while (winner := work.selection.winner) is not None:
                program = work.pool.numbered(winner).program
                assert program is not None
                try:
                    results = await self._talks.tried(winner, program, deciding, work.pool.setup)
                except BudgetExceeded as error:
                    return replace(work, problem=str(error))
                self._gate = [
                    Trial(probe=probe, result=result)
                    for probe, result in zip(deciding, results, strict=False)
                ]
                failed = next((trial for trial in self._gate if not trial.passed), None)
                passed = sum(trial.passed for trial in self._gate)
                stage.text = f"{passed} of {len(self._gate)} checks of accounts and tokens"
                if failed is None:
                    break
                what, seen = failed.probe.name, failed.result.detail[:200]
                finding = Finding(what=what, where="gate", evidence=seen, severity="blocking")
                pool = work.pool.with_findings(winner, (finding,), barred=True)
                work = replace(work, pool=pool, selection=select(pool.evidence()))
        return work

    async def _stands(self, bench: Bench, wanted: Requirements, work: Work) -> tuple[Standing, ...]:
        winner = work.selection.winner
        stands = await self._talks.stands(winner, bench, wanted, work.pool, self._gate)
        await self._chronicle.stood(stands)
        return stands

    def _suspects(self, bench: Bench, work: Work, stands: Sequence[Standing]) -> dict[str, str]:
        """The parts that have to be written anew, each with the complaints about it."""
        winner, names = work.selection.winner, bench.shop.names
        nearest = self._nearest(bench, work)
        if nearest is None:
            return dict.fromkeys(names[:MOST_SUSPECTS], "")
        functions = frozenset(each.function for each in bench.shop.contract.pieces)
        wrong = complaints(work.pool, nearest, functions, stands)
        failing = work.pool.failing(nearest)
        unmet = [each for each in stands if not each.met]
        if len(names) == 1:
            reason = next((each.why for each in unmet), "")
            told = told_about_all(wrong) or f"An earlier version failed: {reason}"
            return {names[0]: told} if winner is None or failing or unmet else {}
        suspects: dict[str, str] = {}
        for _, probe, _ in failing:
            suspects |= dict.fromkeys(called_in(probe.source, frozenset(names)), "")
        if winner is None:
            # Nobody leads, so nothing was shown of any requirement: what is known tells.
            suspects |= {name: "" for name in names if told_about(name, wrong)}
            suspects = suspects or dict.fromkeys(names, "")
        else:
            for stand in unmet:
                # What the gate shows comes later.
                suspects |= {n: "" for n in stand.functions if n in names and n not in suspects}
            if unmet:
                blamed = sorted(frozenset().union(*(each.functions for each in wrong)))
                suspects |= {n: "" for n in blamed if n in names and n not in suspects}
        return {name: told_about(name, wrong) for name in list(suspects)[:MOST_SUSPECTS]}

    def _nearest(self, bench: Bench, work: Work) -> int | None:
        """The number of the leading service; where none leads, of the one that passes most."""
        made = sorted(bench.parts, key=lambda number: (work.pool.passed(number), -number))
        return work.selection.winner or next(reversed(made), None)

    def _standing(self, work: Work) -> str:
        winner = work.selection.winner
        if winner is None:
            return f"none of {len(work.pool.candidates)} services runs"
        passed, total = work.pool.passed(winner)
        return (
            f"service {winner} of {len(work.pool.candidates)}, {passed}/{total} checks, "
            f"confidence {work.selection.confidence:.2f}"
        )
