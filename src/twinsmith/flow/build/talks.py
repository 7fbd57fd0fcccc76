"""Services and dialogues in; out: who passes which, and without which functions each fails."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.planning.dialogue import called_in
from twinsmith.core.planning.hollow import HOLLOW
from twinsmith.core.planning.requirement import Requirements
from twinsmith.core.planning.standing import Standing, Trial, majority, standings
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program
from twinsmith.flow.build.pieces import Bench, Parts
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Sandbox


@dataclass(slots=True)
class Talks:
    """Runs dialogues, and finds out without which functions each of them fails."""

    limits: Limits
    recorder: Recorder
    telling: dict[int, dict[str, frozenset[str]]] = field(default_factory=dict)
    """By candidate and the source of a check: the functions without which it fails."""
    refusals: frozenset[str] = frozenset()
    """The sources of checks that a service passes which refuses everything."""

    async def passed(
        self, number: int, program: Program, probes: Sequence[Probe], setup: str
    ) -> frozenset[str]:
        """The sources of the checks that a program passes."""
        if not probes:
            return frozenset()
        results = await self.tried(number, program, probes, setup)
        return frozenset(
            probe.source
            for probe, result in zip(probes, results, strict=False)
            if result.outcome == "passed"
        )

    async def tried(
        self, number: int, program: Program, probes: Sequence[Probe], setup: str
    ) -> tuple[ProbeResult, ...]:
        """The results of a program in these checks, in their order."""
        asked = Probes(checks=tuple(probes), setup=setup)

        async def in_sandbox(sandbox: Sandbox) -> Execution:
            execution = await sandbox.run(program, asked, self.limits)
            return replace(execution, candidate=number)

        return (await self.recorder.execute(number, in_sandbox)).results

    async def notice(self, winner: int, bench: Bench, pool: Pool) -> None:
        """Find out which functions the checks that a candidate passes depend on; once."""
        seen = pool.seen[winner]
        known = self.telling.setdefault(winner, {})
        passed = [
            probe
            for probe, result in zip(pool.probes, seen, strict=False)
            if result.outcome == "passed"
            and (probe.fresh or probe.functions)
            and probe.source not in known
        ]
        if not passed:
            return
        names = frozenset(each.function for each in bench.shop.contract.pieces)
        fails: dict[str, set[str]] = {probe.source: set() for probe in passed}
        for each in sorted(names):
            program = bench.shop.without(bench.parts[winner], each)
            asked = [probe for probe in passed if each in _tries(probe, names)]
            if program is None:
                # It fails where nothing is done at all, so what it calls is what it needs.
                for probe in asked:
                    if probe.fresh:
                        fails[probe.source].add(each)
                continue
            still = await self.passed(HOLLOW, program, asked, pool.setup)
            for probe in asked:
                if probe.source not in still:
                    fails[probe.source].add(each)
        known |= {source: frozenset(without) for source, without in fails.items()}

    async def stands(
        self,
        winner: int | None,
        bench: Bench,
        wanted: Requirements,
        pool: Pool,
        gate: Sequence[Trial],
    ) -> tuple[Standing, ...]:
        """The requirements, each with the checks by which the winner showed it."""
        contract = bench.shop.contract
        if winner is None or winner not in pool.seen:
            return standings(wanted.each, contract, gate)
        with suppress(BudgetExceeded):
            # Without it what was found out before still counts.
            await self.notice(winner, bench, pool)
        seen, known = pool.seen[winner], self.telling.get(winner, {})
        others = [number for number in pool.seen if number != winner]
        trials = [
            Trial(
                probe=probe,
                result=result,
                telling=known.get(probe.source, frozenset()),
                refusal=probe.source in self.refusals,
                elsewhere=majority(passes(pool, number, place) for number in others),
            )
            for place, (probe, result) in enumerate(zip(pool.probes, seen, strict=False))
        ]
        return standings(wanted.each, contract, [*trials, *gate])


def _tries(probe: Probe, names: frozenset[str]) -> tuple[str, ...]:
    """The functions that a check is about."""
    return probe.functions or called_in(probe.source, names)


def passes(pool: Pool, number: int, place: int) -> bool:
    """True where a candidate passes the check at a place in the pool."""
    seen = pool.seen.get(number, ())
    return place < len(seen) and seen[place].outcome == "passed"


def best_of_each(
    bench: Bench, suspects: Iterable[str], pool: Pool, winner: int | None
) -> Parts | None:
    """The winner's parts, each suspect from the candidate in which it passes most checks."""
    if winner is None or len(bench.shop.names) == 1:
        return None
    names, mixed = frozenset(bench.shop.names), dict(bench.parts[winner])
    for name in suspects:
        places = [
            place
            for place, probe in enumerate(pool.probes)
            if name in called_in(probe.source, names)
        ]
        scores = {
            number: sum(passes(pool, number, place) for place in places)
            for number in bench.parts
            if number in pool.seen
        }
        best = max(scores, key=lambda number: (scores[number], number == winner))
        mixed[name] = bench.parts[best][name]
    known = any(mixed == dict(parts) for parts in bench.parts.values())
    return None if known else mixed
