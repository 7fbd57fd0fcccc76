"""All that a store keeps in one portable file, out and in again.

A ZIP whose members are stored as they are: reading them never gives more than the file has. The
manifest has their sizes and hashes. Names in the ZIP are looked up, never used as paths.
"""

import hashlib
import io
import json
import os
import struct
import uuid
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from twinsmith.adapters.knowledge.segments import sync
from twinsmith.adapters.knowledge.store import (
    BATCH,
    Content,
    KeptDocument,
    KeptEmbedder,
    KeptPassage,
    Numbers,
    Vectors,
    Whole,
    checked,
    cleaned,
)
from twinsmith.core.errors import ConfigError

Kept = TypeVar("Kept", KeptDocument, KeptPassage)
Progress = Callable[[int, int], None]
"""How many rows are done, of how many."""

FORMAT = 1
KIND = "twinsmith knowledge"
MANIFEST, DOCUMENTS, PASSAGES = "manifest.json", "documents.jsonl", "passages.jsonl"
LARGEST_MANIFEST = 1 << 20
LONGEST_LINE = 64 << 20
"""Of a document or passage: it has to be held in memory as a whole."""
MOST = 1 << 62
"""Of any number, so that others can follow."""
MOST_DIMENSIONS = 1 << 16
_CHUNK = 1 << 20


class Unusable(ValueError):
    """What a snapshot is refused for; goes on after "snapshot FILE"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A part of the file: so long, with this SHA-256."""

    size: int
    sha256: str


def write_snapshot(store: Whole, file: Path, progress: Progress) -> None:
    """All that the store keeps at this moment; the file is there as a whole or not at all."""
    aside = file.with_name(f".{file.name}.{uuid.uuid4().hex}.part")
    try:
        with aside.open("xb") as raw:
            aside.chmod(0o600)
            with store.content() as content, zipfile.ZipFile(raw, "w") as archive:
                _write(archive, content, _Counted(content, progress))
            raw.flush()
            os.fsync(raw.fileno())
        aside.rename(file)
        sync(file.parent)
    except OSError as error:
        raise ConfigError(
            f"snapshot {file} cannot be written: {error.strerror}; make room or name another place"
        ) from error
    finally:
        aside.unlink(missing_ok=True)


def read_snapshot(file: Path, store: Whole, progress: Progress) -> None:
    """Put what a snapshot holds in the place of all that the store keeps, or change nothing."""
    if not file.is_file():
        raise ConfigError(f"snapshot {file} is not a file; name one that was written before")
    try:
        # Opened here: a part that was not read to its end would keep it open.
        with file.open("rb") as raw, zipfile.ZipFile(raw) as archive:
            content = _SnapshotContent(archive, progress)
            content.verify()
            store.replace(content)
    except OSError as error:
        why = error.strerror or error
        raise ConfigError(f"snapshot {file} cannot be read ({why}); nothing was changed") from error
    except Unusable as refused:
        raise ConfigError(f"snapshot {file} {refused}; nothing was changed") from refused
    except (ValueError, RuntimeError, EOFError, zipfile.BadZipFile, struct.error) as error:
        why = " ".join(str(error).split())[:200]
        raise ConfigError(f"snapshot {file} is damaged ({why}); nothing was changed") from error


class _Counted:
    """Tells how far a content was read."""

    def __init__(self, content: Content, progress: Progress) -> None:
        self._progress = progress
        self._total = sum(content.counts) + sum(e.vectors for e in content.embedders)
        self._done = 0

    def rows(self, rows: Iterable[Kept]) -> Iterator[Kept]:
        for row in rows:
            yield row
            self.add(1)

    def add(self, count: int) -> None:
        before, self._done = self._done, self._done + count
        if before // BATCH != self._done // BATCH or self._done == self._total:
            self._progress(self._done, self._total)


def _write(archive: zipfile.ZipFile, content: Content, counted: _Counted) -> None:
    members = {
        DOCUMENTS: _store(archive, DOCUMENTS, map(_line, counted.rows(content.documents()))),
        PASSAGES: _store(archive, PASSAGES, map(_line, counted.rows(content.passages()))),
    }
    for at, embedder in enumerate(content.embedders):
        # Only one member can be written at a time; eight bytes a passage may wait in memory.
        numbers: list[bytes] = []
        values = _vectors(content, embedder.id, numbers, counted)
        members[_values(at)] = _store(archive, _values(at), values)
        members[_numbers(at)] = _store(archive, _numbers(at), numbers)
    manifest = {
        "kind": KIND,
        "format": FORMAT,
        "generation": content.generation,
        "newest": content.newest,
        "documents": content.counts[0],
        "passages": content.counts[1],
        "embedders": [embedder._asdict() for embedder in content.embedders],
        "members": {name: {"size": m.size, "sha256": m.sha256} for name, m in members.items()},
    }
    _store(archive, MANIFEST, [json.dumps(manifest, indent=1).encode()])


def _vectors(
    content: Content, embedder: str, numbers: list[bytes], counted: _Counted
) -> Iterator[bytes]:
    for some, vectors in content.vectors(embedder):
        numbers.append(some.astype("<i8").tobytes())
        yield vectors.tobytes()
        counted.add(len(some))


def _store(archive: zipfile.ZipFile, name: str, parts: Iterable[bytes]) -> Member:
    digest, size = hashlib.sha256(), 0
    with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as out:
        for part in parts:
            out.write(part)
            digest.update(part)
            size += len(part)
    return Member(size=size, sha256=digest.hexdigest())


def _line(row: KeptDocument | KeptPassage) -> bytes:
    return json.dumps(row._asdict(), ensure_ascii=False).encode() + b"\n"


