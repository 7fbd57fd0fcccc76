"""What the results of an experiment say so far, and whether that is enough to end it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite
from typing import Literal

from twinsmith.core.trying.experiment import (
    COSTS,
    Arm,
    Experiment,
    Guard,
    Guarding,
    Verdict,
)
from twinsmith.core.trying.experiment_results import Result, first_of_each, pairs_of
from twinsmith.core.trying.sequential import (
    ALPHA,
    LEAST_RUNS,
    Sums,
    are_costs_known,
    interval,
    interval_of_pairs,
    surely_apart,
)

MOST_POINTS = 120
Kept = Literal["kept", "open", "broken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How b compares with a: a difference of rates, or a ratio of costs, and where it lies."""

    metric: Guarding
    n_a: int
    n_b: int
    a: float | None
    """The rate or the typical cost (geometric mean) of a; None where there is no result."""
    b: float | None
    effect: float | None
    low: float | None
    """None where it may be anything."""
    high: float | None

    @property
    def is_ratio(self) -> bool:
        """Whether it compares costs."""
        return self.metric in COSTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The interval as it was at one moment."""

    at: str
    n: int
    effect: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A guard, and whether it is kept, broken, or nobody knows yet."""

    guard: Guard
    estimate: Estimate
    state: Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """All that the results of an experiment say."""

    estimate: Estimate
    guards: tuple[Watched, ...]
    course: tuple[Point, ...]
    """The interval after runs of the past, some of them only where there are many."""
    verdict: Verdict
    """Empty: it goes on."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """Results of a metric on the scale that is calculated on, and their interval."""

    metric: Guarding
    a: Sums
    b: Sums
    effect: float
    low: float
    high: float


def judged(experiment: Experiment, results: Sequence[Result]) -> Judgement:
    """What the results say: the interval, the guards, and a verdict where it is clear."""
    counted = first_of_each(results)
    found = _compared(experiment, experiment.metric, counted)
    guards = tuple(_watched(experiment, guard, counted) for guard in experiment.standing)
    verdict, why = _verdict(experiment, found, guards)
    return Judgement(
        estimate=_told(found),
        guards=guards,
        course=_course(experiment, counted),
        verdict=verdict,
        why=why,
    )


def _verdict(
    experiment: Experiment, found: _Compared, guards: Sequence[Watched]
) -> tuple[Verdict, str]:
    broken = [each for each in guards if each.state == "broken"]
    if broken:
        return "harm", f"guard {broken[0].guard} is broken: {in_words(broken[0].estimate)}"
    # A cost is better where it is lower.
    low, high = (-found.high, -found.low) if experiment.metric in COSTS else (found.low, found.high)
    told = in_words(_told(found))
    if low > 0:
        open_ones = [each for each in guards if each.state == "open" and _is_beyond(each)]
        if open_ones:
            return "", f"b is better ({told}), and guard {open_ones[0].guard} is still open"
        return "b", f"b is better: {told}"
    if high < 0:
        return "a", f"a is better: {told}"
    if -experiment.scale < low and high < experiment.scale:
        return "same", f"no difference worth having: {told}"
    return "", f"open: {told}"


def in_words(estimate: Estimate) -> str:
    """An estimate as a person reads it."""
    if estimate.effect is None:
        return f"{estimate.metric}: no result of both arms yet"
    counts = f"{estimate.n_a} runs of a, {estimate.n_b} of b"
    if estimate.low is None or estimate.high is None:
        few = min(estimate.n_a, estimate.n_b) < LEAST_RUNS
        why = "in each" if few else "in each that cost nothing, and that cost something"
        return f"{estimate.metric}: {counts}, of {LEAST_RUNS} at least {why}"
    if estimate.is_ratio:
        return (
            f"{estimate.metric} of b are {estimate.effect:.2f} of a's "
            f"({estimate.low:.2f} to {estimate.high:.2f}; {counts})"
        )
    return (
        f"{estimate.metric} {100 * estimate.effect:+.1f} points "
        f"({100 * estimate.low:+.1f} to {100 * estimate.high:+.1f}; {counts})"
    )


def _watched(experiment: Experiment, guard: Guard, results: Sequence[Result]) -> Watched:
    told = max(1, len(experiment.guards))
    found = _compared(experiment, guard.metric, results, alpha=ALPHA / told)
    estimate = _told(found)
    state: Kept = "open"
    if guard.metric == "broken":
        if found.effect <= guard.limit:
            # Without enough runs of both arms nothing was kept yet.
            state = "kept" if min(found.a.n, found.b.n) >= LEAST_RUNS else "open"
        elif surely_apart(found.a, found.b):
            state = "broken"
    elif guard.metric in COSTS:
        low, high = _ratio(found.low), _ratio(found.high)
        if low is not None and high is not None:
            state = "broken" if low > guard.limit else "kept" if high <= guard.limit else "open"
    elif found.high < guard.limit:
        state = "broken"
    elif found.low >= guard.limit:
        state = "kept"
    return Watched(guard=guard, estimate=estimate, state=state)


def _is_beyond(watched: Watched) -> bool:
    """Whether the likeliest effect is one that the guard forbids."""
    effect = watched.estimate.effect
    if effect is None:
        return False
    limit = watched.guard.limit
    return effect < limit if watched.guard.metric in ("solved", "right") else effect > limit


def _compared(
    experiment: Experiment, metric: Guarding, results: Sequence[Result], *, alpha: float = ALPHA
) -> _Compared:
    bounded = metric not in COSTS
    least = experiment.scale if metric == experiment.metric else 0.1 if bounded else 0.2
    if experiment.mode == "replay":
        both = [(x.value(metric), y.value(metric)) for x, y in pairs_of(results)]
        pairs = [(x, y) for x, y in both if x is not None and y is not None]
        a, b = Sums.of(x for x, _ in pairs), Sums.of(y for _, y in pairs)
        sums = Sums.of(y - x for x, y in pairs)
        low, high = interval_of_pairs(sums, alpha=alpha, least=least, bounded=bounded)
    else:
        a, b = (_sums(results, arm, metric) for arm in ("a", "b"))
        low, high = interval(a, b, alpha=alpha, least=least, bounded=bounded)
    if metric in COSTS and not are_costs_known(
        _by_kind(results, "a", metric), _by_kind(results, "b", metric)
    ):
        low, high = -inf, inf
    return _Compared(metric=metric, a=a, b=b, effect=b.mean - a.mean, low=low, high=high)


def _by_kind(results: Sequence[Result], arm: Arm, metric: Guarding) -> tuple[int, int]:
    """How many runs of an arm cost nothing, and how many something."""
    counted = [each for each in results if each.arm == arm and not each.broken]
    free = sum(each.is_free(metric) for each in counted)
    return free, len(counted) - free


def _sums(results: Sequence[Result], arm: str, metric: Guarding) -> Sums:
    values = (each.value(metric) for each in results if each.arm == arm)
    return Sums.of(value for value in values if value is not None)


def _told(found: _Compared) -> Estimate:
    """A comparison as people read it: costs as ratios, and nothing where nothing is known."""
    ratio = found.metric in COSTS
    known = found.a.n and found.b.n
    bounded = min(found.a.n, found.b.n) >= LEAST_RUNS and isfinite(found.low)
    return Estimate(
        metric=found.metric,
        n_a=found.a.n,
        n_b=found.b.n,
        a=_plain(found.a.mean, ratio=ratio) if found.a.n else None,
        b=_plain(found.b.mean, ratio=ratio) if found.b.n else None,
        effect=_plain(found.effect, ratio=ratio) if known else None,
        low=_plain(found.low, ratio=ratio) if bounded else None,
        high=_plain(found.high, ratio=ratio) if bounded else None,
    )


def _plain(value: float, *, ratio: bool) -> float:
    return exp(value) if ratio else value


def _ratio(value: float) -> float | None:
    return None if value in (inf, -inf) else exp(value)


def _course(experiment: Experiment, results: Sequence[Result]) -> tuple[Point, ...]:
    """The interval as it was over time."""
    step = max(1, -(-len(results) // MOST_POINTS))
    ends = sorted({*range(step, len(results) + 1, step), len(results)} - {0})
    points = []
    for end in ends:
        told = _told(_compared(experiment, experiment.metric, results[:end]))
        if told.effect is not None:
            points.append(
                Point(
                    at=results[end - 1].at,
                    n=told.n_a + told.n_b,
                    effect=told.effect,
                    low=told.low,
                    high=told.high,
                )
            )
    return tuple(points)
