"""The library: documents in, cut, embedded and kept; passages out, by meaning or by words."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from twinsmith.adapters.knowledge.chunks import pieces
from twinsmith.adapters.knowledge.embedder import Embedder
from twinsmith.adapters.knowledge.index import SegmentIndex
from twinsmith.adapters.knowledge.segments import LIMITS, Limits
from twinsmith.adapters.knowledge.sources import read_source
from twinsmith.adapters.knowledge.starter import entries
from twinsmith.adapters.knowledge.store import KnowledgeStore, StoreFigures
from twinsmith.core.channel import channel_for
from twinsmith.core.knowledge import Document, Hit, Piece, Skipped
from twinsmith.ports import Clock

STARTER = "starter"
# Cosines below this are noise: calibrated in tests/contract/test_library.py.
LEAST_COSINE = 0.32
LONGEST_QUERY = 2000
MOST_HITS = 100
# So many are looked at when only one language is wanted.
OVERFETCH = 20

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of a source."""

    new: int
    changed: int
    unchanged: int
    removed: int
    passages: int
    skipped: tuple[Skipped, ...]


class Library:
    """One store, one index, one embedder."""

    def __init__(
        self, folder: Path, embedder: Embedder, clock: Clock, who: str, limits: Limits = LIMITS
    ) -> None:
        self._store = KnowledgeStore(folder / "knowledge.db")
        self._folder = folder
        self._embedder = embedder
        self._clock = clock
        self._who = who
        self._limits = limits
        self._index: SegmentIndex | None = None

    async def add(self, path: Path, source: str, progress: Progress) -> Added:
        """Read a file or folder; what is known already costs nothing, what is gone goes."""
        read = await asyncio.to_thread(lambda: list(read_source(path, source)))
        return await self._keep(source, read, pieces_of, progress)

    async def add_starter(self, progress: Progress) -> Added:
        """What twinsmith knows from the beginning, if this version of it is not here yet."""
        return await self._keep(STARTER, list(_starter()), _whole, progress)

    def has_starter(self) -> bool:
        """Whether what is kept of it is what this version ships."""
        shipped = {document.path: document.digest for document in _starter()}
        return self._store.known(STARTER, self._embedder.id) == shipped

    async def search(self, query: str, k: int, language: str = "") -> tuple[Hit, ...]:
        """The passages that answer a question, best first; nothing where there is only noise."""
        query, k = query.strip()[:LONGEST_QUERY], min(k, MOST_HITS)
        if not query or k <= 0:
            return ()
        channel = channel_for(query)
        if channel == "lexical":
            found = await asyncio.to_thread(self._store.lexical, query, k, language)
        else:
            found = await self._nearest(query, k * OVERFETCH if language else k)
        known = {p.number: p for p in self._store.passages([number for number, _ in found])}
        hits = [
            Hit(passage=known[number], score=round(score, 4), channel=channel)
            for number, score in found
            if number in known and language in ("", known[number].language)
        ]
        return tuple(hits[:k])

    def remove(self, source: str) -> int:
        """Forget a source; the number of documents that went."""
        return self._store.drop(source)

    def stats(self) -> StoreFigures:
        """How much is kept."""
        return self._store.stats()

    def sources(self) -> list[str]:
        """What was added, by name."""
        return [figures.source for figures in self._store.sources()]

    async def close(self) -> None:
        """Let everything go."""
        await self._embedder.close()
        self._store.close()

    async def _nearest(self, query: str, k: int) -> list[tuple[int, float]]:
        vector = (await self._embedder.embed([query]))[0]
        index = await self._followed()
        found = await asyncio.to_thread(index.search, vector, k)
        return [(number, score) for number, score in found if score >= LEAST_COSINE]

    async def _followed(self) -> SegmentIndex:
        """The index, with everything that the store has."""
        if self._index is None:
            by = self._embedder
            self._index = SegmentIndex(self._folder / "index", by.id, by.dimensions, self._limits)
        await asyncio.to_thread(self._index.refresh, self._store)
        return self._index

    async def _merge(self) -> None:
        """Write what is new into a segment, once that is worth it."""
        index = await self._followed()
        if await asyncio.to_thread(index.due, self._store):
            await asyncio.to_thread(index.merge, self._store)

    async def _keep(
        self,
        source: str,
        read: Iterable[Document | Skipped],
        cut: Callable[[Document], tuple[Piece, ...]],
        progress: Progress,
    ) -> Added:
        known = self._store.known(source, self._embedder.id)
        new = changed = unchanged = passages = 0
        skipped: list[Skipped] = []
        seen: set[str] = set()
        for item in read:
            if isinstance(item, Skipped):
                skipped.append(item)
                continue
            seen.add(item.path)
            if known.get(item.path) == item.digest:
                unchanged += 1
                continue
            progress(item.path)
            passages += await self._put(item, cut)
            new, changed = (new, changed + 1) if item.path in known else (new + 1, changed)
        gone = known.keys() - seen
        for path in gone:
            self._store.drop(source, path)
        if passages or gone:
            await self._merge()
        return Added(
            new=new,
            changed=changed,
            unchanged=unchanged,
            removed=len(gone),
            passages=passages,
            skipped=tuple(skipped),
        )

    async def _put(self, document: Document, cut: Callable[[Document], tuple[Piece, ...]]) -> int:
        parts = await asyncio.to_thread(cut, document)
        # The symbol says in words what the code says in symbols.
        vectors = await self._embedder.embed([f"{p.symbol}\n{p.text}" for p in parts])
        numbers = await asyncio.to_thread(
            lambda: self._store.put(
                document,
                parts,
                vectors,
                embedder=self._embedder.id,
                who=self._who,
                added=self._clock.now(),
            )
        )
        return len(numbers)


def pieces_of(document: Document) -> tuple[Piece, ...]:
    """A document along its syntax."""
    return pieces(document.text, document.language)


def _starter() -> Iterator[Document]:
    """An entry is a document of its own: small enough, and never cut."""
    import hashlib

    for entry in entries():
        text = f"{entry.title}\n{entry.prose}\n\n{entry.code}".rstrip() + "\n"
        yield Document(
            source=STARTER,
            path=f"{entry.file}#{entry.title}",
            text=text,
            digest=hashlib.sha256(text.encode()).hexdigest(),
            language=entry.language or "text",
            licence="Apache-2.0",
        )


def _whole(document: Document) -> tuple[Piece, ...]:
    lines = document.text.count("\n")
    title = document.path.partition("#")[2]
    return (Piece(text=document.text, symbol=title, first_line=1, last_line=max(lines, 1)),)
