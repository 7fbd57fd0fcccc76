"""A service task in, candidates that were tried over HTTP out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from twinsmith.core.effort import ENSEMBLES
from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import select
from twinsmith.core.model import Ask, Question
from twinsmith.core.probe import Probes, read_tests
from twinsmith.core.program import Candidate
from twinsmith.core.progress import several
from twinsmith.core.services.http_checks import (
    CPU_SECONDS,
    PROBE_SECONDS,
    evidence_of,
    failures_of,
    log_findings,
    probes_of,
    severity_of,
)
from twinsmith.core.services.interface import (
    SCHEMA,
    Interface,
    completed,
    default_interface,
    read_interface,
)
from twinsmith.core.task import Job
from twinsmith.flow.build.asking import answered
from twinsmith.flow.build.ensemble import Found
from twinsmith.flow.build.execute import execute
from twinsmith.flow.build.handover import service_files
from twinsmith.flow.build.leaders import Leaders
from twinsmith.flow.build.service_form import form_of
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Sandbox
from twinsmith.prompts import render

# Measured on the embedded model: below it candidates are alike, above it they fall apart.
TEMPERATURE = 0.5
# How many are written in a round: mostly the first is right already.
ROUNDS = {"explore": 2, "widen": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What came of a service: where the search stands, and what is handed over with it."""

    found: Found
    frame: str
    handover: Mapping[str, str]


class Services:
    """One search for one service: its interface first, then candidates, tried from outside."""

    def __init__(self, job: Job, limits: Limits, run: Recorder, *, told: str = "") -> None:
        self._job, self._task = job, job.task
        self._form = form_of(job.task, told)
        self._limits = replace(
            limits,
            cpu_seconds=max(limits.cpu_seconds, CPU_SECONDS),
            probe_seconds=max(limits.probe_seconds, PROBE_SECONDS),
        )
        self._run = run
        self._leaders = Leaders(job, self._limits, run)
        self._ensembles = ENSEMBLES[: job.effort.ensembles]
        self._logs: dict[int, str] = {}
        self._written: dict[int, str] = {}

    async def solve(self) -> Served:
        """Candidates until one passes every check that counts, then at most one that is mended."""
        interface = await self._interface()
        probes = probes_of(interface)
        if self._task.tests:
            own = read_tests(self._task.tests, file="tests")
            setup = f"{probes.setup}\n{own.setup}" if own.setup else probes.setup
            probes = Probes(checks=(*own.checks, *probes.checks), setup=setup)
        pool = Pool(setup=probes.setup)
        for probe in probes.checks:
            pool = pool.with_check(probe, given=severity_of(probe) == "blocking")
        found = Found(pool=pool, selection=select(pool.evidence()), plans={})
        for name, count in ROUNDS.items():
            questions = list(self._asked(count, interface, found))
            if not questions:
                continue
            found = await self._round(name, questions, found, interface)
            if found.stopped or found.passes:
                break
        else:
            mending = self._mending(interface, found, probes)
            if mending is not None and self._job.effort.refinements:
                found = await self._round("refine", [mending], found, interface)
        winner = found.selection.winner
        program = found.pool.numbered(winner).program if winner is not None else None
        files = service_files(self._task, interface, probes, program) if program else {}
        return Served(found=found, frame=self._form.frame(interface), handover=files)

    async def _interface(self) -> Interface:
        async with self._run.stage("interface") as stage:
            known = default_interface(self._task.text)
            interface = known or await described(self._task.text, self._run.ask)
            stage.text = several(len(interface.routes), "route")
        return interface

    async def _round(
        self, name: str, questions: list[Question], found: Found, interface: Interface
    ) -> Found:
        async with self._run.stage(name) as stage:
            asked = [self._candidate(question, interface) for question in questions]
            if name == "explore":
                # One by one a local model answers the same for the same seed.
                written = await self._run.in_turn(asked)
            else:
                written, _ = await self._run.together(asked, [])
            found = replace(found, pool=found.pool.with_candidates(written))
            found = await self._tried(found, written)
            found = replace(found, selection=select(found.pool.evidence()))
            found = await self._leaders.inspected(found)
            stage.text = self._standing(found)
            await self._run.tell(
                "candidates.compared",
                key=name,
                who="critic",
                data={
                    "best": stage.text,
                    "winner": found.selection.winner,
                    "ensembles": {str(e): found.standing_of(e) for e in self._ensembles},
                },
            )
        return found

    def _asked(self, count: int, interface: Interface, found: Found) -> Iterator[Question]:
        """So many candidates, as far as the settings allow, from both ensembles in turn."""
        text = self._form.asked(interface)
        first = len(found.pool.candidates)
        for n in range(min(count, self._job.effort.candidates - first)):
            yield Question(
                role="coder",
                nth=first + n,
                text=text,
                ensemble=self._ensembles[n % len(self._ensembles)],
                temperature=TEMPERATURE,
            )

    def _mending(self, interface: Interface, found: Found, probes: Probes) -> Question | None:
        """The best candidate once more, with what it fails."""
        able = [each for each in found.pool.candidates if each.program is not None]
        if not able:
            return None
        best = max(able, key=lambda each: (found.pool.passed(each.number), -each.number))
        seen = Execution(candidate=best.number, results=found.pool.seen.get(best.number, ()))
        findings = (*failures_of(probes, seen), *found.pool.findings.get(best.number, ()))
        return Question(
            role="coder",
            nth=len(found.pool.candidates),
            text=self._form.mending(
                interface,
                self._written[best.number],
                evidence_of(findings, self._logs.get(best.number, "")),
            ),
            ensemble=best.ensemble,
            temperature=TEMPERATURE,
        )

    async def _candidate(self, question: Question, interface: Interface) -> Candidate:
        made = Candidate(number=question.nth + 1, program=None, ensemble=question.ensemble)
        try:
            reply = await self._run.ask(question)
            self._written[made.number], program = self._form.read(reply.text, interface)
        except (BadReply, BudgetExceeded) as error:
            return replace(made, problem=str(error))
        return replace(made, program=program)

    async def _tried(self, found: Found, written: list[Candidate]) -> Found:
        """Start each service and run its checks; a password in its log bars it."""
        pool = found.pool
        probes = Probes(checks=pool.probes, setup=pool.setup)
        for candidate in written:
            if candidate.program is None:
                continue

            async def in_sandbox(sandbox: Sandbox, candidate: Candidate = candidate) -> Execution:
                return await execute(candidate, probes, self._limits, sandbox)

            try:
                execution = await self._run.execute(candidate.number, in_sandbox)
            except BudgetExceeded as error:
                return replace(found, pool=pool, stopped=str(error))
            pool = pool.with_execution(execution)
            self._logs[candidate.number] = execution.log
            told = log_findings(execution.log)
            if told:
                pool = pool.with_findings(candidate.number, told, barred=True)
        return replace(found, pool=pool)

    def _standing(self, found: Found) -> str:
        winner = found.selection.winner
        if winner is None:
            return f"none of {len(found.pool.candidates)} services can be had"
        passed, total = found.pool.passed(winner)
        return f"service {winner} of {len(found.pool.candidates)}, {passed}/{total} HTTP checks"


async def described(task: str, ask: Ask) -> Interface:
    """The interface as the slow thinker describes it, with what the task asks for besides."""
    question = Question(
        role="slow",
        nth=0,
        text=render("interface", task=task),
        purpose="clarification",
        temperature=0.0,
        schema=SCHEMA,
        tokens=900,
    )
    return completed(await answered(question, read_interface, ask), task)
