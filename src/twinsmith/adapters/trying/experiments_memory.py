"""Experiments and their runs in dictionaries: the fakes."""

from collections.abc import Sequence
from dataclasses import replace

from twinsmith.core.trying.experiment import Assigned, Experiment
from twinsmith.core.trying.experiment_results import Result, Trial
from twinsmith.ports.experiments import Clash


class MemoryExperiments:
    """The experiments of one process."""

    def __init__(self) -> None:
        self._known: dict[str, Experiment] = {}

    def begin(self, experiment: Experiment, clash: Clash) -> str:
        """Keep a new one; else why that cannot be."""
        why_not = refusal(experiment, self.listed(), clash)
        if not why_not:
            self._known[experiment.name] = experiment
        return why_not

    def change(self, experiment: Experiment) -> bool:
        """Keep a change of what was read; False where somebody was faster."""
        known = self._known.get(experiment.name)
        if known is None or known.revision != experiment.revision:
            return False
        self._known[experiment.name] = replace(experiment, revision=experiment.revision + 1)
        return True

    def get(self, name: str) -> Experiment | None:
        """The experiment of that name."""
        return self._known.get(name)

    def listed(self) -> tuple[Experiment, ...]:
        """Every experiment, oldest first."""
        return tuple(sorted(self._known.values(), key=lambda each: (each.begun, each.name)))


class MemoryTrials:
    """The runs of the experiments of one process."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Trial] = {}

    def assign(self, assigned: Assigned) -> None:
        """Keep that a run is in an arm; twice is once."""
        self._known.setdefault((assigned.experiment, assigned.run), Trial(assigned=assigned))

    def settle(self, experiment: str, result: Result) -> None:
        """Keep what became of a run."""
        known = self._known.get((experiment, result.run))
        if known is not None:
            self._known[(experiment, result.run)] = replace(known, result=result)

    def listed(self, experiment: str) -> tuple[Trial, ...]:
        """Every run of an experiment, in the order of their names."""
        mine = (each for (name, _), each in self._known.items() if name == experiment)
        return tuple(sorted(mine, key=lambda each: each.assigned.run))


def refusal(experiment: Experiment, known: Sequence[Experiment], clash: Clash) -> str:
    """Why an experiment cannot be begun; empty where it can."""
    if any(each.name == experiment.name for each in known):
        return (
            f"experiment {experiment.name!r} is there already; give another name, or see it with: "
            f"twinsmith experiment show {experiment.name}"
        )
    return clash(experiment, [each for each in known if each.state == "running"])
