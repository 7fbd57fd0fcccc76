"""The journal that the settings choose."""

from pathlib import Path

from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.journal.chained import ChainedJournal
from twinsmith.adapters.journal.files import FileJournal
from twinsmith.adapters.journal.heads import DatabaseHeads
from twinsmith.settings import Settings

SQLITE = "sqlite:///"
FILE = "journal-heads.db"


def journal_of(settings: Settings) -> ChainedJournal:
    """With SQLite files in the data folder, whose ends the database knows; else PostgreSQL."""
    clock, url = SystemClock(), settings.database_url
    if url.startswith(SQLITE):
        heads = DatabaseHeads(Path(url.removeprefix(SQLITE)).with_name(FILE))
        return FileJournal(settings.home / "journal", clock, settings.masking, heads)
    # SQLAlchemy takes a fifth of a second to import: who keeps files does not pay for it.
    from twinsmith.adapters.journal.table import TableChains

    return ChainedJournal(TableChains(url), clock, settings.masking)
