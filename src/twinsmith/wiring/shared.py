"""From settings to the database that all processes share for runs, questions and results."""

from twinsmith.settings import Settings


def shared_url(settings: Settings) -> str:
    """The configured database, else SQLite in the data folder."""
    return settings.values.database.url or f"sqlite:///{settings.home / 'runs.db'}"


def telemetry_url(settings: Settings) -> str:
    """The configured database, else an SQLite file of its own.

    Every process writes to it once a second. A process that is suspended in the middle of that
    holds the file's lock for as long: in here it holds up no run, and no override.
    """
    return settings.values.database.url or f"sqlite:///{settings.home / 'telemetry.db'}"
