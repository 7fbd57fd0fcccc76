"""What parts of our rule are worth, and what it reaches with less than the whole of a pool.

Each simulation is told as a few lines for people; `bench.selection --more` prints all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from bench.selection_confidence import calibration
from bench.selection_halves import halves
from bench.selection_pool import (
    MODES,
    SIZES,
    WHOLE,
    Recorded,
    Sample,
    evidence,
    is_right,
    percent,
    samples,
)
from bench.selection_rules import codet_root, leaders, view
from twinsmith.core.judging.selection import Evidence, select

BATCH = 4
STOPS = (0.7, 0.8, 0.9, 0.95, 1.01)


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


def separating(pool: Sequence[Recorded]) -> str:
    """What a focused question about one input could give, with all candidates and with ten."""
    whole = [(problem, WHOLE) for problem in pool]
    parts = list(samples(pool, solutions=10))
    return "\n".join(_separated(name, some) for name, some in (("all", whole), ("ten", parts)))


def _separated(name: str, some: Sequence[tuple[Recorded, Sample]]) -> str:
    missed = second = decided = 0
    for problem, part in some:
        known = evidence(problem, part)
        chosen = select(known)
        there = any(problem.right[each.candidate] for each in known.entrants)
        if is_right(problem, chosen.winner) or not there:
            continue
        missed += 1
        if is_right(problem, chosen.runner_up):
            second += 1
            decided += chosen.separating is not None
    return (
        f"of {len(some)} choices among {name} candidates, missed though solvable: {missed}; the "
        f"runner-up is right in {second}; an input separates it from the winner in {decided}"
    )


SIMULATIONS = (ablations, by_number, stopping_early, two_ensembles, separating, calibration, halves)
