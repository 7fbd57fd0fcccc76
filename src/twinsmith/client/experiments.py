"""Experiments of a server: two ways of working side by side."""

from twinsmith.client.shapes import NewExperiment, Said
from twinsmith.client.wire import Wire, named
from twinsmith.core.trying.experiment import Experiment
from twinsmith.core.trying.experiment_seen import Planned, Seen


class Experiments:
    """Experiments, and what people do with them."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def all(self) -> tuple[Experiment, ...]:
        """Every experiment, newest first, without the tasks of replays."""
        return self._wire.get("experiments", tuple[Experiment, ...])

    def one(self, name: str) -> Seen:
        """An experiment with all that its runs show."""
        return self._wire.get(f"experiments/{named(name)}", Seen)

    def plan(self, wanted: NewExperiment) -> Planned:
        """The runs that an experiment would need; nothing is begun."""
        return self._wire.post("experiments/plan", Planned, wanted)

    def start(self, wanted: NewExperiment) -> Planned:
        """Begin an experiment."""
        return self._wire.post("experiments", Planned, wanted)

    def do(self, name: str, deed: str, reason: str = "") -> Experiment:
        """Stop it, promote its winner, or undo that: `stop`, `promote`, `undo`."""
        place = f"experiments/{named(name)}/{named(deed)}"
        return self._wire.post(place, Experiment, Said.of(text=reason))
