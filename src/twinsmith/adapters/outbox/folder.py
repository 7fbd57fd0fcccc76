"""Results in a folder: written aside, made durable, moved into place in one step.

The name of what is written aside follows from the run, so that whoever goes on with a run that was
killed in between, or cancels it, finds and removes it.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from twinsmith.core.errors import ConfigError

REPORT = "report.json"


class FolderOutbox:
    """Publishes to folders on this machine."""

    async def publish(self, run: str, out: str, files: Mapping[str, str]) -> None:
        """Put all files in the folder, or none."""
        target = Path(out)
        discard(run, out)
        try:
            if published_by(target) != run:
                check_folder(target)
                _put(_aside(run, target), target, files)
            # Also where it lies there already: who moved it may not have lived to do this.
            _sync(target.parent)
        except OSError as error:
            raise ConfigError(
                f"the result cannot be written to {out}: {error.strerror}; "
                f"make room or mend the folder, then: twinsmith resume {run}"
            ) from error


def put_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Put files in a new or empty folder, all or none; ConfigError says why that cannot be."""
    check_folder(folder)
    try:
        _put(_aside(f"{folder.name}-{os.getpid()}", folder), folder, files)
        _sync(folder.parent)
    except OSError as error:
        raise ConfigError(
            f"--out {folder} cannot be written: {error.strerror}; name another folder"
        ) from error


def discard(run: str, out: str) -> None:
    """Remove what a run that was killed while it published left beside its folder."""
    shutil.rmtree(_aside(run, Path(out)), ignore_errors=True)


def published_by(folder: Path) -> str:
    """The run whose result lies in this folder, or nothing."""
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(report.get("run", "")) if isinstance(report, dict) else ""


def check_folder(folder: Path) -> None:
    """Refuse, in one line, a folder that a result could not be put in."""
    try:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"--out {folder} is not a folder; name a new one")
        if folder.is_dir() and any(folder.iterdir()):
            raise ConfigError(f"--out {folder} is not empty; name a new folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder.parent):
            pass
    except OSError as error:
        raise ConfigError(
            f"--out {folder} cannot be written: {error.strerror}; name another folder"
        ) from None


def _aside(run: str, target: Path) -> Path:
    return target.parent / f".twinsmith-{run}"


def _put(aside: Path, target: Path, files: Mapping[str, str]) -> None:
    aside.mkdir(mode=0o700)
    try:
        _write(aside, files)
        # Renaming over an empty folder replaces it; over a full one it fails.
        aside.rename(target)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.chmod(0o755)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    for path in [p for p in folder.rglob("*") if p.is_dir()] + [folder]:
        _sync(path)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
