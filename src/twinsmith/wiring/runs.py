"""From settings to the records of runs."""

from twinsmith.ports import Runs
from twinsmith.settings import Settings


def runs_of(settings: Settings) -> Runs:
    """Records in the configured database, else in SQLite in the data folder."""
    from twinsmith.adapters.durable.runs import RunTable

    return RunTable(settings.shared_url)
