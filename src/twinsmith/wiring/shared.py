"""From settings to the database that all processes share for runs, questions and results."""

from twinsmith.settings import Settings


def shared_url(settings: Settings) -> str:
    """The configured database, else SQLite in the data folder."""
    return settings.values.database.url or f"sqlite:///{settings.home / 'runs.db'}"
