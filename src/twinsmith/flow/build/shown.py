"""A finished search for a library or command in, each requirement with what showed it out."""

from collections.abc import Sequence
from dataclasses import replace

from twinsmith.core.checks.inputs import REFUSES
from twinsmith.core.checks.reference import can_show
from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.planning.hollow import HOLLOW, hollowed
from twinsmith.core.planning.requirement import Requirements
from twinsmith.core.planning.standing import Asked, Trial, majority, plain_standings
from twinsmith.core.probe import Probes
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Sandbox

SOMETHING = frozenset({"it"})
NOTHING = ("", "None", "''")
"""The results of a program that does nothing."""


async def shown(
    pool: Pool, winner: int | None, wanted: Requirements, limits: Limits, recorder: Recorder
) -> Asked:
    """The requirements, each with the checks that the winner passes and would not by chance."""
    asked = Asked(requirements=wanted, standings=plain_standings(wanted.each, ()))
    if winner is None or winner not in pool.seen:
        return asked
    others = [number for number in pool.seen if number != winner]
    held = {number: pool.held(number) for number in pool.seen}
    empty = await _passed_by_nothing(pool, winner, limits, recorder)
    quotes = {each.number: each.quote for each in wanted.each}
    trials = []
    for check in pool.checks:
        about = pool.about.get(check.probe, frozenset[int]())
        if check.given and len(wanted.each) == 1:
            # The task's own example is about the one thing that it asks for.
            about = frozenset({wanted.each[0].number})
        if check.probe >= len(pool.seen[winner]):
            continue
        probe = pool.probes[check.probe]
        passes = [check in held[number] for number in others]
        telling = check.expected not in NOTHING if probe.asks else probe.source not in empty
        trials += [
            Trial(
                probe=replace(probe, about=number),
                result=pool.seen[winner][check.probe],
                holds=check in held[winner],
                telling=SOMETHING
                if telling and can_show(probe, quotes.get(number, ""))
                else frozenset(),
                refusal=check.expected == REFUSES,
                elsewhere=majority(passes),
            )
            for number in sorted(about)
        ]
    return Asked(requirements=wanted, standings=plain_standings(wanted.each, _weighed(trials)))


def _weighed(trials: Sequence[Trial]) -> list[Trial]:
    """The trials, refusals among them voided unless their requirement wants nothing else.

    A program that refuses everything passes refusals; so the winner has to do something besides.
    """
    does = any(t.passed and t.telling and not t.refusal for t in trials)
    printing = {t.probe.about for t in trials if not t.refusal}
    return [
        replace(t, telling=frozenset())
        if t.refusal and (not does or t.probe.about in printing)
        else t
        for t in trials
    ]


async def _passed_by_nothing(
    pool: Pool, winner: int, limits: Limits, recorder: Recorder
) -> frozenset[str]:
    """The sources of the checks that a program of the same names passes without doing anything."""
    program = pool.numbered(winner).program
    empty = hollowed(program) if program else None
    probes = [probe for probe in pool.probes if probe.about and not probe.asks]
    if empty is None or not probes:
        return frozenset()
    asked = Probes(checks=tuple(probes), setup=pool.setup)

    async def in_sandbox(sandbox: Sandbox) -> Execution:
        return await sandbox.run(empty, asked, limits)

    try:
        seen = await recorder.execute(HOLLOW, in_sandbox)
    except BudgetExceeded:
        # Nobody knows which of them say something: none does.
        return frozenset(probe.source for probe in probes)
    return frozenset(
        probe.source
        for probe, result in zip(probes, seen.results, strict=False)
        if result.outcome == "passed"
    )
