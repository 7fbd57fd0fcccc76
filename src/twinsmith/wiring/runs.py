"""From settings to the records of runs."""

from twinsmith.ports import Runs
from twinsmith.settings import Settings
from twinsmith.wiring.shared import shared_url


def runs_of(settings: Settings) -> Runs:
    """Records in the configured database, else in SQLite in the data folder."""
    from twinsmith.adapters.durable.runs import RunTable

    return RunTable(shared_url(settings))
