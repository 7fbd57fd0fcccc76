"""Vectors to measure with: real ones of code, and as many like them as wanted.

Some thousand pieces of real code are embedded. Each further vector stands between one of them and
one of its ten nearest neighbours, with noise that has the directions of real differences between
neighbours. The amount of noise is such that nearest neighbours are as near as they are in real
code of that size, as far as it grows there by doubling (a median cosine of 0.69 among 6,000 real
functions, 0.02 to 0.03 more each time there are twice as many). Questions are real.

The hard case has the same mean and covariance and no neighbourhoods at all: no real text is so.
"""

import asyncio
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from bench.retrieval_texts import Cosqa, cosqa, embedder, python_pieces
from twinsmith.adapters.knowledge.store import NEWEST, Changes, Numbers, Vectors

PIECES = 6_000
NEIGHBOURS = 10
NOISE = 0.65
BLOCK = 20_000
QUESTIONS = 500
K = 10
DIMENSIONS = 384
Kept = TypeVar("Kept", Vectors, Numbers)


@dataclass(frozen=True, kw_only=True)
class Bed:
    """All vectors of one measurement: made once, kept in a folder."""

    cache: Path
    data: Path
    seed: int = 0
    pieces: int = PIECES

    @cached_property
    def real(self) -> Vectors:
        """Of real code: a sample of Python's standard library, and CoSQA's functions."""
        library = self._kept(f"library-{self.pieces}", lambda: embedded(self._sample()))
        found = cosqa(self.data, "test")
        if found is None:
            return library
        return np.concatenate([library, self.functions(found)[: self.pieces]])

    def functions(self, found: Cosqa) -> Vectors:
        """CoSQA's functions, in their order."""
        return self._kept("cosqa", lambda: embedded(found.functions))

    @cached_property
    def questions(self) -> Vectors:
        """What people typed into a search engine; else names from the standard library."""
        return self._kept("questions", lambda: embedded(self._asked()))[:QUESTIONS]

    def like_real(self, count: int) -> Vectors:
        """So many vectors that are spread as real ones are."""
        return self._kept(f"like-{self.pieces}-{count}", lambda: self._around(count))

    def hard(self, count: int) -> tuple[Vectors, Vectors]:
        """So many vectors without neighbourhoods, and questions of the same kind."""
        made = self._kept(f"hard-{self.pieces}-{count}", lambda: self._spread(count + QUESTIONS))
        return made[QUESTIONS:], made[:QUESTIONS]

    def truth(self, name: str, vectors: Vectors, questions: Vectors) -> Numbers:
        """The rows of the nearest of each question, by comparing all."""
        key = f"truth-{name}-{self.pieces}-{len(vectors)}"
        return self._kept(key, lambda: nearest_rows(vectors, questions))

    def _sample(self) -> list[str]:
        pieces = python_pieces(Path(sysconfig.get_paths()["stdlib"]))
        rng = np.random.default_rng(self.seed)
        return [pieces[at] for at in rng.permutation(len(pieces))[: self.pieces]]

    def _asked(self) -> list[str]:
        found = [cosqa(self.data, split) for split in ("test", "dev")]
        asked = [query for each in found if each for query in each.queries]
        return asked or [text.partition("\n")[0] for text in self._sample()[:QUESTIONS]]

    def _around(self, count: int) -> Vectors:
        rng, real = np.random.default_rng(self.seed), self.real
        near = nearest_rows(real, real, NEIGHBOURS + 1)[:, 1:]
        directions = _directions(real - real[near[:, 0]])
        made = np.empty((count, real.shape[1]), dtype=np.float32)
        for first in range(0, count, BLOCK):
            size = min(BLOCK, count - first)
            one = rng.integers(0, len(real), size)
            other = near[one, rng.integers(0, near.shape[1], size)]
            part = rng.uniform(0, 0.5, (size, 1)).astype(np.float32)
            noise = rng.standard_normal((size, real.shape[1]), dtype=np.float32) @ directions
            rows = (1 - part) * real[one] + part * real[other] + NOISE * noise
            made[first : first + size] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return made

    def _spread(self, count: int) -> Vectors:
        rng, real = np.random.default_rng(self.seed), self.real
        directions = _directions(real - real.mean(axis=0))
        made = np.empty((count, real.shape[1]), dtype=np.float32)
        for first in range(0, count, BLOCK):
            size = min(BLOCK, count - first)
            noise = rng.standard_normal((size, real.shape[1]), dtype=np.float32) @ directions
            rows = real.mean(axis=0) + noise
            made[first : first + size] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return made

    def _kept(self, name: str, make: Callable[[], Kept]) -> Kept:
        path = self.cache / f"{name}-{self.seed}.npy"
        if not path.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            aside = path.with_suffix(".part.npy")
            np.save(aside, make())
            aside.rename(path)
        kept: Kept = np.load(path, mmap_mode="r")
        return kept


class Rows:
    """An array as a store of record, as far as an index looks at one."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def lineage(self, embedder: str) -> str:
        """Always the same."""
        return f"bench:{embedder}"

    def vectors(
        self, embedder: str, after: int = 0, upto: int = NEWEST
    ) -> Iterator[tuple[Numbers, Vectors]]:
        """Row n has the number n + 1."""
        del embedder
        for first in range(after, min(upto, len(self._vectors)), BLOCK):
            rows = np.asarray(self._vectors[first : min(first + BLOCK, upto)])
            yield np.arange(first + 1, first + 1 + len(rows)), rows

    def count(self, embedder: str, after: int = 0, upto: int = NEWEST) -> int:
        """How many rows there are in between."""
        del embedder
        return max(0, min(upto, len(self._vectors)) - after)

    def changed_since(self, generation: int) -> Changes:
        """Nothing is ever deleted."""
        del generation
        return Changes(generation=1, newest=len(self._vectors), deleted=())


def embedded(texts: list[str]) -> Vectors:
    """By the embedder that the product has by default."""
    return asyncio.run(embedder(threads=2).embed(texts))


def nearest_rows(vectors: Vectors, questions: Vectors, k: int = K) -> Numbers:
    """The rows with the highest cosines for each question, best first; block by block."""
    best = np.full((len(questions), k), -2.0, dtype=np.float32)
    rows = np.zeros((len(questions), k), dtype=np.int64)
    for first in range(0, len(vectors), BLOCK):
        scores = questions @ np.asarray(vectors[first : first + BLOCK]).T
        some = min(k, scores.shape[1])
        top = np.argpartition(-scores, some - 1, axis=1)[:, :some]
        all_scores = np.hstack([best, np.take_along_axis(scores, top, axis=1)])
        all_rows = np.hstack([rows, top + first])
        order = np.argsort(-all_scores, axis=1, kind="stable")[:, :k]
        best = np.take_along_axis(all_scores, order, axis=1)
        rows = np.take_along_axis(all_rows, order, axis=1)
    return rows


def recall(truth: Numbers, found: list[list[int]]) -> float:
    """Which share of the true nearest was found."""
    right = sum(len({*row.tolist()} & {*each}) for row, each in zip(truth, found, strict=True))
    return right / truth.size


def _directions(differences: Vectors) -> Vectors:
    """What turns even noise into noise that is spread as these differences are."""
    values, vectors = np.linalg.eigh(np.cov(differences.T))
    made: Vectors = (vectors * np.sqrt(np.maximum(values, 0))).T.astype(np.float32)
    return made
