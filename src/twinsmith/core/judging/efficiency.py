"""How the time that a program takes grows with its input, and candidates that are too slow.

Larger inputs are made from a call that was seen, so that they are inside the function's domain as
often as not. What is measured is noisy: the least of several tries counts, and nothing that takes
less than a hundredth of a second.
"""

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.replies.python_names import UNREADABLE
from twinsmith.core.verdict import Finding

FACTORS = (1, 8, 64, 512, 4096)
TRIES = 3
FLOOR_SECONDS = 0.01
SLOW = 10.0
LARGEST_NUMBER = 10**6
LONGEST_LITERAL = 200_000
WHAT = "slow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The time for one size of input: the least processor time of all tries, and the result."""

    factor: int
    seconds: float
    """The processor time; where the call did not finish, it takes at least this long."""
    value: str = ""
    finished: bool = True


def ladder(call: Call, *, factors: Sequence[int] = FACTORS, tries: int = TRIES) -> Probes:
    """A call with larger and larger input, several times each; empty where input cannot grow."""
    steps = [(factor, grown(call, factor)) for factor in factors]
    calls: dict[Call, int] = {}
    for factor, larger in steps:
        if larger is not None:
            calls.setdefault(larger, factor)
    if len(calls) < 2:
        return Probes()
    return Probes(
        checks=tuple(
            Probe(name=f"{factor} times as large, try {n}", origin="plan", call=larger)
            for larger, factor in calls.items()
            for n in range(1, tries + 1)
        )
    )


def grown(call: Call, factor: int) -> Call | None:
    """A call with each argument `factor` times as large; None where that is too large."""
    try:
        values = [ast.literal_eval(arg) for arg in call.args]
    except UNREADABLE:
        return None
    if sum(map(len, call.args)) * factor > LONGEST_LITERAL:
        return None
    args = tuple(repr(_grown(value, factor)) for value in values)
    if sum(map(len, args)) > LONGEST_LITERAL:
        return None
    return replace(call, args=args, expected="")


def _grown(value: object, factor: int) -> object:
    """A value `factor` times as large: a rising list goes on rising, any other is repeated."""
    match value:
        case bool():
            return value
        case int():
            larger = value * factor
            return larger if abs(larger) <= max(LARGEST_NUMBER, abs(value)) else value
        case str() | bytes():
            return value * factor
        case list():
            return _risen(value, factor) or value * factor
        case set() if all(isinstance(each, int) for each in value):
            return set(_risen(sorted(value), factor)) or value
        case dict() if all(isinstance(key, str) for key in value):
            more = {f"{key}{n}": each for n in range(1, factor) for key, each in value.items()}
            return {**value, **more}
    return value


def _risen(values: list[object], factor: int) -> list[object]:
    """A rising list of whole numbers, continued to `factor` times its length; else empty."""
    numbers = [each for each in values if isinstance(each, int) and not isinstance(each, bool)]
    pairs = pairwise(numbers)
    if not numbers or len(numbers) < len(values) or any(a >= b for a, b in pairs):
        return []
    width = numbers[-1] - numbers[0] + 1
    return [each + n * width for n in range(factor) for each in numbers]


def timings(probes: Probes, execution: Execution) -> tuple[Timing, ...]:
    """The timings of a ladder's execution, smallest input first; sizes that failed are left out."""
    results = {result.name: result for result in execution.results}
    tries: dict[int, list[ProbeResult]] = {}
    for probe in probes.checks:
        result = results.get(probe.name)
        if result is not None and result.outcome in ("passed", "timed out"):
            tries.setdefault(int(probe.name.partition(" ")[0]), []).append(result)
    return tuple(_timing(factor, tried) for factor, tried in sorted(tries.items()))


def _timing(factor: int, tried: Sequence[ProbeResult]) -> Timing:
    by_time = sorted(tried, key=lambda result: result.cpu_seconds)
    # One that never came to its end took the longest of its tries: others were not even begun.
    best = next((result for result in by_time if result.outcome == "passed"), by_time[-1])
    return Timing(
        factor=factor,
        seconds=best.cpu_seconds,
        value=best.value,
        finished=best.outcome == "passed",
    )


def growth(measured: Sequence[Timing]) -> float | None:
    """The exponent by which time grows with input: 1 is linear; None where it cannot be told."""
    seen = [each for each in measured if each.finished and each.seconds >= FLOOR_SECONDS]
    if len(seen) < 2:
        return None
    sizes = [math.log(each.factor) for each in seen]
    times = [math.log(each.seconds) for each in seen]
    middle, height = sum(sizes) / len(sizes), sum(times) / len(times)
    spread = sum((size - middle) ** 2 for size in sizes)
    together = zip(sizes, times, strict=True)
    return sum((size - middle) * (time - height) for size, time in together) / spread


def slow_ones(
    measured: Mapping[int, Sequence[Timing]], *, slow: float = SLOW, too_slow: float = 0.0
) -> dict[int, Finding]:
    """Candidates that are far slower than the fastest: their numbers, each with a finding.

    All of them must have passed their checks. `slow` times is a note, `too_slow` times blocks; 0
    never does. Where values differ nobody knows who is right: such sizes are not compared.
    """
    found = {}
    for number, mine in measured.items():
        others = [other for n, other in measured.items() if n != number]
        worst = max(
            (seen for other in others if (seen := _ratio(mine, other)) is not None),
            key=lambda seen: seen[0],
            default=None,
        )
        if worst is not None and worst[0] >= slow:
            found[number] = _finding(mine, *worst, blocks=0 < too_slow <= worst[0])
    return found


def _ratio(mine: Sequence[Timing], other: Sequence[Timing]) -> tuple[float, Timing, Timing] | None:
    """How many times slower one program is, at the largest input that both can be compared on."""
    theirs = {each.factor: each for each in other if each.finished}
    for one in reversed(mine):
        same = theirs.get(one.factor)
        if same is None or one.seconds < FLOOR_SECONDS:
            continue
        if not one.finished or one.value == same.value:
            return one.seconds / max(same.seconds, FLOOR_SECONDS), one, same
    return None


def _finding(
    mine: Sequence[Timing], ratio: float, one: Timing, same: Timing, *, blocks: bool
) -> Finding:
    exponent = growth(mine)
    least = "" if one.finished else "more than "
    grows = f"; its time grows with the power {exponent:.1f} of the input" if exponent else ""
    return Finding(
        what=WHAT,
        where=f"input {one.factor} times as large",
        evidence=f"{least}{one.seconds:.3g} s of processor time, at least {ratio:.0f} times as "
        f"long as another candidate that is right ({same.seconds:.3g} s){grows}",
        severity="blocking" if blocks else "note",
    )
