"""Rules for choosing among candidates that others have published, beside ours, and what they reach.

Each published rule gets the same view of a pool and gives every candidate that may win a score;
where several have the highest, it is worth what the mean of them is. Ours names one winner.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product

from twinsmith.core.checks.examples import Examples
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.meaning import meaning
from twinsmith.core.judging.selection import Check, Entrant, Evidence, select
from twinsmith.core.probe import Call, Probe

REPEATS = 5
SIZES = (4, 6, 8, 10, 20)
BATCH = 4
STOPS = (0.7, 0.8, 0.9, 0.95, 1.01)
MODES = ("plain", "examples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One problem, run: what every probe saw of every solution. `right` never reaches a rule."""

    name: str
    probes: tuple[Probe, ...]
    fuzz: frozenset[Call]
    examples: Examples
    completions: tuple[tuple[int, tuple[Probe, ...]], ...]
    ensembles: tuple[int, ...]
    results: tuple[tuple[ProbeResult, ...], ...]
    right: tuple[bool, ...]
    greedy_right: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which solutions and completions of tests are looked at, as far as they are there."""

    solutions: Sequence[int] = range(1000)
    completions: Sequence[int] = range(1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What rules may look at: values on the inputs of the proposed tests, and which tests pass."""

    values: Sequence[tuple[Hashable, ...]]
    passed: Sequence[tuple[bool, ...]]
    allowed: Sequence[int]


Rule = Callable[[View], dict[int, float]]


def random_one(view: View) -> dict[int, float]:
    """Any candidate."""
    return dict.fromkeys(view.allowed, 0.0)


def most_tests(view: View) -> dict[int, float]:
    """The most proposed tests passed."""
    return {one: float(sum(view.passed[one])) for one in view.allowed}


def largest_cluster(view: View) -> dict[int, float]:
    """The most candidates that do the same on all inputs."""
    sizes = Counter(view.values[one] for one in view.allowed)
    return {one: float(sizes[view.values[one]]) for one in view.allowed}


def codet(view: View, power: float = 1.0) -> dict[int, float]:
    """CodeT (arXiv 2207.10397): those that pass the same tests, times these tests."""
    sizes = Counter(view.passed[one] for one in view.allowed)
    return {one: sizes[view.passed[one]] ** power * sum(view.passed[one]) for one in view.allowed}


def codet_root(view: View) -> dict[int, float]:
    """CodeT with the root of the number of candidates, its authors' other choice."""
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


def b4(view: View) -> dict[int, float]:
    """B4 (arXiv 2409.08692): the posterior of each consensus set, with Beta priors.

    Wrong programs rarely pass right tests, a prior of (1, 10); the other priors are even.
    """
    rows = [view.passed[one] for one in view.allowed]
    width = len(rows[0]) if rows else 0
    every = sum(map(sum, rows))
    scores: dict[tuple[bool, ...], float] = {}
    for row, size in Counter(rows).items():
        right = [n for n, passed in enumerate(row) if passed]
        tests, others = len(right), len(rows) - size
        lucky = sum(other[n] for other in rows for n in right) - size * tests
        on_wrong = every - lucky - size * tests
        scores[row] = (
            _log_beta(1 + lucky, 10 + others * tests - lucky)
            + _log_beta(1 + on_wrong, 1 + len(rows) * (width - tests) - on_wrong)
            + _log_beta(1 + size, 1 + others)
            + _log_beta(1 + tests, 1 + width - tests)
        )
    return {one: scores[view.passed[one]] for one in view.allowed}


RULES: Mapping[str, Rule] = {
    "random": random_one,
    "most_tests": most_tests,
    "largest_cluster": largest_cluster,
    "codet": codet,
    "codet_root": codet_root,
    "mbr_exec": mbr_exec,
    "b4": b4,
}


def leaders(scores: Mapping[int, float]) -> list[int]:
    """Those with the highest score."""
    most = max(scores.values())
    return [one for one, score in scores.items() if score >= most - 1e-9]


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


