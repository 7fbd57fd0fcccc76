"""Examples of a task that are perhaps mistaken: every program breaks them in the same way."""

from dataclasses import dataclass

from twinsmith.core.checks.inputs import observed
from twinsmith.core.judging.meaning import meaning
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Check
from twinsmith.core.probe import Input

MANY = 12
"""The fewest programs that make an example doubtful: with four or six, they were wrong, not it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubted:
    """A doubtful example: the result that the task gives, and the one that programs agree on."""

    check: Check
    call: Input
    expected: str
    gave: str
    programs: int


def doubted(pool: Pool) -> Doubted | None:
    """The example that no program keeps, where most keep all others and agree on another result."""
    given = [check for check in pool.checks if check.given]
    if len(given) < 2 or len(pool.seen) < MANY:
        return None
    held = {number: set(pool.held(number)) for number in pool.seen}
    for check in given:
        asked = pool.probes[check.probe].asks
        if asked is None or not check.expected or any(check in each for each in held.values()):
            continue
        rest = {other for other in given if other != check}
        # A run that ended early has not tried everybody with everything.
        tried = [number for number in held if check.probe < len(pool.seen[number])]
        able = [number for number in tried if rest <= held[number]]
        gave = [observed(asked, pool.seen[number][check.probe]) for number in able]
        alike = {meaning(value, exact=pool.exact) if value else None for value in gave}
        if 2 * len(able) > len(held) and len(alike) == 1 and gave[0]:
            return Doubted(
                check=check,
                call=asked,
                expected=check.expected,
                gave=gave[0],
                programs=len(able),
            )
    return None
