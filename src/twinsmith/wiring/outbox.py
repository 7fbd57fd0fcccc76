"""From settings to where results are put."""

from twinsmith.adapters.outbox.folder import FolderOutbox
from twinsmith.ports import Outbox
from twinsmith.settings import Settings
from twinsmith.wiring.shared import shared_url


def outbox_of(settings: Settings, *, here: bool) -> Outbox:
    """A folder of this machine; with a database of several machines, that as well.

    Only that where the folder is another machine's: whoever submitted the run fetches the result.
    """
    if not settings.values.database.url:
        return FolderOutbox()
    from twinsmith.adapters.outbox.shared import ResultTable, SharedOutbox

    return SharedOutbox(FolderOutbox() if here else None, ResultTable(shared_url(settings)))


def kept_result(settings: Settings, run: str) -> dict[str, str] | None:
    """The files of a run in the database of several machines; None where there are none."""
    if not settings.values.database.url:
        return None
    from twinsmith.adapters.outbox.shared import ResultTable

    return ResultTable(shared_url(settings)).get(run)
