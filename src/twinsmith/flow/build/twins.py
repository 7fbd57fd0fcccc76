"""Two ensembles, one pool: they write apart, are judged together, and learn from one another."""

from dataclasses import replace

from twinsmith.core.checks.inputs import input_text
from twinsmith.core.checks.reference import can_show
from twinsmith.core.effort import ENSEMBLES, Round, rounds
from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.doubt import doubted
from twinsmith.core.judging.mixing import mix
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import BY_THE_WORDS, select
from twinsmith.core.knowing.insight import Reminder
from twinsmith.core.outcome import Work
from twinsmith.core.planning.requirement import NOTHING_REQUIRED, Requirements
from twinsmith.core.probe import Input, Probes
from twinsmith.core.program import Candidate
from twinsmith.core.progress import several
from twinsmith.core.task import Job
from twinsmith.core.variants import Varied
from twinsmith.flow.build.brief import briefs
from twinsmith.flow.build.chronicle import Chronicle
from twinsmith.flow.build.critics import Critics
from twinsmith.flow.build.disagreement import votable
from twinsmith.flow.build.examine import given_probes, made_up, property_probes
from twinsmith.flow.build.exchange import crossed, exchange
from twinsmith.flow.build.execute import execute, not_run_yet
from twinsmith.flow.build.generate import candidate_from, generate
from twinsmith.flow.build.leaders import Leaders
from twinsmith.flow.build.person import Word, about_example, about_leaders, with_word
from twinsmith.flow.build.plan import plan
from twinsmith.flow.build.refine import refinements
from twinsmith.flow.build.retrieve import advice
from twinsmith.flow.build.search import leader_passes, standing_of
from twinsmith.flow.build.vary import as_candidates, near_misses, varied
from twinsmith.flow.build.verdicts import judge
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Sandbox

HOPELESS = 6


