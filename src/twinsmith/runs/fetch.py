"""The result of a run brought to this machine, wherever it was built."""

from pathlib import Path

from twinsmith.adapters.outbox.folder import FolderOutbox
from twinsmith.core.errors import ConfigError
from twinsmith.runs.book import Book
from twinsmith.wiring.outbox import kept_result


async def fetch(book: Book, run: str, out: Path | None) -> Path:
    """Put the files of a run in a folder here; ConfigError where there is nothing to fetch."""
    files = kept_result(book.settings, run)
    if files is None:
        progress = book.progress(run)
        where = f"it lies in {progress.out}" if Path(progress.out).is_dir() else progress.state
        raise ConfigError(f"run {run} has no result in the database ({where}); see: status {run}")
    folder = (out or book.folder(run) / "result").expanduser().absolute()
    await FolderOutbox().publish(run, str(folder), files)
    return folder
