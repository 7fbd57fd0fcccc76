"""From settings to what analysis needs: the lines of the journal, and room to add them up."""

from functools import partial
from typing import TYPE_CHECKING

from twinsmith.settings import Settings
from twinsmith.wiring.journal import SQLITE

if TYPE_CHECKING:
    from twinsmith.analysis.facts import Facts
    from twinsmith.core.blocks import Blocks


def blocks_of(settings: Settings) -> "Blocks":
    """The lines of the journal that the settings choose, from wherever they were read before."""
    url = settings.database_url
    if url.startswith(SQLITE):
        from twinsmith.adapters.journal.file_blocks import file_blocks

        return partial(file_blocks, settings.home / "journal")
    from twinsmith.adapters.journal.table_blocks import TableBlocks

    return TableBlocks(url).since


def facts_of() -> "Facts":
    """Facts about nothing yet."""
    from twinsmith.analysis.facts import Facts

    return Facts()
