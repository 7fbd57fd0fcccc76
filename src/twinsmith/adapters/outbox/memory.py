"""Results in a dictionary, for tests and dry runs."""

from collections.abc import Mapping

from twinsmith.core.errors import ConfigError


class MemoryOutbox:
    """Publishes to `folders`."""

    def __init__(self) -> None:
        self.folders: dict[str, dict[str, str]] = {}
        self._owners: dict[str, str] = {}

    async def publish(self, run: str, out: str, files: Mapping[str, str]) -> None:
        """Put all files in the folder."""
        owner = self._owners.setdefault(out, run)
        if owner != run:
            raise ConfigError(f"--out {out} is not empty; name a new folder")
        self.folders.setdefault(out, dict(files))
