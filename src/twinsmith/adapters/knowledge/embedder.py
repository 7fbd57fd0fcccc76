"""Texts in, unit vectors out: what every embedder promises, and a fake that keeps the promise."""

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from twinsmith.core.errors import ConfigError

Vectors = NDArray[np.float32]

_WORD = re.compile(r"[^\W_]+")
_SMALLEST = 1e-12


class Embedder(Protocol):
    """Turns texts into vectors, one row for each text, of length one.

    The same text gives the same vector (to rounding), whatever else is in the call. Any text is
    welcome: an empty one has a vector too, and of a long one the beginning counts. No texts give
    no rows. ModelUnavailable is raised when there can be no answer.
    """

    @property
    def id(self) -> str:
        """Which model, in which version: vectors of two ids must never be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a row."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors, in the order of the texts."""
        ...

    async def close(self) -> None:
        """Let go of memory and connections; the next text takes them again."""
        ...


class HashedEmbedder:
    """A fake without a model: texts that share words are near, and nothing else is known."""

    def __init__(self, dimensions: int = 256) -> None:
        if dimensions < 1:
            raise ConfigError(f"an embedder of {dimensions} dimensions; give at least 1")
        self.id = f"hashed@{dimensions}"
        self.dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Count the words of each text, every word in a place of its own as far as they go."""
        counts = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(counts, texts, strict=True):
            for word in _WORD.findall(text.lower()):
                digest = blake2b(word.encode(errors="replace"), digest_size=8).digest()
                row[int.from_bytes(digest) % self.dimensions] += 1.0
        return unit(counts)

    async def close(self) -> None:
        """Nothing is held."""


def unit(rows: Vectors) -> Vectors:
    """Every row at length one; a row of zeros, which has no direction, gets the first one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    made: Vectors = (rows / np.maximum(lengths, _SMALLEST)).astype(np.float32)
    made[lengths[:, 0] < _SMALLEST] = np.eye(1, rows.shape[1], dtype=np.float32)
    return made


def storable(text: str) -> str:
    """The text without the halves of characters that a file with a wrong encoding leaves."""
    return text.encode(errors="replace").decode()
