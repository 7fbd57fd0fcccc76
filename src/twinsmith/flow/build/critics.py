"""The critics of both ensembles, and references that compute what is right, blind to candidates."""

from collections.abc import Coroutine, Iterator, Mapping, Sequence
from typing import Any

from twinsmith.core.checks.inputs import input_text, probe_of
from twinsmith.core.effort import ENSEMBLES, Round
from twinsmith.core.execution import Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Separation
from twinsmith.core.planning.requirement import Requirement, Requirements
from twinsmith.core.probe import Probe
from twinsmith.core.profile import Profile
from twinsmith.core.program import Candidate
from twinsmith.core.task import Job
from twinsmith.flow.build.decide import vote
from twinsmith.flow.build.examine import propose, sketched_probes
from twinsmith.flow.build.references import References
from twinsmith.flow.recorder import Recorder

MOST_CRITICS = 4
"""The most questions about the whole task in one round, by which questions are numbered."""
MOST_VOICES = 32
"""The most questions about single requirements in one round; votes are numbered after them."""
COMPUTED = 2
"""The votes of each ensemble that a result on which references agree counts for."""

Proposals = Mapping[Probe, int]
Asking = Coroutine[Any, Any, dict[Probe, int]]


class Critics:
    """The critics and references of one search: they say what is right."""

    def __init__(
        self, job: Job, profile: Profile, limits: Limits, recorder: Recorder, wanted: Requirements
    ) -> None:
        self._task, self._votes, self._profile = job.task, job.effort.votes, profile
        self._recorder, self._wanted = recorder, wanted
        self._ensembles = ENSEMBLES[: job.effort.ensembles]
        self._references = References(job.task, profile, limits, recorder)
        self._spoke: set[int] = set()
        """The ensembles that were asked about every requirement."""

    def questions(self, what: Round, nth: int) -> list[tuple[int, Asking]]:
        """The questions of a round to critics, each with the ensemble that answers it."""
        first = nth * (MOST_VOICES if self._wanted.each else MOST_CRITICS)
        task, profile, ask = self._task, self._profile, self._recorder.ask
        return [
            (e, propose(task, profile, nth=first + n, ensemble=e, ask=ask, about=about))
            for n, (e, about) in enumerate(self._voices(what.critics))
        ]

    def computing(self) -> list[Coroutine[Any, Any, Candidate]]:
        """The questions for reference programs; the first call has them, later ones have none."""
        return self._references.questions(self._ensembles)

    async def heard(
        self,
        pool: Pool,
        proposed: Sequence[tuple[int, Proposals]],
        references: Sequence[Candidate],
    ) -> Pool:
        """The pool with the checks that critics proposed, as references correct them."""
        if references:
            # What the slow thinker sketched is one more opinion.
            proposed = [(self._ensembles[0], sketched_probes(self._profile)), *proposed]
        inputs = [probe.asks for _, checks in proposed for probe in checks if probe.asks]
        await self._references.heard(references, inputs)
        for ensemble, checks in proposed:
            pool = pool.with_proposed(self._references.settle(checks), ensemble)
        return pool

    async def decided(self, pool: Pool, between: Separation) -> tuple[Pool, str]:
        """The pool with what is right where two candidates differ, and how it was found.

        References tell, where they agree; else critics of both ensembles vote.
        """
        known = await self._references.computed(between.call)
        if known is not None:
            for ensemble in self._ensembles:
                pool = pool.with_proposed({known: COMPUTED}, ensemble)
            return pool, f"{known.name}, as references compute it"
        voters = [self._ensembles[n % len(self._ensembles)] for n in range(self._votes)]
        first = 100 * len(pool.candidates)
        asked = [
            vote(self._task, between, nth=first + n, ensemble=e, ask=self._recorder.ask)
            for n, e in enumerate(voters)
        ]
        answers, _ = await self._recorder.together(asked, [])
        for ensemble, answer in zip(voters, answers, strict=True):
            if answer is not None:
                pool = pool.with_check(probe_of(between.call, answer), ensemble=ensemble)
        told = ", ".join(answer or "neither" for answer in answers)
        return pool, f"{input_text(between.call)}: {told}"

    def _voices(self, critics: Sequence[int]) -> Iterator[tuple[int, Requirement | None]]:
        """The ensembles to ask, each with a requirement once; None asks about the whole."""
        for ensemble in critics:
            anew = ensemble not in self._spoke
            self._spoke.add(ensemble)
            if anew and self._wanted.each:
                yield from ((ensemble, each) for each in self._wanted.each)
            else:
                yield ensemble, None