class _SnapshotContent:
    """What a snapshot holds; nothing of it is believed before it was looked at."""

    def __init__(self, archive: zipfile.ZipFile, progress: Progress) -> None:
        self._archive = archive
        manifest = _manifest(archive)
        self.generation = _whole(manifest, "generation")
        self.newest = _whole(manifest, "newest")
        self.counts = (_whole(manifest, "documents"), _whole(manifest, "passages"))
        self.embedders = tuple(_embedder(raw) for raw in _typed(manifest, "embedders", list))
        members = _typed(manifest, "members", dict)
        self._members = {
            str(name): Member(size=_whole(raw, "size"), sha256=_typed(raw, "sha256", str))
            for name, raw in members.items()
        }
        self._counted = _Counted(self, progress)

    def verify(self) -> None:
        """See that all is there that the manifest names, nothing else, and bit by bit the same."""
        sizes = dict.fromkeys((DOCUMENTS, PASSAGES), -1)
        for at, embedder in enumerate(self.embedders):
            sizes[_numbers(at)] = 8 * embedder.vectors
            sizes[_values(at)] = 4 * embedder.dimensions * embedder.vectors
        found = {info.filename: info for info in self._archive.infolist()}
        if self._members.keys() != sizes.keys() or found.keys() != {MANIFEST, *sizes}:
            raise Unusable("has other parts than its manifest should name")
        for name, member in self._members.items():
            info = found[name]
            stored = info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1
            same = info.file_size == info.compress_size == member.size
            if not stored or not same or sizes[name] not in (-1, member.size):
                raise Unusable(f"has a part {name!r} of another size or kind than it should")
            self._verify_bytes(name, member)

    def documents(self) -> Iterator[KeptDocument]:
        """One after the other."""
        return self._rows(KeptDocument, DOCUMENTS, self.counts[0], self.generation)

    def passages(self) -> Iterator[KeptPassage]:
        """One after the other."""
        return self._rows(KeptPassage, PASSAGES, self.counts[1], self.newest)

    def vectors(self, embedder: str) -> Iterator[tuple[Numbers, Vectors]]:
        """Batch by batch."""
        names = [known.id for known in self.embedders]
        at = names.index(embedder)
        wide, left, last = self.embedders[at].dimensions, self.embedders[at].vectors, 0
        most = max(1, _CHUNK // (4 * wide))
        with self._open(_numbers(at)) as some, self._open(_values(at)) as values:
            while left:
                count = min(most, left)
                numbers = np.frombuffer(some.read(8 * count), dtype="<i8").astype(np.int64)
                read = np.frombuffer(values.read(4 * wide * count), dtype="<f4")
                vectors = checked(count, "passages", read.reshape(-1, wide))
                if len(numbers) != count or (np.diff(numbers, prepend=last) <= 0).any():
                    raise Unusable("has vectors that are out of order")
                yield numbers, vectors
                self._counted.add(count)
                left, last = left - count, int(numbers[-1])

    def _rows(self, kind: type[Kept], name: str, count: int, most: int) -> Iterator[Kept]:
        last = found = 0
        with io.BufferedReader(self._open(name), _CHUNK) as lines:  # type: ignore[type-var]
            while line := lines.readline(LONGEST_LINE):
                row = _row(kind, line)
                if not last < row.number <= most:
                    raise Unusable(f"has {name!r} with numbers that are out of order")
                yield row
                self._counted.add(1)
                last, found = row.number, found + 1
        if found != count:
            raise Unusable(f"has {found} rows in {name!r} instead of {count}")

    def _verify_bytes(self, name: str, member: Member) -> None:
        digest = hashlib.sha256()
        with self._open(name) as part:
            while chunk := part.read(_CHUNK):
                digest.update(chunk)
        if digest.hexdigest() != member.sha256:
            raise Unusable(f"is damaged: {name!r} has another SHA-256 than when it was written")

    def _open(self, name: str) -> IO[bytes]:
        return self._archive.open(name)


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    found = archive.NameToInfo.get(MANIFEST)
    if found is None or found.file_size > LARGEST_MANIFEST:
        raise Unusable("is not a snapshot of knowledge")
    with archive.open(found) as part:
        manifest = json.loads(part.read(LARGEST_MANIFEST))
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise Unusable("is not a snapshot of knowledge")
    if manifest.get("format") != FORMAT:
        raise Unusable(
            f"has format {str(manifest.get('format'))[:20]}, this version reads {FORMAT}: "
            "use the version that wrote it"
        )
    return manifest


def _embedder(raw: object) -> KeptEmbedder:
    dimensions = _whole(raw, "dimensions")
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise Unusable(f"has vectors of {dimensions} dimensions")
    name = cleaned(_typed(raw, "id", str))
    return KeptEmbedder(id=name, dimensions=dimensions, vectors=_whole(raw, "vectors"))


def _row(kind: type[Kept], line: bytes) -> Kept:
    raw = json.loads(line)
    values: dict[str, Any] = {
        name: _whole(raw, name) if wanted is int else cleaned(_typed(raw, name, str))
        for name, wanted in kind.__annotations__.items()
    }
    return kind(**values)


Typed = TypeVar("Typed", str, list[Any], dict[str, Any])


def _typed(raw: object, name: str, wanted: type[Typed]) -> Typed:
    value = raw.get(name) if isinstance(raw, dict) else None
    if not isinstance(value, wanted):
        raise Unusable(f"is damaged: {name!r} is missing or of another kind")
    return value


def _whole(raw: object, name: str) -> int:
    value = raw.get(name) if isinstance(raw, dict) else None
    if type(value) is not int or not 0 <= value <= MOST:
        raise Unusable(f"is damaged: {name!r} is missing or no number that can be")
    return value


def _numbers(at: int) -> str:
    return f"vectors-{at}.numbers"


def _values(at: int) -> str:
    return f"vectors-{at}.values"
