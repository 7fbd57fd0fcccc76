"""Documents in: cut along their syntax, embedded together, kept one by one."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from twinsmith.adapters.knowledge.chunks import pieces
from twinsmith.adapters.knowledge.embedder import Embedder, Vectors
from twinsmith.adapters.knowledge.store import Documents
from twinsmith.core.knowing.knowledge import MEANING_ENDS, Document, Piece, Skipped
from twinsmith.ports import Clock

READ_AT_ONCE = 32
EMBEDDED_AT_ONCE = 128
"""Pieces: enough for every thread of an embedder, and for a batch of one behind HTTP."""

Told = Callable[[int, str], None]
"""How many files have been looked at, and which was the last."""
Cut = Callable[[Document], tuple[Piece, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of a source."""

    new: int
    changed: int
    unchanged: int
    removed: int
    passages: int
    skipped: tuple[Skipped, ...]


class Ingest:
    """One source being read into a store."""

    def __init__(self, store: Documents, embedder: Embedder, clock: Clock, who: str) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._who = who

    async def read(
        self, source: str, items: Iterable[Document | Skipped], cut: Cut, told: Told
    ) -> Added:
        """Keep what is new or changed, forget what is gone; what is unchanged costs nothing."""
        known = self._store.known(source)
        seen: set[str] = set()
        skipped: list[Skipped] = []
        new = changed = passages = looked_at = 0
        waiting: list[tuple[Document, tuple[Piece, ...]]] = []
        rest = iter(items)
        while batch := await asyncio.to_thread(lambda: list(islice(rest, READ_AT_ONCE))):
            skipped += [item for item in batch if isinstance(item, Skipped)]
            documents = [item for item in batch if isinstance(item, Document)]
            seen.update(document.path for document in documents)
            for document in documents:
                if known.get(document.path) == document.digest:
                    continue
                new, changed = (new, changed + 1) if document.path in known else (new + 1, changed)
                waiting.append((document, await asyncio.to_thread(cut, document)))
                if sum(len(parts) for _, parts in waiting) >= EMBEDDED_AT_ONCE:
                    passages += await self.keep(waiting)
                    waiting = []
            looked_at += len(batch)
            told(looked_at, batch[-1].path)
        passages += await self.keep(waiting)
        gone = known.keys() - seen
        for path in gone:
            self._store.drop(source, path)
        return Added(
            new=new,
            changed=changed,
            unchanged=len(seen) - new - changed,
            removed=len(gone),
            passages=passages,
            skipped=tuple(skipped),
        )

    async def keep(self, cut: list[tuple[Document, tuple[Piece, ...]]]) -> int:
        """Keep documents that are cut already beside what their source has; how many pieces."""
        texts = [text_of(part.symbol, part.text) for _, parts in cut for part in parts]
        rows = await self._embedder.embed(texts)
        for (document, parts), vectors in zip(cut, _shared_out(cut, rows), strict=True):
            await asyncio.to_thread(
                self._store.put,
                document,
                parts,
                vectors,
                embedder=self._embedder.id,
                who=self._who,
                added=self._clock.now(),
            )
        return len(texts)


def text_of(symbol: str, text: str) -> str:
    """What an embedder reads of a piece: its symbol says in words what code says in signs."""
    return f"{symbol}\n{text.partition(MEANING_ENDS)[0]}"


def pieces_of(document: Document) -> tuple[Piece, ...]:
    """A document along its syntax."""
    return pieces(document.text, document.language)


def whole(document: Document) -> tuple[Piece, ...]:
    """A document that is one piece, called what its path says behind a `#`."""
    lines = max(document.text.count("\n"), 1)
    title = document.path.partition("#")[2]
    return (Piece(text=document.text, symbol=title, first_line=1, last_line=lines),)


def _shared_out(cut: list[tuple[Document, tuple[Piece, ...]]], rows: Vectors) -> Iterator[Vectors]:
    first = 0
    for _, parts in cut:
        yield rows[first : first + len(parts)]
        first += len(parts)