class Twins:
    """The search of both ensembles for one function, library or command."""

    def __init__(
        self,
        job: Job,
        work: Work,
        limits: Limits,
        recorder: Recorder,
        *,
        reminders: tuple[Reminder, ...] = (),
        wanted: Requirements = NOTHING_REQUIRED,
    ) -> None:
        self._job, self._task, self._effort = job, job.task, job.effort
        self._start, self._profile = work, work.profile
        self._limits = limits
        self._recorder = recorder
        # Beside a file to be filled in, small models copy what was retrieved, and nothing else.
        self._advice = "" if work.profile.must else advice(work.pieces)
        self._reminders = reminders
        self._ensembles = ENSEMBLES[: job.effort.ensembles]
        self._refinements = 0
        self._edited = 0
        self._heard = False
        self._asked = False
        self._in_doubt = False
        self._wanted = wanted
        self._leaders = Leaders(job, limits, recorder)
        self._critics = Critics(job, work.profile, limits, recorder, wanted)
        self._chronicle = Chronicle(recorder)

    async def solve(self) -> Work:
        """The work after all rounds: sure enough, or with nothing left to try or to spend."""
        await self._chronicle.required(self._wanted)
        pool = Pool(exact=self._task.language == "python")
        pool = pool.with_given(given_probes(self._task, self._profile))
        pool = pool.with_inputs(self._profile.sketched)
        work = replace(self._start, pool=pool, selection=select(pool.evidence()))
        given = any(check.given and pool.probes[check.probe].asks for check in pool.checks)
        noted = self._effort.notes and self._task.kind == "function"
        for nth, each in enumerate(rounds(self._effort, given=given, noted=noted)):
            work = await self._mixed(await self._round(each, nth, work))
            if not self._over(work) and not leader_passes(work):
                work = await self._example_doubted(work)
            if each.late and not self._over(work):
                work = await self._varied(work)
            if each.late and not self._over(work) and not leader_passes(work):
                work = await self._refined(work)
            if each.late and not self._over(work):
                work = await self._decided(each.name, work)
            if self._over(work):
                break
        if not self._over(work):
            work = await self._told_by_a_person(work)
        work = await self._leaders.quickest(work)
        await self._chronicle.judged(work, judge(work.pool))
        return replace(work, problem=self._recorder.short)

    async def _round(self, what: Round, nth: int, work: Work) -> Work:
        async with self._recorder.stage(what.name) as stage:
            plans = await self._plans(work) if what.planned else {}
            made, advised = len(work.pool.candidates), 2 if self._task.kind == "function" else 4
            wanted = briefs(what, made, plans, self._advice, advised=advised)
            asked = [generate(self._task, self._profile, b, self._recorder.ask) for b in wanted]
            voices = self._critics.questions(what, nth)
            computing = self._critics.computing() if voices else []
            both = [*asked, *computing]
            written, checks = await self._recorder.together(both, [each for _, each in voices])
            written, references = written[: len(asked)], written[len(asked) :]
            work = self._with(written, work)
            heard = [(ensemble, said) for (ensemble, _), said in zip(voices, checks, strict=True)]
            pool = await self._critics.heard(work.pool, heard, references)
            if nth == 0:
                # The words of the task are a voice of their own, beside those of the ensembles.
                found_in_words = property_probes(self._task, self._profile, pool)
                pool = pool.with_proposed(found_in_words, BY_THE_WORDS)
            pool = pool.with_inputs(self._made_up(pool, heard=any(checks)))
            reminders = self._reminders if plans else work.reminders
            plans = {**work.plans, **plans}
            work = replace(work, pool=pool, plans=plans, reminders=reminders)
            work = await self._compared(work)
            stage.text = self._standing(work)
        return work

    async def _plans(self, work: Work) -> dict[int, str]:
        """The plan of each ensemble whose slow thinker has heard or been reminded of something."""
        heard = exchange(work, self._ensembles, shared=self._effort.exchange)
        earlier = "\n".join(f"- an earlier run learned: {each.text}" for each in self._reminders)
        seen = {e: "\n".join(filter(None, (heard[e], earlier))) for e in heard}
        doubtful = [e for e in self._ensembles if seen[e]]
        asked = [
            plan(self._task, seen[e], nth=e, ensemble=e, ask=self._recorder.ask) for e in doubtful
        ]
        if self._effort.exchange:
            for (source, to), lines in crossed(work, self._ensembles).items():
                await self._chronicle.crossed(source, to, "counterexamples", lines)
        written, _ = await self._recorder.together(asked, [])
        plans = {e: text for e, text in zip(doubtful, written, strict=True) if text}
        await self._chronicle.planned(plans.items())
        return plans

    async def _decided(self, after: str, work: Work) -> Work:
        """The work with a vote on the simplest input on which the two leading candidates differ."""
        between = votable(work.selection.separating)
        if between is None or not self._effort.votes:
            return work
        async with self._recorder.stage(f"decide after {after}") as stage:
            pool, stage.text = await self._critics.decided(work.pool, between)
            return await self._compared(replace(work, pool=pool))

    async def _example_doubted(self, work: Work) -> Work:
        """Ask a person, once, about an example that all programs break in the same way.

        Without an answer the search ends: what would be mended next are right programs.
        """
        doubt = None if self._asked else doubted(work.pool)
        if doubt is None:
            return work
        self._asked = True
        word = await about_example(doubt, self._recorder.ask_person)
        self._in_doubt = word is None
        if word is None:
            return work
        if word.right == doubt.expected:
            return replace(work, told=(*work.told, word.text))
        work = replace(work, pool=work.pool.without(doubt.check))
        return await self._told("example corrected", work, word)

    async def _told_by_a_person(self, work: Work) -> Work:
        """The work with a person's word on what votes could not settle; unchanged without one."""
        between = votable(work.selection.separating)
        word = await about_leaders(between, self._recorder.ask_person) if between else None
        if word is None:
            return work
        return await self._refined(await self._told("told by a person", work, word))

    async def _told(self, name: str, work: Work, word: Word) -> Work:
        async with self._recorder.stage(name) as stage:
            work = await self._compared(with_word(work, word))
            stage.text = f"{input_text(word.call)}: {word.right}"
        return work

    async def _mixed(self, work: Work) -> Work:
        """The work with a library made of the best functions of several; it costs no tokens."""
        winner, names = work.selection.winner, self._profile.names
        if winner is None or len(names) < 2 or self._profile.has_classes or self._over(work):
            return work
        made = mix(work.pool, winner, names)
        if made is None:
            return work
        async with self._recorder.stage(f"mix {made.number}") as stage:
            work = await self._compared(self._with([made], work))
            stage.text = self._standing(work)
        return work

    async def _varied(self, work: Work) -> Work:
        """The work with small edits of programs that miss the examples; they cost no tokens."""
        pool, most = work.pool, self._effort.variants
        parents = near_misses(pool, after=self._edited) if most else ()
        if not parents:
            return work
        self._edited = len(pool.candidates)

        async def in_sandbox(sandbox: Sandbox) -> Varied:
            return await varied(pool, parents, most, self._limits, sandbox)

        async with self._recorder.stage(f"vary {len(pool.candidates)}") as stage:
            try:
                kept = await self._recorder.vary(len(pool.candidates), in_sandbox)
            except BudgetExceeded as error:
                return replace(work, problem=str(error))
            work = await self._compared(self._with(as_candidates(kept, pool), work))
            stage.text = f"{several(len(kept), 'edit')} passed; {self._standing(work)}"
        return work

    async def _refined(self, work: Work) -> Work:
        """The work with each ensemble's best candidate mended, as often as the effort allows."""
        if self._edited and not self._effort.mending:
            return work
        while self._refinements < self._effort.refinements and not (
            work.problem or leader_passes(work)
        ):
            asked = [
                candidate_from(question, self._task, self._profile, brief, self._recorder.ask)
                for question, brief in refinements(self._task, work, self._ensembles)
            ]
            if not asked:
                return work
            self._refinements += 1
            async with self._recorder.stage(f"refine {self._refinements}") as stage:
                written, _ = await self._recorder.together(asked, [])
                work = await self._compared(self._with(written, work))
                stage.text = self._standing(work)
        return work

    def _with(self, written: list[Candidate], work: Work) -> Work:
        """The work with more candidates; a problem where the budget paid for none of them."""
        paid = not self._recorder.short or any(candidate.program for candidate in written)
        pool = work.pool.with_candidates(written)
        return replace(work, pool=pool, problem="" if paid else self._recorder.short)

    def _made_up(self, pool: Pool, *, heard: bool) -> tuple[Input, ...]:
        """Invented inputs, in the first round and when critics first spoke; none at other times."""
        checked = {check.probe for check in pool.checks}
        made = any(place not in checked for place in range(len(pool.probes)))
        anew, self._heard = heard and not self._heard, self._heard or heard
        if made and not anew:
            return ()
        return made_up(
            self._task, self._profile, pool, seed=self._job.seed, most=self._effort.inputs
        )

    async def _compared(self, work: Work) -> Work:
        """The work after all candidates ran all probes and the best was chosen anew."""
        await self._chronicle.wrote(work.pool)
        pool, stopped = work.pool, ""
        try:
            for candidate, probes in not_run_yet(pool):
                pool = pool.with_execution(await self._executed(candidate, probes))
        except BudgetExceeded as error:
            stopped = str(error)
        best = work.selection
        if not stopped or best.winner is None:
            # Where only some could be tried, the one that was best before stays it.
            best = select(pool.evidence())
        work = replace(work, pool=pool, selection=best, problem=stopped or work.problem)
        work = await self._leaders.inspected(work)
        await self._recorder.tell(
            "candidates.compared",
            key=f"{len(pool.candidates)} {len(pool.checks)} {sum(c.times for c in pool.checks)}",
            who="selection",
            data={
                "best": self._standing(work),
                "winner": work.selection.winner,
                "confidence": round(work.selection.confidence, 3),
                "clusters": [list(cluster) for cluster in work.selection.clusters],
                "ensembles": {str(e): standing_of(work, e) for e in self._ensembles},
            },
        )
        await self._chronicle.judged(work, judge(work.pool))
        return work

    async def _executed(self, candidate: Candidate, probes: Probes) -> Execution:
        async def in_sandbox(sandbox: Sandbox) -> Execution:
            return await execute(candidate, probes, self._limits, sandbox)

        return await self._recorder.execute(candidate.number, in_sandbox)

    def _over(self, work: Work) -> bool:
        hopeless = self._in_doubt or _hopeless(work.pool)
        return bool(work.problem) or hopeless or self._enough(work)

    def _enough(self, work: Work) -> bool:
        """True where the leader is sure enough; with a person's tests, passing them all is.

        Where nothing says what is right, however many agree, the next critic may. Edits that agree
        end it where the result can be called solved without them: more answers cost more.
        """
        if not leader_passes(work) or not work.pool.checks:
            return False
        chosen, effort = work.selection, self._effort
        believed = chosen.settled >= effort.enough and chosen.confidence >= effort.least
        return bool(self._task.tests) or (believed and self._all_shown(work))

    def _all_shown(self, work: Work) -> bool:
        """True where the leader passes a check of every requirement that was written for it."""
        winner, pool = work.selection.winner, work.pool
        held = pool.held(winner) if winner is not None else ()
        quotes = {each.number: each.quote for each in self._wanted.each}
        shown = {
            number
            for check in held
            for number in pool.about.get(check.probe, ())
            if can_show(pool.probes[check.probe], quotes.get(number, ""))
        }
        alone = len(self._wanted.each) == 1 and any(check.given for check in held)
        return alone or all(each.number in shown for each in self._wanted.each)

    def _standing(self, work: Work) -> str:
        chosen, pool = work.selection, work.pool
        if chosen.winner is None:
            return f"none of {len(pool.candidates)} candidates runs"
        passed, total = pool.passed(chosen.winner)
        return (
            f"candidate {chosen.winner} of {len(pool.candidates)}, {passed}/{total} checks, "
            f"{several(len(chosen.clusters), 'way')}, confidence {chosen.confidence:.2f}"
        )


def _hopeless(pool: Pool) -> bool:
    """True where so many answers were no program that the next ones will not be either."""
    return len(pool.candidates) >= HOPELESS and not any(c.program for c in pool.candidates)
