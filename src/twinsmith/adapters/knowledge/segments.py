"""A segment: one immutable FAISS file of vectors; how it is built, checked, opened and searched."""

import hashlib
import math
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Literal, assert_never

import numpy as np

from twinsmith.adapters.knowledge.store import Numbers, Vectors

Kind = Literal["flat", "hnsw", "ivf"]
Batches = Callable[[], Iterable[tuple[Numbers, Vectors]]]

_EF_CONSTRUCTION, _EF_SEARCH = 80, 64
_TRAINED_ON = 100
"""Vectors for each list of an IVF index: more hardly moves the lists and costs memory."""
_REFINED = 20
"""Candidates that are scored again with 8 bits a dimension, for each answer wanted."""
_MARK = "user.twinsmith.whole"
_TRUSTED_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """From how many vectors on something else pays."""

    hnsw_from: int = 20_000
    ivf_from: int = 500_000
    fresh: int = 5_000
    """So many outside of segments are compared one by one before merging is due."""
    memory: int = 50_000
    """More than so many are never held outside of segments: they are merged at once."""


LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A file with all vectors that had numbers in (after, upto] at a generation of the store."""

    name: str
    kind: Kind
    count: int
    after: int
    upto: int
    generation: int
    size: int
    sha256: str


class Damaged(Exception):
    """A segment that must not be served."""


def kind_for(count: int, limits: Limits = LIMITS) -> Kind:
    """What to build for so many vectors."""
    if count < limits.hnsw_from:
        return "flat"
    return "hnsw" if count < limits.ivf_from else "ivf"


def lists_for(count: int) -> int:
    """How many lists an IVF index has: a power of two near the square root."""
    wanted = 1 << round(math.log2(max(1, count)) / 2)
    # FAISS wants 39 vectors for each list that it learns.
    return max(1, min(wanted, count // 39))


def recipe(kind: Kind, count: int) -> str:
    """What FAISS calls it."""
    match kind:
        case "flat":
            return "Flat"
        case "hnsw":
            return "HNSW32"
        case "ivf":
            return f"IVF{lists_for(count)},RaBitQfs,Refine(SQ8)"
        case _:
            assert_never(kind)


def write(folder: Path, kind: Kind, expected: int, dimensions: int, batches: Batches) -> Segment:
    """Build a segment aside, make it durable, move it into place; its range is the caller's."""
    import faiss

    with threads(len(os.sched_getaffinity(0))):
        index = faiss.index_factory(dimensions, recipe(kind, expected), faiss.METRIC_INNER_PRODUCT)
        if kind == "hnsw":
            index.hnsw.efConstruction = _EF_CONSTRUCTION
        if kind == "ivf":
            index.train(_sample(batches(), max(1, expected // (_TRAINED_ON * lists_for(expected)))))
        numbered = faiss.IndexIDMap(index)
        for numbers, vectors in batches():
            numbered.add_with_ids(vectors, numbers)
    name = f"{uuid.uuid4().hex}.faiss"
    aside = folder / f"{name}.part"
    try:
        faiss.write_index(numbered, str(aside))
        aside.chmod(0o600)
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
        aside.rename(folder / name)
    except BaseException:
        # On a full disk the half-written file would take the room that others need.
        aside.unlink(missing_ok=True)
        raise
    sync(folder)
    return Segment(
        name=name,
        kind=kind,
        count=int(numbered.ntotal),
        after=0,
        upto=0,
        generation=0,
        size=size,
        sha256=sha256,
    )


def load(folder: Path, segment: Segment, dimensions: int) -> Any:  # noqa: ANN401
    """Map a segment into memory, after making sure that it is whole."""
    import faiss

    path = folder / segment.name
    try:
        with path.open("rb") as file:
            _check(file, segment)
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_READ_ONLY)
    except OSError as error:
        raise Damaged(f"cannot be read: {error.strerror}") from error
    except RuntimeError as error:
        raise Damaged(f"cannot be read: {' '.join(str(error).split())[:200]}") from error
    if (index.ntotal, index.d) != (segment.count, dimensions):
        raise Damaged(f"holds {index.ntotal} vectors of {index.d}, not {segment.count}")
    return index


def _check(file: BufferedReader, segment: Segment) -> None:
    """Read all of a file, unless this was done since it was last written, and this week.

    FAISS crashes on garbled files, and neither a size nor a header shows a flipped bit. But a
    million vectors take half a second to read: who did so leaves a mark on the file.
    """
    status = os.fstat(file.fileno())
    if status.st_size != segment.size:
        raise Damaged(f"has {status.st_size} bytes instead of {segment.size}")
    week = int(time.time() // _TRUSTED_SECONDS)
    mark = f"{status.st_ino} {status.st_mtime_ns} {segment.sha256} {week}".encode()
    with suppress(OSError):  # Not every file system keeps such marks.
        if os.getxattr(file.fileno(), _MARK) == mark:
            return
    if hashlib.file_digest(file, "sha256").hexdigest() != segment.sha256:
        raise Damaged("has another SHA-256 than when it was written")
    with suppress(OSError):
        os.setxattr(file.fileno(), _MARK, mark)


def nearest(
    segment: Segment,
    index: Any,  # noqa: ANN401
    vector: Vectors,
    k: int,
    without: AbstractSet[int],
) -> list[tuple[int, float]]:
    """The k nearest in a segment that are not to be left out.

    A segment cannot delete: it is asked for more than k, and for more again if that was short.
    """
    wanted = min(segment.count, k + min(len(without), 4 * k))
    effort = 1
    while True:
        scores, numbers = index.search(vector, wanted, params=_params(segment, wanted, effort))
        hits = [
            (number, score)
            for number, score in zip(numbers[0].tolist(), scores[0].tolist(), strict=True)
            if number >= 0 and number not in without
        ]
        if len(hits) >= k or wanted >= segment.count:
            return hits[:k]
        wanted, effort = min(segment.count, 4 * wanted), 4 * effort


def _params(segment: Segment, wanted: int, effort: int) -> Any:  # noqa: ANN401
    import faiss

    match segment.kind:
        case "flat":
            return None
        case "hnsw":
            return faiss.SearchParametersHNSW(efSearch=max(_EF_SEARCH, wanted))
        case "ivf":
            lists = lists_for(segment.count)
            probes = max(8, lists // 16) * effort if wanted < segment.count else lists
            return faiss.IndexRefineSearchParameters(
                k_factor=max(1.0, min(_REFINED, segment.count / wanted)),
                base_index_params=faiss.SearchParametersIVF(nprobe=min(lists, probes)),
            )
        case _:
            assert_never(segment.kind)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many for what this thread asks of FAISS; other threads keep theirs."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def sync(folder: Path) -> None:
    """Make what was renamed in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sample(batches: Iterable[tuple[Numbers, Vectors]], step: int) -> Vectors:
    """Every so-manieth vector: evenly, because neighbours in a file resemble one another."""
    taken, seen = [], 0
    for _, vectors in batches:
        taken.append(vectors[-seen % step :: step].copy())
        seen += len(vectors)
    return np.concatenate(taken)
