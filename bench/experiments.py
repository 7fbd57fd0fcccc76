"""How often an experiment sees what is not there, and how soon what is: simulated, with seeds.

    .venv/bin/python bench/experiments.py [SIMULATIONS]

Results come one by one and are looked at after each, as `twinsmith experiment` does it, with the
very functions of core/trying. Beside it: an ordinary test looked at after each run (peeking), the
same test looked at once at the end (fixed), the exact mixture for rates, and savvi's regression
where that package can be imported (it is no dependency: it brings cvxpy along).
"""

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, inf, log, sqrt

from twinsmith.core.trying.sequential import (
    LEAST_RUNS,
    Sums,
    are_costs_known,
    interval,
    interval_of_pairs,
    runs_needed,
    surely_apart,
)

SIMULATIONS = 1000
HORIZON = 1000
"""The runs of an A/A simulation: two or three months of a small team."""
Z = 1.96
FLOOR = 1e-6
Draw = Callable[[random.Random, bool], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What results look like: of an arm b or not, rates as zeros and ones, costs as logarithms."""

    name: str
    draw: Draw
    least: float
    bounded: bool
    share: float = 0.5
    variance: float = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How often each way of looking decided, and the mean number of runs until ours did."""

    ours: float
    wrong_way: float
    runs: float
    covered: float
    """How often the interval held the truth at every look."""
    peeking: float
    fixed: float
    exact: float | None


def main() -> None:
    """Print the tables of docs/decisions/0020-experiments.md."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    print(f"A/A: wrong decisions in {simulations} simulations of {HORIZON} runs, in percent")
    print(f"{'':<44}{'ours':>7}{'peeking':>9}{'fixed':>7}{'exact':>7}")
    for world in (*rates(), *costs()):
        found = simulated(world, simulations, HORIZON, truth=0.0)
        exact = "-" if found.exact is None else f"{100 * found.exact:.1f}"
        print(
            f"{world.name:<44}{100 * found.ours:>7.1f}{100 * found.peeking:>9.1f}"
            f"{100 * found.fixed:>7.1f}{exact:>7}"
        )
    print("A/A in pairs: wrong decisions, in percent")
    for name, kinship in (("pairs, tasks alike", 0.0), ("pairs, tasks very different", 0.8)):
        print(f"{name:<44}{100 * paired(simulations, HORIZON // 2, kinship, 0.0)[0]:>7.1f}")
    print("A/B: horizon = runs_needed(); decided rightly by then, mean runs, a fixed test's runs")
    head = f"{'right %':>8}{'wrong %':>8}{'covered %':>10}{'horizon':>9}{'mean':>7}{'fixed n':>9}"
    print(f"{'':<44}{head}{'exact %':>9}")
    for world, effect in effects():
        horizon = runs_needed(variance=world.variance, least=world.least, share=world.share)
        found = simulated(world, simulations // 2, horizon, truth=effect)
        exact = "-" if found.exact is None else f"{100 * found.exact:.0f}"
        print(
            f"{world.name:<44}{100 * found.ours:>8.0f}{100 * found.wrong_way:>8.1f}"
            f"{100 * found.covered:>10.1f}{horizon:>9}{found.runs:>7.0f}"
            f"{fixed_runs(world, effect):>9}{exact:>9}"
        )
    right, runs = paired(simulations // 2, 500, 0.5, 0.1)
    print(f"{'pairs, 50 % to 60 %, kinship 0.5, 500 pairs':<44}{100 * right:>8.0f}{runs:>43.0f}")
    print("a crash loop: b breaks always, a never; runs of b until it is stopped (exact)")
    print(f"  share 0.5: {until_broken(0.5)}, share 0.2: {until_broken(0.2)}")
    peer(simulations // 5)


def rates() -> Iterator[World]:
    """Arms that solve the same part of their tasks."""
    for share in (0.5, 0.2):
        for rate in (0.02, 0.05, 0.2, 0.5, 0.8, 0.95, 0.98):
            yield World(
                name=f"solved {100 * rate:g} %, share {share:g}",
                draw=lambda draw, _b, rate=rate: float(draw.random() < rate),  # type: ignore[misc]
                least=0.1,
                bounded=True,
                share=share,
            )


def costs() -> Iterator[World]:
    """Arms that cost the same: tokens of usual and of very wide spread, money that is mostly 0."""
    for share in (0.5, 0.2):
        for spread in (0.3, 0.7, 1.5):
            yield World(
                name=f"tokens, spread of logarithms {spread:g}, share {share:g}",
                draw=lambda draw, _b, spread=spread: draw.gauss(9.0, spread),  # type: ignore[misc]
                least=-log(0.8),
                bounded=False,
                share=share,
            )
        yield World(
            name=f"tokens, Pareto tail 1.1, share {share:g}",
            draw=lambda draw, _b: log(1000 * draw.paretovariate(1.1)),
            least=-log(0.8),
            bounded=False,
            share=share,
        )
        for free in (0.5, 0.95):
            yield World(
                name=f"usd, {100 * free:g} % cost nothing, share {share:g}",
                draw=lambda draw, _b, free=free: _money(draw, free),  # type: ignore[misc]
                least=-log(0.8),
                bounded=False,
                share=share,
            )


def effects() -> Iterator[tuple[World, float]]:
    """Arms of known effect, and that effect."""
    for share in (0.5, 0.2):
        for a, b in ((0.5, 0.6), (0.5, 0.7), (0.8, 0.9), (0.3, 0.2)):
            yield (
                World(
                    name=f"solved {100 * a:g} % to {100 * b:g} %, share {share:g}",
                    draw=lambda draw, is_b, a=a, b=b: float(draw.random() < (b if is_b else a)),  # type: ignore[misc]
                    least=abs(b - a),
                    bounded=True,
                    share=share,
                    variance=max(a * (1 - a), b * (1 - b)),
                ),
                b - a,
            )
        for ratio in (0.8, 0.6):
            yield (
                World(
                    name=f"tokens x {ratio:g}, spread 0.7, share {share:g}",
                    draw=lambda draw, is_b, ratio=ratio: (  # type: ignore[misc]
                        draw.gauss(9.0, 0.7) + (log(ratio) if is_b else 0.0)
                    ),
                    least=-log(ratio),
                    bounded=False,
                    share=share,
                    variance=0.49,
                ),
                log(ratio),
            )
    yield (
        World(
            name="usd x 0.6, 95 % cost nothing, share 0.5",
            draw=lambda draw, is_b: max(
                log(FLOOR), _money(draw, 0.95) + (log(0.6) if is_b else 0.0)
            ),
            least=-log(0.6),
            bounded=False,
            variance=_spread_of(lambda draw: _money(draw, 0.95)),
        ),
        # What is free stays so: the typical run, which a mean of logarithms tells, hardly moves.
        0.05 * log(0.6),
    )


def simulated(world: World, simulations: int, horizon: int, *, truth: float) -> Found:
    """Many experiments of one kind, each looked at after every run."""
    ours = wrong_way = covered = peeking = fixed = exact = 0
    spent = 0
    for number in range(simulations):
        draw = random.Random(f"{world.name} {number}")
        a, b = Sums(), Sums()
        decided = peeked = apart = False
        held, at, kinds = True, horizon, {False: [0, 0], True: [0, 0]}
        for run in range(1, horizon + 1):
            is_b = draw.random() < world.share
            value = world.draw(draw, is_b)
            a, b = (a, b.plus(value)) if is_b else (a.plus(value), b)
            low, high = interval(a, b, least=world.least, bounded=world.bounded)
            kinds[is_b][value > log(FLOOR)] += 1
            of_a, of_b = ((free, paid) for free, paid in kinds.values())
            if not world.bounded and not are_costs_known(of_a, of_b):
                low, high = -inf, inf
            held = held and low <= truth <= high
            if not decided and (low > 0 or high < 0):
                decided, at = True, run
                wrong_way += truth != 0 and (low > 0) != (truth > 0)
            if not peeked:
                peeked = seen_once(a, b)
            if world.bounded and not apart:
                apart = surely_apart(a, b)
        ours += decided
        covered += held
        peeking += peeked
        fixed += seen_once(a, b)
        exact += apart
        spent += at
    return Found(
        ours=ours / simulations,
        wrong_way=wrong_way / simulations,
        runs=spent / simulations,
        covered=covered / simulations,
        peeking=peeking / simulations,
        fixed=fixed / simulations,
        exact=exact / simulations if world.bounded else None,
    )


def seen_once(a: Sums, b: Sums) -> bool:
    """Whether an ordinary test sees a difference, as if this were the only look."""
    if min(a.n, b.n) < LEAST_RUNS:
        return False
    spread = a.variance / (a.n - 1) + b.variance / (b.n - 1)
    return spread > 0 and abs(b.mean - a.mean) > Z * sqrt(spread)


def paired(simulations: int, pairs: int, kinship: float, effect: float) -> tuple[float, float]:
    """How often pairs decided, and after how many; `kinship`: the part of tasks sure in both."""
    decided, spent = 0, 0
    for number in range(simulations):
        draw = random.Random(f"pairs {kinship} {effect} {number}")
        sums, at = Sums(), pairs
        for run in range(1, pairs + 1):
            if draw.random() < kinship:
                difference = 0.0
            else:
                more = effect / (1 - kinship)
                first, second = draw.random() < 0.5, draw.random() < 0.5 + more
                difference = float(second) - float(first)
            sums = sums.plus(difference)
            low, high = interval_of_pairs(sums, least=0.1)
            if low > 0 or high < 0:
                decided, at = decided + 1, run
                break
        spent += at
    return decided / simulations, spent / simulations


def until_broken(share: float) -> float:
    """The mean runs of b until a crash loop is seen, which a does not have."""
    total = 0
    for number in range(SIMULATIONS):
        draw = random.Random(f"broken {share} {number}")
        a, b = Sums(), Sums()
        while not surely_apart(a, b):
            a, b = (a, b.plus(1.0)) if draw.random() < share else (a.plus(0.0), b)
        total += b.n
    return total / SIMULATIONS


def fixed_runs(world: World, effect: float) -> int:
    """The runs that a test looked at once needs for the same effect with the same power."""
    arms = 1 / world.share + 1 / (1 - world.share)
    return round(world.variance * arms * ((Z + 0.8416) / effect) ** 2)


def peer(simulations: int) -> None:
    """The same streams by savvi's regression, where it is installed; else nothing is said of it."""
    try:
        import numpy as np
        from savvi.linear_regression import LinearRegression  # type: ignore[import-not-found]
    except ImportError:
        print("savvi is not installed: no figure of it")
        return
    for name, rate_a, rate_b in (("A/A 50 %", 0.5, 0.5), ("A/B 50 % to 70 %", 0.5, 0.7)):
        theirs, ours, widths = 0, 0, []
        for number in range(simulations):
            draw = random.Random(f"peer {name} {number}")
            # phi is the precision of its prior in units of the noise: ours is least² / variance.
            model, a, b = LinearRegression(0.05, 2, phi=0.25 / 0.04), Sums(), Sums()
            seen = apart = False
            for _ in range(400):
                is_b = draw.random() < 0.5
                value = float(draw.random() < (rate_b if is_b else rate_a))
                model.update(np.array([value, 1.0, float(is_b)]))
                a, b = (a, b.plus(value)) if is_b else (a.plus(value), b)
                low, high = interval(a, b, least=0.2)
                seen = seen or low > 0 or high < 0
                if min(a.n, b.n) >= LEAST_RUNS:
                    bounds = model.calculate_conf_int()[1]
                    apart = apart or bounds[0] > 0 or bounds[1] < 0
            ours, theirs = ours + seen, theirs + apart
            widths.append((high - low) / (bounds[1] - bounds[0]))
        ratio = sum(widths) / len(widths)
        print(
            f"{name}, 400 runs: ours decided {100 * ours / simulations:.1f} %, savvi "
            f"{100 * theirs / simulations:.1f} %; our width is {ratio:.3f} of savvi's at the end"
        )


def _money(draw: random.Random, free: float) -> float:
    """What a run costs: nothing mostly, else around a cent, as the logarithm that counts."""
    return log(FLOOR) if draw.random() < free else log(max(FLOOR, exp(draw.gauss(-4.6, 1.0))))


def _spread_of(drawn: Callable[[random.Random], float]) -> float:
    draw = random.Random("spread")
    return Sums.of(drawn(draw) for _ in range(20_000)).variance


if __name__ == "__main__":
    main()
