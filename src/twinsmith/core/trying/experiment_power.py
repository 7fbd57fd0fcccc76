"""How many runs an experiment will need, told before it is begun."""

from collections.abc import Sequence
from dataclasses import dataclass

from twinsmith.core.trying.experiment import COSTS, Experiment
from twinsmith.core.trying.experiment_results import Result
from twinsmith.core.trying.sequential import LEAST_RUNS, POWER, Sums, runs_needed

GUESSED_SPREAD = 0.7
"""The standard deviation of the logarithm of a cost where there is no history: a task that costs
twice the usual is common then."""
GUESSED_KINSHIP = 0.5
"""How much two runs of the same task are alike, where nobody has tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The runs that an experiment needs to see the least effect worth having."""

    least: float
    runs: int
    """All runs of both arms, after which such an effect is seen in four of five cases."""
    from_history: int
    """The builds of the past whose spread was used; 0: a guess."""
    spread: float
    """The standard deviation of one run."""
    a_day: float
    """Builds a day in the past; 0 where nobody knows."""
    power: float = POWER

    @property
    def days(self) -> float | None:
        """The days until so many runs are there; None where nobody knows."""
        return self.runs / self.a_day if self.a_day else None


def power_of(experiment: Experiment, history: Sequence[Result], *, a_day: float = 0.0) -> Power:
    """The runs that an experiment needs, from the spread of builds of the past."""
    values = [each.value(experiment.metric) for each in history]
    known = Sums.of(value for value in values if value is not None)
    enough = known.n >= LEAST_RUNS
    if enough:
        # Two imagined ones beside them: where all were solved, the next may not be.
        variance = (known if experiment.metric in COSTS else known.plus(0.0).plus(1.0)).variance
    else:
        variance = GUESSED_SPREAD**2 if experiment.metric in COSTS else 0.25
    variance = max(variance, 1e-4)
    if experiment.mode == "replay":
        of_pairs = 2 * variance * (1 - GUESSED_KINSHIP)
        runs = 2 * runs_needed(variance=of_pairs, least=experiment.scale, share=1.0)
    else:
        runs = runs_needed(variance=variance, least=experiment.scale, share=experiment.share)
    return Power(
        least=experiment.least,
        runs=runs,
        from_history=known.n if enough else 0,
        spread=variance**0.5,
        a_day=a_day,
    )


def in_words(power: Power, experiment: Experiment) -> tuple[str, ...]:
    """The power of an experiment as lines for a person."""
    effect = (
        f"b costs {100 * power.least:g} % fewer {experiment.metric}"
        if experiment.metric in COSTS
        else f"b is {100 * power.least:g} points more often {experiment.metric}"
    )
    source = (
        f"the spread of {power.from_history} earlier builds"
        if power.from_history
        else f"a guessed spread of {power.spread:.2g}: there are too few earlier builds"
    )
    first = (
        f"power: if {effect}, about {power.runs:,} runs show it in {100 * power.power:g} of 100 "
        f"cases (from {source})"
    )
    if experiment.mode == "replay":
        given = 2 * len(experiment.tasks)
        short = "; a smaller effect may stay unseen" if given < power.runs else ""
        return (first, f"{len(experiment.tasks)} tasks are {given} runs{short}")
    if power.days is None:
        return (first,)
    return (first, f"at {power.a_day:.3g} builds a day that takes about {power.days:,.0f} days")
