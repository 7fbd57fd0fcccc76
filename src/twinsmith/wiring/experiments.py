"""Where experiments and their runs are kept: in the database that all share."""

from typing import TYPE_CHECKING

from twinsmith.settings import Settings
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from twinsmith.ports import Experiments, Trials


def experiments_of(settings: Settings) -> "Experiments":
    """All experiments."""
    from twinsmith.adapters.trying.experiments import ExperimentTable

    return ExperimentTable(shared_url(settings))


def trials_of(settings: Settings) -> "Trials":
    """The runs of all experiments."""
    from twinsmith.adapters.trying.experiments import TrialTable

    return TrialTable(shared_url(settings))
