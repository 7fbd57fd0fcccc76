"""An experiment as people see it: what is tried, what was found, how sure that is."""

from dataclasses import dataclass

from twinsmith.core.trying.experiment import COSTS, Arm, Experiment
from twinsmith.core.trying.experiment_power import Power
from twinsmith.core.trying.experiment_verdict import Estimate, Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An experiment and the runs that it needs."""

    experiment: Experiment
    power: Power


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An experiment with all that its runs show."""

    experiment: Experiment
    judgement: Judgement
    power: Power
    runs_a: int
    open_a: int
    """Runs of a that have not ended."""
    runs_b: int
    open_b: int


def described(experiment: Experiment, arm: Arm) -> str:
    """How runs of an arm are worked on, in words."""
    return " ".join(experiment.arrangement(arm).words) or "as it is now"


def reading(estimate: Estimate, value: float | None) -> str:
    """The rate or the cost of an arm as a person reads it."""
    if value is None:
        return "-"
    if estimate.metric not in COSTS:
        return f"{100 * value:.1f} %"
    return f"{value:,.0f} tokens" if estimate.metric == "tokens" else f"{value:,.4g}"


def comparison(estimate: Estimate, value: float | None) -> str:
    """A difference or a ratio as a person reads it."""
    if value is None:
        return "-"
    return f"{value:.3f}" if estimate.is_ratio else f"{100 * value:+.1f}"
