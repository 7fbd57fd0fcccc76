"""Vectors that come with the starter knowledge, so that a new data folder need not wait for them.

    python -m twinsmith.adapters.knowledge.starter_vectors WEIGHTS TOKENIZER

makes them anew after the entries or the default embedder changed.
"""

import asyncio
import hashlib
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from twinsmith.adapters.knowledge.embedder import Embedder, Vectors, unit
from twinsmith.adapters.knowledge.ingest import text_of, whole
from twinsmith.adapters.knowledge.starter import FOLDER, documents

FILE = FOLDER / "vectors.npz"


class Remembered:
    """An embedder that looks up what it was asked before the product was shipped."""

    def __init__(self, embedder: Embedder) -> None:
        self.id = embedder.id
        self.dimensions = embedder.dimensions
        self._embedder = embedder

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors, in the order of the texts; only what is not remembered is worked out."""
        known = _shipped().get(self.id, {})
        made = np.empty((len(texts), self.dimensions), dtype=np.float32)
        asked = [at for at, text in enumerate(texts) if _digest(text) not in known]
        if asked:
            made[asked] = await self._embedder.embed([texts[at] for at in asked])
        for at, text in enumerate(texts):
            if (vector := known.get(_digest(text))) is not None:
                made[at] = vector
        return unit(made)

    async def close(self) -> None:
        """Let the embedder go."""
        await self._embedder.close()


def starter_texts() -> list[str]:
    """What an embedder reads of the starter knowledge."""
    return [text_of(part.symbol, part.text) for each in documents() for part in whole(each)]


@cache
def _shipped() -> dict[str, dict[bytes, Vectors]]:
    with np.load(FILE, allow_pickle=False) as kept:
        rows = zip(kept["digests"].tolist(), kept["vectors"].astype(np.float32), strict=True)
        return {str(kept["embedder"]): dict(rows)}


def _digest(text: str) -> bytes:
    # No zero byte at its end: numpy cuts those off.
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32].encode()


def _make(weights: Path, tokenizer: Path) -> None:
    from twinsmith.adapters.knowledge.minilm import MiniLm

    embedder, texts = MiniLm(weights, tokenizer, threads=1), starter_texts()
    np.savez(
        FILE,
        embedder=np.array(embedder.id),
        digests=np.array([_digest(text) for text in texts]),
        vectors=asyncio.run(embedder.embed(texts)).astype(np.float16),
    )


if __name__ == "__main__":
    _make(Path(sys.argv[1]), Path(sys.argv[2]))
