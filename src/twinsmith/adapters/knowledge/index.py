"""Nearest vectors, from segments that can always be made again from the store of record."""

import fcntl
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from twinsmith.adapters.knowledge.manifest import Owner, named, read, switch
from twinsmith.adapters.knowledge.segments import (
    LIMITS,
    Damaged,
    Limits,
    Segment,
    kind_for,
    load,
    nearest,
    threads,
    write,
)
from twinsmith.adapters.knowledge.store import Changes, Followed, Numbers, Vectors
from twinsmith.core.errors import EngineError

_NEVER = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What a search looks at: never changed, only replaced."""

    owner: Owner
    manifest: bytes
    whole: bool
    """Whether all is held that the manifest names."""
    segments: tuple[Segment, ...]
    opened: tuple[Any, ...]
    numbers: Numbers
    fresh: Vectors
    upto: int
    """All numbers up to here are in segments or fresh."""
    deleted: frozenset[int]
    """Of those in segments; what is fresh is rid of them."""
    generation: int
    """Deletions up to here are known."""

    @property
    def covered(self) -> int:
        """All numbers up to here are in segments."""
        return _covered(self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How many vectors a segment holds, how many of them live, and if its kind is the right one."""

    count: int
    live: int
    settled: bool = True

    @property
    def outdated(self) -> bool:
        """Whether it has to be written again for its own sake."""
        return not self.settled or 4 * self.live < 3 * self.count


def merge_from(loads: Sequence[Load], fresh: int) -> int:
    """The first segment to be merged with all after it and with what is fresh.

    A segment is merged when it is outdated, or when what follows it is at least half as big: so
    there are few segments, and a vector is written a logarithmic number of times.
    """
    first, total = len(loads), fresh
    for at in reversed(range(len(loads))):
        if (total and loads[at].live <= 2 * total) or loads[at].outdated:
            first = at
        total += loads[at].live
    return first


