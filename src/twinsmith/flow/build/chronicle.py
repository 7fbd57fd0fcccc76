"""What a search has come to in, events of the journal out: each thing once, and not at length."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from twinsmith.core import members
from twinsmith.core.board_items import Share
from twinsmith.core.events import Json
from twinsmith.core.facts import (
    facts_of_candidate,
    facts_of_check,
    facts_of_crossing,
    facts_of_findings,
    facts_of_pieces,
    facts_of_plan,
    facts_of_requirements,
    facts_of_selection,
    facts_of_standings,
    facts_of_wrong,
    shown_checks,
)
from twinsmith.core.judging.pool import Pool
from twinsmith.core.outcome import Work
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.requirement import Requirements
from twinsmith.core.planning.standing import Standing
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Verdict
from twinsmith.flow.recorder import Recorder

MOST_SOURCE = 500_000
"""The characters of source that a whole run tells; of candidates after these only facts."""
LONGEST_KEY = 12


def answered(candidate: Candidate) -> tuple[Share, ...]:
    """The coder's answer that a whole program is: question 0 is answered with candidate 1."""
    if candidate.way == "varied":
        return ()
    return (Share(ensemble=candidate.ensemble, nth=candidate.number - 1),)


class Chronicle:
    """Tells the journal what one search has come to, whenever that has changed.

    Nothing here is a step: a replay tells the same again, and the journal has it already.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._room = MOST_SOURCE
        self._written = 0
        self._numbers: dict[tuple[int, str], int] = {}
        """The number of each check, by its probe and what it expects."""
        self._last: dict[str, Json] = {}
        """What was told last of each thing."""
        self._times: Counter[str] = Counter()

    async def required(self, wanted: Requirements) -> None:
        """Tell the requirements of the task, if there are any."""
        if wanted.each:
            await self._tell("requirements.read", "slow", facts_of_requirements(wanted))

    async def stood(self, stands: Iterable[Standing]) -> None:
        """Tell which requirements are met, if there are any."""
        facts = facts_of_standings(stands)
        if facts["requirements"]:
            await self._tell("requirements.shown", "twinsmith", facts)

    async def planned(self, plans: Iterable[tuple[int, str]]) -> None:
        """Tell the plans of slow thinkers, each with its ensemble."""
        for ensemble, text in plans:
            await self._tell("plan.made", "slow", facts_of_plan(ensemble, text))

    async def divided(self, contract: Contract) -> None:
        """Tell the pieces that a service is made of."""
        await self._tell("pieces.planned", "slow", facts_of_pieces(contract))

    async def suspected(self, suspects: Mapping[str, str]) -> None:
        """Tell which pieces have to be written anew, and why."""
        await self._tell("pieces.judged", "twinsmith", facts_of_wrong(suspects))

    async def crossed(self, source: int, to: int, kind: str, lines: Sequence[str]) -> None:
        """Tell what one ensemble learned from another, if it is anything."""
        if lines:
            facts = facts_of_crossing(source, to, kind, lines)
            await self._tell("insights.crossed", "twinsmith", facts)

    async def wrote(
        self, pool: Pool, shares: Callable[[Candidate], Sequence[Share]] = answered
    ) -> None:
        """Tell the candidates that are new in the pool, with their sources."""
        for place in range(self._written, len(pool.candidates)):
            each = pool.candidates[place]
            before = pool.candidates[:place]
            made_of = shares(each)
            facts = facts_of_candidate(each, made_of, before, self._room)
            self._room -= _told(facts)
            who = "coder" if any(share.nth is not None for share in made_of) else "twinsmith"
            key = str(each.number)
            await self._recorder.tell("candidate.written", key=key, who=who, data=facts)
        self._written = len(pool.candidates)

    async def judged(self, work: Work, verdicts: Sequence[Verdict]) -> None:
        """Tell the selection among all candidates; of checks and findings, what has changed."""
        pool = work.pool
        if not pool.candidates:
            return
        groups = shown_checks(pool)
        for same in groups:
            place = (same[0].probe, same[0].expected)
            self._numbers.setdefault(place, len(self._numbers) + 1)
        numbers = [self._numbers[same[0].probe, same[0].expected] for same in groups]
        checks: list[Json] = [
            facts
            for same, number in zip(groups, numbers, strict=True)
            if self._is_new(f"check {number}", facts := facts_of_check(same, pool, number))
        ]
        findings: dict[str, Json] = {
            str(each.candidate): told
            for each in verdicts
            if self._is_new(f"of {each.candidate}", told := facts_of_findings(each.findings))
        }
        chosen = facts_of_selection(pool, work.selection, verdicts, numbers)
        if self._is_new("selection", chosen) or checks or findings:
            facts = {**chosen, "checks": checks, "findings": findings}
            await self._tell("candidates.judged", "selection", facts)

    def _is_new(self, what: str, facts: Json) -> bool:
        known, self._last[what] = self._last.get(what), facts
        return facts != known

    async def _tell(self, kind: str, who: str, data: dict[str, Json]) -> None:
        """Tell an event if it differs from the one of its kind before it."""
        if self._is_new(kind, data):
            self._times[kind] += 1
            text = json.dumps(data, sort_keys=True)
            digest = hashlib.sha256(text.encode()).hexdigest()[:LONGEST_KEY]
            key = f"{self._times[kind]} {digest}"
            await self._recorder.tell(kind, key=key, who=who, data=data)


def _told(facts: Mapping[str, Json]) -> int:
    """The characters of source in the facts of a candidate."""
    return sum(len(members.text(each, "text")) for each in members.objects(facts, "files"))
