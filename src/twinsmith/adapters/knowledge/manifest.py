"""Which segments an index consists of: one file that is switched as a whole."""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from twinsmith.adapters.knowledge.segments import Damaged, Segment, sync
from twinsmith.core.errors import EngineError

FORMAT = 2
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose vectors the segments hold."""

    lineage: str
    """Of the store; with another one, some of its vectors may be missing."""
    embedder: str
    dimensions: int


def read(folder: Path) -> bytes:
    """The manifest as it is; nothing where there is none."""
    try:
        return (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise EngineError(f"index {folder} cannot be read: {error.strerror}") from error


def named(manifest: bytes, owner: Owner, newest: int) -> tuple[Segment, ...]:
    """The segments it names, in order; Damaged when they cannot be this owner's."""
    if not manifest:
        return ()
    try:
        raw = json.loads(manifest)
        body = raw["body"]
        if raw["sha256"] != _digest(body):
            raise Damaged("has a manifest with another SHA-256 than when it was written")
        if body["format"] != FORMAT:
            raise Damaged(f"has format {body['format']}, this version reads {FORMAT}")
        segments = tuple(Segment(**entry) for entry in body["segments"])
        found = Owner(**body["owner"])
    except (ValueError, TypeError, KeyError) as error:
        raise Damaged("has a manifest that cannot be read") from error
    if (found.embedder, found.dimensions) != (owner.embedder, owner.dimensions):
        raise Damaged(f"is of embedder {found.embedder!r}, not {owner.embedder!r}")
    if found.lineage != owner.lineage:
        raise Damaged("is of another store, or of before old passages were embedded")
    if segments and segments[-1].upto > newest:
        raise Damaged("is newer than the store")
    return segments


def switch(folder: Path, owner: Owner, segments: Sequence[Segment]) -> None:
    """From here on these are the segments: after a crash, either all of them or none."""
    body = {
        "format": FORMAT,
        "owner": asdict(owner),
        "segments": [asdict(segment) for segment in segments],
    }
    aside = folder / f"{MANIFEST}.part"
    with aside.open("w", encoding="utf-8") as file:
        json.dump({"sha256": _digest(body), "body": body}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    aside.rename(folder / MANIFEST)
    sync(folder)


def _digest(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
