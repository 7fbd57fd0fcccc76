"""Another embedder takes over: all passages get vectors of it, then other vectors are forgotten."""

import asyncio
from collections.abc import Callable

from twinsmith.adapters.knowledge.embedder import Embedder
from twinsmith.adapters.knowledge.ingest import text_of
from twinsmith.adapters.knowledge.store import Embeddings

EMBEDDED_AT_ONCE = 256

Bar = Callable[[int, int], None]
"""How much is done, of how much."""


def is_due(store: Embeddings, own: str) -> bool:
    """Whether passages lack a vector of an embedder, or others have vectors besides it."""
    return bool(store.embedders().keys() - {own} or store.without_vector(own, 1))


async def embed_missing(store: Embeddings, by: Embedder, total: int, bar: Bar) -> None:
    """Give a vector of an embedder to every passage, of so many in all, that lacks one."""
    done = store.embedders().get(by.id, 0)
    while lacking := await asyncio.to_thread(store.without_vector, by.id, EMBEDDED_AT_ONCE):
        vectors = await by.embed([text_of(symbol, text) for _, symbol, text in lacking])
        numbers = [number for number, _, _ in lacking]
        await asyncio.to_thread(store.add_vectors, by.id, numbers, vectors)
        done += len(lacking)
        bar(done, max(done, total))


def forget_others(store: Embeddings, own: str) -> None:
    """Forget the vectors of all embedders but one."""
    for name in store.embedders().keys() - {own}:
        store.drop_embedder(name)
