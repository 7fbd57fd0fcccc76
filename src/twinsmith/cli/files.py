"""Reading text files that a person names, with one clear line where that fails."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinsmith.core.program import SourceFile

LARGEST_FILE = 4 << 20


def text_of(path: Path, *, option: str = "") -> str:
    """The text of a file that an option names; ConfigError says why it cannot be read."""
    from twinsmith.core.errors import ConfigError

    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(f"{option}{path} is too large; at most {LARGEST_FILE >> 20} MB")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{option}{path} cannot be read: {error.strerror}; name another file"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{option}{path} is not UTF-8 text; name another file") from None


def files_in(folder: Path, names: Iterable[str]) -> "tuple[SourceFile, ...]":
    """The files of a program beside its main one; names that lead elsewhere are not read."""
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.program import SourceFile

    files = []
    for name in names:
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ConfigError(f"{path} lies outside of {folder}; name a file in that folder")
        files.append(SourceFile(name=name, text=text_of(path)))
    return tuple(files)
