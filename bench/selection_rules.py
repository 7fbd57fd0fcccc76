"""Rules for choosing among candidates that others have published, on the evidence that ours gets.

Each gets the same view of a pool and gives the candidates that may win a score; where several have
the highest, it is worth what the mean of them is. What a rule counts once and what it counts as
often as it came is as in its authors' own code: CodeT in `agreement.py` of microsoft/CodeT, B4 in
`strategy.py` and `main.py` of ZJU-CTAG/B4.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.meaning import meaning
from twinsmith.core.judging.selection import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What rules may look at: values on the inputs of the proposed tests, and which tests pass.

    Each test stands there once, with how often it was proposed in `times`. `texts` has the same
    number for candidates with the same text; those that `ran` did more than fail.
    """

    values: Sequence[tuple[Hashable, ...]]
    passed: Sequence[tuple[bool, ...]]
    times: Sequence[int]
    texts: Sequence[int]
    ran: Sequence[bool]
    allowed: Sequence[int]


Rule = Callable[[View], dict[int, float]]


def random_one(view: View) -> dict[int, float]:
    """Any candidate."""
    return dict.fromkeys(view.allowed, 0.0)


def most_tests(view: View) -> dict[int, float]:
    """The most proposed tests passed, each counted once."""
    return {one: float(sum(view.passed[one])) for one in view.allowed}


def largest_cluster(view: View) -> dict[int, float]:
    """The most candidates that do the same on all inputs."""
    sizes = Counter(view.values[one] for one in view.allowed)
    return {one: float(sizes[view.values[one]]) for one in view.allowed}


def codet(view: View, power: float = 1.0) -> dict[int, float]:
    """CodeT (arXiv 2207.10397): those that pass the same tests, times these tests.

    A test counts as often as it was proposed, and so does a candidate that was written twice.
    """
    sizes = Counter(view.passed[one] for one in view.allowed)
    return {
        one: sizes[row] ** power
        * sum(n for n, passed in zip(view.times, row, strict=True) if passed)
        for one in view.allowed
        for row in [view.passed[one]]
    }


def codet_root(view: View) -> dict[int, float]:
    """CodeT with the root of the number of candidates, as its authors' code has it."""
    return codet(view, power=0.5)


def mbr_exec(view: View) -> dict[int, float]:
    """MBR-exec (arXiv 2204.11454): on each input, as many others as possible do the same."""
    counts = [
        Counter(column) for column in zip(*(view.values[o] for o in view.allowed), strict=True)
    ]
    return {
        one: float(sum(count[value] for count, value in zip(counts, view.values[one], strict=True)))
        for one in view.allowed
    }


def b4(view: View, *, strong: float, sure: float) -> dict[int, float]:
    """B4 (arXiv 2409.08692): the posterior of each consensus set, with Beta priors.

    Wrong programs hardly ever pass wrong tests, a prior of (1, strong); most programs and tests are
    right, (sure, 1); how often wrong programs pass right tests is open, (1, 1). Every text and
    every test counts once, and a program that only fails not at all.
    """
    first = {view.texts[one]: one for one in reversed(view.allowed) if view.ran[one]}
    rows = {one: view.passed[one] for one in sorted(first.values())}
    scores: dict[tuple[bool, ...], float] = {}
    for row, size in Counter(rows.values()).items():
        right, wrong = sum(row), len(row) - sum(row)
        others = [other for other in rows.values() if other != row]
        by_luck = sum(a and b for other in others for a, b in zip(other, row, strict=True))
        in_error = sum(map(sum, others)) - by_luck
        scores[row] = (
            _log_beta(sure + size, 1 + len(others))
            + _log_beta(sure + right, 1 + wrong)
            + _log_beta(1 + by_luck, 1 + len(others) * right - by_luck)
            + _log_beta(1 + in_error, strong + len(others) * wrong - in_error)
        )
    return {one: scores[row] for one, row in rows.items()} or random_one(view)


def b4_often(view: View) -> dict[int, float]:
    """B4 with every test as often as it was proposed, which its authors' code does not do."""
    rows = [
        tuple(passed for n, passed in zip(view.times, row, strict=True) for _ in range(n))
        for row in view.passed
    ]
    return b4(replace(view, passed=rows, times=(1,) * sum(view.times)), strong=1e4, sure=1e3)


RULES: Mapping[str, Rule] = {
    "random": random_one,
    "most_tests": most_tests,
    "largest_cluster": largest_cluster,
    "codet": codet,
    "codet_root": codet_root,
    "mbr_exec": mbr_exec,
    # With the priors of its authors' real pools, and of their simulated ones.
    "b4_1e4": partial(b4, strong=1e4, sure=1e3),
    "b4_1e5": partial(b4, strong=1e5, sure=1e3),
    "b4_1e6": partial(b4, strong=1e6, sure=1e3),
    "b4_10": partial(b4, strong=10, sure=10),
    "b4_often": b4_often,
}


def leaders(scores: Mapping[int, float]) -> list[int]:
    """Those with the highest score."""
    most = max(scores.values())
    return [one for one, score in scores.items() if score >= most - 1e-9]


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def view(known: Evidence, texts: Sequence[int] = ()) -> View:
    """The evidence as published rules look at it: inputs of tests only, and how often each came.

    `texts` has a number for every candidate of the pool; without it no two are the same.
    """
    tests: Counter[tuple[int, str]] = Counter()
    for check in known.checks:
        if not check.given:
            tests[check.probe, check.expected] += check.times
    given = [(check.probe, check.expected) for check in known.checks if check.given]
    rows = [entrant.results for entrant in known.entrants]
    inputs = [probe for probe in dict.fromkeys(n for n, _ in tests) if known.calls[probe]]
    kept = [sum(passes(row[probe], expected) for probe, expected in given) for row in rows]
    numbers = [entrant.candidate for entrant in known.entrants]
    return View(
        values=[tuple(value_of(row[probe]) for probe in inputs) for row in rows],
        passed=[tuple(passes(row[probe], expected) for probe, expected in tests) for row in rows],
        times=list(tests.values()),
        texts=[texts[n] for n in numbers] if texts else numbers,
        ran=[any(seen.value or seen.outcome == "passed" for seen in row) for row in rows],
        allowed=[n for n, passed in enumerate(kept) if passed == max(kept)],
    )


def passes(result: ProbeResult, expected: str) -> bool:
    """Whether a probe saw what a test expects."""
    if not expected:
        return result.outcome == "passed"
    return bool(result.value) and same(result.value) == same(expected)


def value_of(result: ProbeResult) -> Hashable:
    """What a call gave; all failures of one kind are alike."""
    return same(result.value) if result.value else result.outcome


@lru_cache(maxsize=100_000)
def same(literal: str) -> Hashable:
    """The meaning of a literal, read once."""
    return meaning(literal)
