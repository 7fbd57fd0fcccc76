"""Secrets of apps in files that only their owner may read, one an app."""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from twinsmith.core.errors import ConfigError, HostError

KEY = "SECRET_KEY"


class SecretFolder:
    """Secrets in one folder; they are never journalled, logged or put into an image."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, app: str) -> Mapping[str, str]:
        """The secrets of an app; its own key is made once and outlives its releases."""
        known = self._read(app)
        if KEY not in known:
            known[KEY] = secrets.token_hex(32)
            self._write(app, known)
        return known

    def put(self, app: str, secrets: Mapping[str, str]) -> None:
        """Keep secrets of an app beside those that it has."""
        self._write(app, {**self._read(app), **secrets})

    def remove(self, app: str) -> None:
        """Forget all secrets of an app."""
        self._path(app).unlink(missing_ok=True)

    def _path(self, app: str) -> Path:
        return self._folder / f"{app}.json"

    def _read(self, app: str) -> dict[str, str]:
        try:
            given = json.loads(self._path(app).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the secrets of {app} in {self._path(app)} cannot be read "
                f"({type(error).__name__}); mend or remove the file"
            ) from None
        return {str(name): str(value) for name, value in given.items()}

    def _write(self, app: str, known: Mapping[str, str]) -> None:
        aside = self._folder / f".{app}.{secrets.token_hex(4)}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "w", encoding="utf-8") as written:
                json.dump(dict(known), written)
                written.flush()
                os.fsync(file)
            aside.replace(self._path(app))
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise HostError(
                f"the secrets of {app} cannot be kept in {self._folder}: {error.strerror}; "
                "make room, or let this user write there"
            ) from None