class SegmentIndex:
    """One embedder's vectors in one folder: follows the store with `refresh`, then searches.

    Threads and processes may share the folder. Whatever in it is missing, damaged or of another
    store is left out with a message, and its vectors come from the store again.
    """

    def __init__(
        self, folder: Path, embedder: str, dimensions: int, limits: Limits = LIMITS
    ) -> None:
        self._folder = folder
        self._embedder = embedder
        self._dimensions = dimensions
        self._limits = limits
        self._changing = threading.Lock()
        self._messages: list[str] = []
        self._held = self._nothing("")
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise EngineError(f"index {folder} cannot be made: {error.strerror}") from error

    @property
    def count(self) -> int:
        """How many vectors are searched, with those that were deleted since."""
        return sum(segment.count for segment in self._held.segments) + len(self._held.numbers)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The files in use."""
        return self._held.segments

    def messages(self) -> list[str]:
        """What was left out, and why, since this was last asked."""
        told, self._messages = self._messages, []
        return told

    def refresh(self, source: Followed) -> None:
        """Take in what the store added and deleted, and what other processes merged."""
        with self._changing:
            held = self._follow(source)
            missing = source.changed_since(_NEVER).newest - held.upto + len(held.numbers)
        if (
            missing > self._limits.memory
            and source.count(self._embedder, held.covered) > self._limits.memory
        ):
            self.merge(source, wait=True, quick=True)
        with self._changing:
            self._held = self._catch_up(source)

    def search(
        self, vector: Vectors, k: int, skip: Collection[int] = frozenset()
    ) -> list[tuple[int, float]]:
        """The numbers and cosines of the k nearest that are neither deleted nor to be skipped."""
        held = self._held
        vector = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, self._dimensions)
        if k <= 0:
            return []
        without = held.deleted.union(skip) if skip else held.deleted
        found: list[tuple[int, float]] = []
        with threads(1):
            for segment, index in zip(held.segments, held.opened, strict=True):
                found += nearest(segment, index, vector, k, without)
        scores = held.fresh @ vector[0]
        best = min(len(scores), k + len(skip))
        for at in np.argpartition(-scores, best - 1)[:best].tolist() if best else ():
            if int(held.numbers[at]) not in skip:
                found.append((int(held.numbers[at]), float(scores[at])))
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]

    def due(self, source: Followed) -> bool:
        """Whether merging is worth its time by now."""
        held = self._held
        if len(held.numbers) >= self._limits.fresh or not held.whole:
            return True
        return any(load.outdated for load in self._loads(source, held.segments))

    def merge(self, source: Followed, *, wait: bool = False, quick: bool = False) -> bool:
        """Write what is fresh, with small and outdated segments, into a new one; False if not.

        Searches go on meanwhile. Without `wait` it is left to another process that is at it.
        A quick merge builds no graph: that takes minutes, and stays due.
        """
        with self._alone(wait=wait) as alone:
            if not alone:
                return False
            with self._changing:
                held = self._follow(source)
                kept = held.segments
            now = source.changed_since(_NEVER)
            fresh = source.count(self._embedder, _covered(kept), now.newest)
            first = merge_from(self._loads(source, kept), fresh)
            if first == len(kept) and not fresh and held.whole:
                return False
            try:
                made = self._build(source, _covered(kept[:first]), now, quick=quick)
                switch(self._folder, held.owner, (*kept[:first], *made))
            except (OSError, RuntimeError) as error:
                why = " ".join(str(error).split())[:200]
                raise EngineError(
                    f"index {self._folder} cannot be written: {why}; make room or mend the folder"
                ) from error
            with self._changing:
                self._held = self._catch_up(source)
            self._tidy({segment.name for segment in self._held.segments})
        return True

    def _nothing(self, lineage: str) -> _Held:
        return _Held(
            owner=Owner(lineage=lineage, embedder=self._embedder, dimensions=self._dimensions),
            manifest=b"",
            whole=True,
            segments=(),
            opened=(),
            numbers=np.empty(0, dtype=np.int64),
            fresh=np.empty((0, self._dimensions), dtype=np.float32),
            upto=0,
            deleted=frozenset(),
            generation=0,
        )

    def _follow(self, source: Followed) -> _Held:
        """What is held, with the segments that the manifest names now."""
        while True:
            # Read before everything else: what changes from here on is noticed the next time.
            lineage, held = source.lineage(self._embedder), self._held
            if held.owner.lineage != lineage:
                held = self._nothing(lineage)
            manifest = read(self._folder)
            if manifest == held.manifest:
                return held
            segments, opened, message = self._open(source, held, manifest)
            now = (read(self._folder), source.lineage(self._embedder))
            if message and now != (manifest, lineage):
                # Another process switched meanwhile, and tidied away what we were to open.
                continue
            if message and message not in self._messages:
                self._messages.append(message)
            return _with_segments(held, manifest, segments, opened, whole=not message)

    def _catch_up(self, source: Followed) -> _Held:
        """What the manifest names, without what was deleted, with what is newer."""
        held = self._follow(source)
        now = source.changed_since(held.generation)
        if held.upto == now.newest and held.generation == now.generation:
            return held
        batches = list(source.vectors(self._embedder, held.upto))
        numbers = np.concatenate([held.numbers, *(numbers for numbers, _ in batches)])
        fresh = np.concatenate([held.fresh, *(vectors for _, vectors in batches)])
        if now.deleted:
            stays = ~np.isin(numbers, np.array(now.deleted))
            numbers, fresh = numbers[stays], fresh[stays]
        gone = [number for number in now.deleted if number <= held.covered]
        return replace(
            held,
            numbers=numbers,
            fresh=fresh,
            upto=max(now.newest, int(batches[-1][0][-1]) if batches else 0),
            deleted=held.deleted.union(gone),
            generation=now.generation,
        )

    def _open(
        self, source: Followed, held: _Held, manifest: bytes
    ) -> tuple[tuple[Segment, ...], tuple[Any, ...], str]:
        """The segments that can be trusted, up to the first that cannot, and why that is."""
        known = dict(zip(held.segments, held.opened, strict=True))
        segments: list[Segment] = []
        opened: list[Any] = []
        where = f"index {self._folder}"
        try:
            for segment in named(manifest, held.owner, source.changed_since(_NEVER).newest):
                where = f"index {self._folder / segment.name}"
                if segment not in known:
                    known[segment] = load(self._folder, segment, self._dimensions)
                opened.append(known[segment])
                segments.append(segment)
        except Damaged as damage:
            message = f"{where} {damage}; it is left out and built again from the store"
            return tuple(segments), tuple(opened), message
        return tuple(segments), tuple(opened), ""

    def _loads(self, source: Followed, segments: Sequence[Segment]) -> list[Load]:
        return [
            Load(
                count=segment.count,
                live=source.count(self._embedder, segment.after, segment.upto),
                settled=segment.kind == kind_for(segment.count, self._limits),
            )
            for segment in segments
        ]

    def _build(
        self, source: Followed, after: int, now: Changes, *, quick: bool
    ) -> tuple[Segment, ...]:
        count = source.count(self._embedder, after, now.newest)
        if not count:
            return ()
        kind = kind_for(count, self._limits)
        made = write(
            self._folder,
            "flat" if quick and kind == "hnsw" else kind,
            count,
            self._dimensions,
            lambda: source.vectors(self._embedder, after, now.newest),
        )
        return (replace(made, after=after, upto=now.newest, generation=now.generation),)

    def _tidy(self, used: set[str]) -> None:
        """Remove what no manifest names; who has it open keeps it until the end."""
        for path in self._folder.iterdir():
            if path.suffix in (".faiss", ".part") and path.name not in used:
                path.unlink(missing_ok=True)

    @contextmanager
    def _alone(self, *, wait: bool) -> Iterator[bool]:
        try:
            lock = (self._folder / "lock").open("w")
        except OSError as error:
            raise EngineError(
                f"index {self._folder} cannot be written: {error.strerror}; mend the folder"
            ) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


def _covered(segments: Sequence[Segment]) -> int:
    return segments[-1].upto if segments else 0


def _with_segments(
    held: _Held,
    manifest: bytes,
    segments: tuple[Segment, ...],
    opened: tuple[Any, ...],
    *,
    whole: bool,
) -> _Held:
    """What is held, with other segments; what is fresh and in none of them stays."""
    covered = _covered(segments)
    # Segments that were left out are not in what is fresh, either.
    later = held.numbers > (covered if covered >= held.covered else _NEVER)
    known = [segment.generation for segment in segments]
    return replace(
        held,
        manifest=manifest,
        whole=whole,
        segments=segments,
        opened=opened,
        numbers=held.numbers[later],
        fresh=held.fresh[later],
        upto=max(covered, held.upto) if covered >= held.covered else covered,
        deleted=frozenset(),
        generation=min([*known, held.generation]) if later.any() else min(known, default=0),
    )
