"""Confidence intervals that hold at every moment at once: look often, and stop when it is clear.

An ordinary 95 % interval is right in 95 of 100 experiments at one moment that was fixed before.
Whoever looks after every run and stops at the first "significant" one is wrong far more often. The
intervals here are those of the mixture sequential probability ratio test (Robbins 1970; Johari,
Koomen, Pekelis and Walsh, "Always Valid Inference", 2022) with variances from the data, for which
Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform central limit theory and asymptotic
confidence sequences", 2024) proved that they hold for any distribution once there are enough runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, lgamma, log, sqrt
from statistics import NormalDist

ALPHA = 0.05
POWER = 0.8
LEAST_RUNS = 20
"""Runs an arm before anything is decided: below it the estimated spread of the results is off by
more than a sixth (1/√(2·19)), and the intervals trust that spread."""

CUSHION = 0.05
"""The spread that two imagined runs of an unbounded metric have: equal runs are no certainty."""

MOST_RUNS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """All that a decision needs of the results of one arm: their number, sum and squares."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: Iterable[float]) -> "Sums":
        """The sums of some results."""
        found = list(values)
        return cls(n=len(found), total=sum(found), squares=sum(each * each for each in found))

    def plus(self, value: float) -> "Sums":
        """The sums with one more result."""
        return Sums(n=self.n + 1, total=self.total + value, squares=self.squares + value * value)

    @property
    def mean(self) -> float:
        """The mean of the results; 0 where there is none."""
        return self.total / self.n if self.n else 0.0

    @property
    def variance(self) -> float:
        """The variance of the results around their mean."""
        return max(0.0, self.squares / self.n - self.mean**2) if self.n else 0.0


def interval(
    a: Sums, b: Sums, *, alpha: float = ALPHA, least: float = 0.2, bounded: bool = True
) -> tuple[float, float]:
    """The interval of mean(b) - mean(a) that holds at every moment at once, with 1 - alpha.

    `least` is the least effect worth having: there the interval is about as narrow as it can be. It
    has to be fixed before the first result is seen. `bounded` is for results between 0 and 1.
    """
    if min(a.n, b.n) < LEAST_RUNS:
        return (-1.0, 1.0) if bounded else (-inf, inf)
    ends = (0.0, 1.0) if bounded else None
    spread = _variance(a, ends) / a.n + _variance(b, ends) / b.n
    return _around(b.mean - a.mean, spread, alpha=alpha, least=least, bounded=bounded)


def interval_of_pairs(
    pairs: Sums, *, alpha: float = ALPHA, least: float = 0.2, bounded: bool = True
) -> tuple[float, float]:
    """The same interval from the differences b - a of pairs that shared their task and seed."""
    if pairs.n < LEAST_RUNS:
        return (-1.0, 1.0) if bounded else (-inf, inf)
    spread = _variance(pairs, (-1.0, 1.0) if bounded else None) / pairs.n
    return _around(pairs.mean, spread, alpha=alpha, least=least, bounded=bounded)


def are_costs_known(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether both arms show how much their costs differ: runs that cost nothing, and others.

    Of either kind an arm has to have shown enough, or none at all where it would have shown enough
    if it were like the other arm. Where one of twenty runs costs something, the first twenty say
    nothing of what runs cost.
    """
    return all(
        _is_seen(mine[kind], sum(mine), other[kind], sum(other))
        for kind in (0, 1)
        for mine, other in ((a, b), (b, a))
    )


def _is_seen(mine: int, runs: int, others: int, other_runs: int) -> bool:
    if mine or not others:
        return mine >= LEAST_RUNS or not mine
    return runs * others >= LEAST_RUNS * other_runs


def surely_apart(a: Sums, b: Sums, *, alpha: float = ALPHA) -> bool:
    """Whether the rates of two arms of zeros and ones differ, exactly, from the first run on.

    The mixture of all pairs of rates against the best common one (a test martingale for any rates,
    Robbins 1970): it needs more runs than `interval` where there are many, and none at least.
    """
    ones, n = a.total + b.total, a.n + b.n
    common = _likelihood(ones, n)
    return _mixed(a) + _mixed(b) - common > -log(alpha)


def runs_needed(
    *, variance: float, least: float, share: float = 0.5, alpha: float = ALPHA, power: float = POWER
) -> int:
    """All runs, of both arms, after which an effect of `least` is seen with the given power.

    `variance` is that of one run; a pair is a run of variance var(b - a) with a share of 1.
    """
    z = NormalDist().inv_cdf(power)
    arms = 1 / share if share == 1 else 1 / share + 1 / (1 - share)

    def seen(n: int) -> bool:
        spread = variance * arms / n
        return least >= _half(spread, alpha=alpha, least=least) + z * sqrt(spread)

    low = high = max(LEAST_RUNS, round(LEAST_RUNS / min(share, 1 - share or 1)))
    while not seen(high) and high < MOST_RUNS:
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if seen(middle) else (middle + 1, high)
    return high


def _mixed(sums: Sums) -> float:
    """The logarithm of how likely an order of zeros and ones is, over all rates alike."""
    ones, zeros = sums.total, sums.n - sums.total
    return lgamma(ones + 1) + lgamma(zeros + 1) - lgamma(sums.n + 2)


def _likelihood(ones: float, n: int) -> float:
    """The logarithm of how likely an order of zeros and ones is at their own rate."""
    parts = (ones, n - ones)
    return sum(each * log(each / n) for each in parts if each > 0)


def _variance(sums: Sums, ends: tuple[float, float] | None) -> float:
    """The variance of one arm, two imagined results beside it: equal results are no certainty."""
    low, high = ends or (sums.mean - CUSHION, sums.mean + CUSHION)
    return sums.plus(low).plus(high).variance


def _around(
    estimate: float, spread: float, *, alpha: float, least: float, bounded: bool
) -> tuple[float, float]:
    half = _half(spread, alpha=alpha, least=least)
    low, high = estimate - half, estimate + half
    return (max(-1.0, low), min(1.0, high)) if bounded else (low, high)


def _half(spread: float, *, alpha: float, least: float) -> float:
    """Half of the width of an interval around an estimate of the variance `spread`."""
    wide = least * least + spread
    return sqrt(spread * wide / (least * least) * (log(wide / spread) - 2 * log(alpha)))
