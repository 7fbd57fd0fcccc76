"""The hashes of model files: each is read once, and again only where its size or time changed."""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

NAME = ".hashes.json"


class FileHashes:
    """The SHA-256 of files below one folder, remembered in it; anew where it cannot be written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, path: Path) -> str:
        """The hash of a file as hexadecimal digits."""
        state = path.stat()
        mark = f"{state.st_size} {state.st_mtime_ns}"
        key = os.path.relpath(path, self._folder)
        known = self._remembered()
        if known.get(key, ("", ""))[0] == mark:
            return known[key][1]
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        # Read again: somebody else may have hashed another file meanwhile.
        self._keep({**self._remembered(), key: (mark, digest)})
        return digest

    def _remembered(self) -> dict[str, tuple[str, str]]:
        try:
            raw = json.loads((self._folder / NAME).read_text(encoding="utf-8"))
            return {str(key): (str(mark), str(digest)) for key, (mark, digest) in raw.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _keep(self, known: dict[str, tuple[str, str]]) -> None:
        beside = self._folder / f"{NAME}.{os.getpid()}"
        with suppress(OSError):
            beside.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")
            beside.replace(self._folder / NAME)
