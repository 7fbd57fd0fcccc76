"""A recorded pool, run: what every probe saw of every solution, and random parts of it.

Truth stands beside it for whoever counts what was reached; the evidence that a rule gets is
without it.
"""

import random
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from twinsmith.core.checks.examples import Examples
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.selection import Check, Entrant, Evidence
from twinsmith.core.probe import Call, Probe

REPEATS = 5
SIZES = (4, 6, 8, 10, 20)
MODES = ("plain", "examples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One problem, run: what every probe saw of every solution. `right` never reaches a rule.

    Solutions with the same text have the same number in `texts`.
    """

    name: str
    probes: tuple[Probe, ...]
    fuzz: frozenset[Call]
    examples: Examples
    completions: tuple[tuple[int, tuple[Probe, ...]], ...]
    ensembles: tuple[int, ...]
    texts: tuple[int, ...]
    results: tuple[tuple[ProbeResult, ...], ...]
    right: tuple[bool, ...]
    greedy_right: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which solutions and completions of tests are looked at, as far as they are there."""

    solutions: Sequence[int] = range(1000)
    completions: Sequence[int] = range(1000)


WHOLE = Sample()


def evidence(problem: Recorded, sample: Sample = WHOLE, *, examples: bool = True) -> Evidence:
    """What the selector gets; truth is not in it."""
    place = {_asked(probe): n for n, probe in enumerate(problem.probes)}
    checks: Counter[tuple[int, str, int]] = Counter()
    for number, (ensemble, probes) in enumerate(problem.completions):
        if number in sample.completions:
            checks.update((place[_asked(p)], _expected(p), ensemble) for p in probes)
    given = [(place[call.args], call.expected) for call in problem.examples.calls]
    given += [(place[source], "") for source in problem.examples.checks]
    used = {probe for probe, _, _ in checks} | {place[call.args] for call in problem.fuzz}
    used |= {probe for probe, _ in given} if examples else set()
    order = sorted(used)
    there = {probe: n for n, probe in enumerate(order)}
    solutions = [n for n in sample.solutions if n < len(problem.results)]
    return Evidence(
        calls=tuple(problem.probes[probe].call for probe in order),
        entrants=tuple(
            Entrant(
                candidate=n,
                ensemble=problem.ensembles[n],
                results=tuple(problem.results[n][probe] for probe in order),
            )
            for n in solutions
        ),
        checks=tuple(
            Check(probe=there[probe], expected=expected, times=times, ensemble=ensemble)
            for (probe, expected, ensemble), times in checks.items()
        )
        + tuple(
            Check(probe=there[probe], expected=expected, given=True)
            for probe, expected in (given if examples else [])
        ),
    )


def _asked(probe: Probe) -> Hashable:
    return probe.call.args if probe.call else probe.source


def _expected(probe: Probe) -> str:
    return probe.call.expected if probe.call else ""


def samples(
    pool: Sequence[Recorded], *, solutions: int = 1000, completions: int = 1000
) -> Iterator[tuple[Recorded, Sample]]:
    """Random parts of every problem, the same in every run."""
    rng = random.Random(0)
    for problem in pool:
        all_of_them, tests = len(problem.results), len(problem.completions)
        for _ in range(REPEATS):
            some = rng.sample(range(all_of_them), min(solutions, all_of_them))
            asked = rng.sample(range(tests), min(completions, tests))
            yield problem, Sample(solutions=tuple(some), completions=tuple(asked))


def is_right(problem: Recorded, candidate: int | None) -> bool:
    """Truth, asked for after the choice."""
    return candidate is not None and problem.right[candidate]


def percent(values: Sequence[float]) -> float:
    """The mean of shares or of yes and no, in percent."""
    return round(100 * sum(values) / max(1, len(values)), 2)