WHOLE = Sample()
Worth = dict[tuple[str, str], list[float]]


@lru_cache(maxsize=100_000)
def same(literal: str) -> Hashable:
    return meaning(literal)


def _asked(probe: Probe) -> Hashable:
    return probe.call.args if probe.call else probe.source


def _expected(probe: Probe) -> str:
    return probe.call.expected if probe.call else ""


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


def view(known: Evidence) -> View:
    """The same evidence as published rules look at it: inputs of tests only, each test once."""
    tests = dict.fromkeys(
        (check.probe, check.expected) for check in known.checks if not check.given
    )
    given = [(check.probe, check.expected) for check in known.checks if check.given]
    rows = [entrant.results for entrant in known.entrants]
    inputs = [probe for probe in dict.fromkeys(n for n, _ in tests) if known.calls[probe]]
    kept = [sum(passes(row[probe], expected) for probe, expected in given) for row in rows]
    return View(
        values=[tuple(value_of(row[probe]) for probe in inputs) for row in rows],
        passed=[tuple(passes(row[probe], expected) for probe, expected in tests) for row in rows],
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


def is_right(problem: Recorded, candidate: int | None) -> bool:
    """Truth, asked for after the choice."""
    return candidate is not None and problem.right[candidate]


def percent(values: Sequence[float]) -> float:
    return round(100 * sum(values) / max(1, len(values)), 2)


def ablations(pool: Sequence[Recorded]) -> str:
    """What each part of the rule is worth."""
    rows = [f"{'':24}     plain  examples  on parts: plain  examples"]
    whole = [(problem, WHOLE) for problem in pool]
    parts = list(samples(pool, solutions=10, completions=5))
    for name, choose in VARIANTS.items():
        cells = []
        for some, mode in product((whole, parts), MODES):
            known = ((p, evidence(p, part, examples=mode == "examples")) for p, part in some)
            cells.append(percent([is_right(p, choose(each)) for p, each in known]))
        rows.append(f"{name:24}{cells[0]:10.2f}{cells[1]:10.2f}{cells[2]:17.2f}{cells[3]:10.2f}")
    return "\n".join(rows)


def without_fuzz(known: Evidence) -> int | None:
    used = {check.probe for check in known.checks}
    calls = tuple(call if n in used else None for n, call in enumerate(known.calls))
    return select(replace(known, calls=calls)).winner


def each_test_once(known: Evidence) -> int | None:
    return select(replace(known, checks=tuple(replace(c, times=1) for c in known.checks))).winner


def only_finalists_vote(known: Evidence) -> int | None:
    last = {score.candidate for score in select(known).scores}
    entrants = tuple(each for each in known.entrants if each.candidate in last)
    return select(replace(known, entrants=entrants)).winner


def by(part: str) -> Callable[[Evidence], int | None]:
    """The winner by one part of the score alone."""

    def first(known: Evidence) -> int | None:
        scores = select(known).scores
        order = [(-round(getattr(score, part), 9), score.candidate) for score in scores]
        return min(order)[1] if order else None

    return first


VARIANTS: Mapping[str, Callable[[Evidence], int | None]] = {
    "ours": by("total"),
    "no fuzz inputs": without_fuzz,
    "every test counts once": each_test_once,
    "only finalists vote": only_finalists_vote,
    "tests alone": by("checks"),
    "agreement alone": by("agreement"),
}


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


def by_number(pool: Sequence[Recorded]) -> str:
    """How much is reached with fewer candidates."""
    rows = ["candidates    oracle     codet root          ours   (all tests, examples as filter)"]
    for size in SIZES:
        oracle, theirs, ours = [], [], []
        for problem, part in samples(pool, solutions=size):
            known = evidence(problem, part)
            there = [problem.right[each.candidate] for each in known.entrants]
            best = [there[n] for n in leaders(codet_root(view(known)))]
            oracle.append(any(there))
            theirs.append(sum(best) / len(best))
            ours.append(is_right(problem, select(known).winner))
        cells = f"{percent(oracle):10.2f}{percent(theirs):15.2f}{percent(ours):14.2f}"
        rows.append(f"{size:10}{cells}")
    return "\n".join(rows)


def stopping_early(pool: Sequence[Recorded]) -> str:
    """Candidates come in batches; enough is when the confidence is high."""
    rows = [f"stop at    right   candidates   (batches of {BATCH}, examples as filter)"]
    orders = list(samples(pool))
    for stop in STOPS:
        right, used = [], []
        for problem, order in orders:
            for size in range(BATCH, len(order.solutions) + BATCH, BATCH):
                part = Sample(solutions=order.solutions[:size])
                chosen = select(evidence(problem, part))
                if chosen.confidence >= stop:
                    break
            right.append(is_right(problem, chosen.winner))
            used.append(min(size, len(order.solutions)))
        limit = f"{stop:7.2f}" if stop <= 1 else "  never"
        rows.append(f"{limit}{percent(right):9.2f}{sum(used) / len(used):13.1f}")
    return "\n".join(rows)


def two_ensembles(pool: Sequence[Recorded]) -> str:
    """Agreement across ensembles counted apart, against one pool of all."""
    kinds = sorted({ensemble for problem in pool for ensemble in problem.ensembles})
    what = f"{len(kinds)} ensembles as recorded" if len(kinds) > 1 else "two halves of one ensemble"
    apart, together = [], []
    for problem, part in samples(pool, solutions=20, completions=10):
        split = problem if len(kinds) > 1 else halved(problem, part)
        known = evidence(split, part)
        apart.append(is_right(problem, select(known).winner))
        together.append(is_right(problem, select(pooled(known)).winner))
    return f"{what}: counted apart {percent(apart)}, as one pool {percent(together)}"


def halved(problem: Recorded, part: Sample) -> Recorded:
    """Every other solution and completion, in the sample's order, is another ensemble's."""
    second, later = set(part.solutions[::2]), set(part.completions[::2])
    return replace(
        problem,
        ensembles=tuple(int(n in second) for n in range(len(problem.results))),
        completions=tuple((int(n in later), p) for n, (_, p) in enumerate(problem.completions)),
    )


def pooled(known: Evidence) -> Evidence:
    """As if one ensemble had done it all."""
    return replace(
        known,
        entrants=tuple(replace(each, ensemble=0) for each in known.entrants),
        checks=tuple(replace(check, ensemble=0) for check in known.checks),
    )


def calibration(pool: Sequence[Recorded]) -> str:
    """How often a confidence is right, over pools of all sizes."""
    told = [
        (chosen.confidence, is_right(problem, chosen.winner))
        for size in SIZES
        for problem, part in samples(pool, solutions=size, completions=size // 2)
        for chosen in [select(evidence(problem, part))]
    ]
    brier = sum((sure - right) ** 2 for sure, right in told) / len(told)
    rows = [f"confidence   said   right    number   (Brier score {brier:.3f})"]
    for low, high in pairwise((0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.01)):
        inside = [pair for pair in told if low <= pair[0] < high]
        said, right = (percent([pair[n] for pair in inside]) for n in (0, 1))
        rows.append(f"from {low:5.2f}{said:9.1f}{right:8.1f}{len(inside):10}")
    return "\n".join(rows)


def separating(pool: Sequence[Recorded]) -> str:
    """What a focused question about one input could still give."""
    missed = second = decided = 0
    for problem in pool:
        chosen = select(evidence(problem))
        if is_right(problem, chosen.winner) or not any(problem.right):
            continue
        missed += 1
        if is_right(problem, chosen.runner_up):
            second += 1
            decided += chosen.separating is not None
    return (
        f"missed though solvable: {missed}; the runner-up is right in {second}; "
        f"an input separates it from the winner in {decided}"
    )


SIMULATIONS = (ablations, by_number, stopping_early, two_ensembles, calibration, separating)
