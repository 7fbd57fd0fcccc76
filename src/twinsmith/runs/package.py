"""A result of a run, or a folder like one, made ready for people who deploy by themselves."""

from pathlib import Path

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.operating.source import Source, source_in
from twinsmith.flow.deliver.package import packaged
from twinsmith.runs.book import Book
from twinsmith.wiring.outbox import kept_result
from twinsmith.wiring.packaging import inventory, pinned

MOST_FILES = 200
LARGEST_FILE = 4 << 20


async def package(book: Book, what: str, out: Path | None) -> tuple[Source, Path]:
    """Put the folder of a package in place; ConfigError where there is nothing to package."""
    from twinsmith.adapters.outbox.folder import put_folder

    files, where = result_in(book, what)
    source = source_in(files, where)
    made = packaged(source, pinned(), inventory())
    folder = (out or Path(f"twinsmith-{source.digest[:12]}")).expanduser().absolute()
    put_folder(folder, made)
    told: dict[str, Json] = {"run": source.run, "source": source.digest, "out": str(folder)}
    await book.tell(SYSTEM, "program.packaged", told)
    return source, folder


def result_in(book: Book, what: str) -> tuple[dict[str, str], str]:
    """The files of a run's result or of a folder, and where they lie."""
    folder = Path(what).expanduser()
    if folder.is_dir():
        return files_of(folder), str(folder)
    run = book.find(what)
    place = Path(book.progress(run).out)
    if place.is_dir():
        return files_of(place), str(place)
    kept = kept_result(book.settings, run)
    if kept is None:
        raise ConfigError(f"run {run} has no result here ({place}); see: twinsmith status {run}")
    return kept, f"run {run}"


def files_of(folder: Path) -> dict[str, str]:
    """The text files of a folder; links that lead out of it are not followed."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or path.is_symlink() or not path.is_file():
            continue
        if path.stat().st_size > LARGEST_FILE or len(found) == MOST_FILES:
            raise ConfigError(
                f"{folder} is no result of a run: {path.name} is too large, or there are more than "
                f"{MOST_FILES} files; name the folder of a result"
            )
        try:
            found[str(path.relative_to(folder))] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    return found
