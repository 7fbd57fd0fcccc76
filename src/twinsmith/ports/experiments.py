"""What has to last of experiments: themselves, which runs are in which arm, what became of them."""

from collections.abc import Callable, Sequence
from typing import Protocol

from twinsmith.core.trying.experiment import Assigned, Experiment
from twinsmith.core.trying.experiment_results import Result, Trial

Clash = Callable[[Experiment, Sequence[Experiment]], str]
"""Why an experiment cannot run beside those that run; empty where it can."""


class Experiments(Protocol):
    """Keeps experiments."""

    def begin(self, experiment: Experiment, clash: Clash) -> str:
        """Keep a new one; else why that cannot be, as seen by all processes alike."""
        ...

    def change(self, experiment: Experiment) -> bool:
        """Keep a change of what was read, with the next revision; False where somebody was faster.

        The state, the verdict and all that belongs to them are one change.
        """
        ...

    def get(self, name: str) -> Experiment | None:
        """The experiment of that name."""
        ...

    def listed(self) -> tuple[Experiment, ...]:
        """Every experiment, oldest first."""
        ...


class Trials(Protocol):
    """Keeps which runs are in which arm, and what became of them."""

    def assign(self, assigned: Assigned) -> None:
        """Keep that a run is in an arm; twice is once."""
        ...

    def settle(self, experiment: str, result: Result) -> None:
        """Keep what became of a run, as its journal tells it."""
        ...

    def listed(self, experiment: str) -> tuple[Trial, ...]:
        """Every run of an experiment, in the order of their names."""
        ...
