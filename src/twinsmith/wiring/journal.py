"""The journal that the settings choose."""

import platform
from pathlib import Path

from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.journal.files import FileJournal
from twinsmith.adapters.journal.heads import Heads, postgres_heads, sqlite_heads
from twinsmith.settings import Settings

SQLITE = "sqlite:///"
FILE = "journal-heads.db"


def journal_of(settings: Settings) -> FileJournal:
    """Files in the data folder; where they end is kept in the database."""
    folder = settings.home / "journal"
    return FileJournal(folder, SystemClock(), settings.masking, _heads(settings, folder))


def _heads(settings: Settings, folder: Path) -> Heads:
    url = settings.database_url
    if url.startswith(SQLITE):
        return sqlite_heads(Path(url.removeprefix(SQLITE)).with_name(FILE))
    return postgres_heads(url, f"{platform.node()}:{folder}")
