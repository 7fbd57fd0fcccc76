"""The library: documents in, passages out, by meaning or by words; and what keeps it in order."""

import asyncio
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from twinsmith.adapters.knowledge.built import keep_program
from twinsmith.adapters.knowledge.embedder import Embedder
from twinsmith.adapters.knowledge.index import SegmentIndex
from twinsmith.adapters.knowledge.ingest import Added, Ingest, Told, pieces_of, whole
from twinsmith.adapters.knowledge.packs.article import document_of, pieces_in
from twinsmith.adapters.knowledge.packs.reading import Read
from twinsmith.adapters.knowledge.reembedding import Bar, embed_missing, forget_others, is_due
from twinsmith.adapters.knowledge.segments import LIMITS, Limits
from twinsmith.adapters.knowledge.snapshot import read_snapshot, write_snapshot
from twinsmith.adapters.knowledge.sources import read_source
from twinsmith.adapters.knowledge.starter import SOURCE, documents
from twinsmith.adapters.knowledge.starter_vectors import Remembered
from twinsmith.adapters.knowledge.store import Store, StoreFigures, Vectors
from twinsmith.core.knowing.channel import channel_for, least_cosine
from twinsmith.core.knowing.knowledge import Built, Channel, Document, Hit, Skipped
from twinsmith.ports import Clock

LONGEST_QUERY = 2000
MOST_HITS = 100
# So many are looked at when only one language is wanted.
OVERFETCH = 20
MOST_LOOKED_AT = 1000
"""Where this many were not enough, one more look is the last."""
CHOICE_SECONDS = 5.0
"""How long it is taken for granted which embedder serves."""

Older = Callable[[str], Embedder | None]
"""The embedder that an id names, if it can still answer."""


class Library:
    """One store of record; an index for each embedder that has vectors in it.

    After the embedder was changed, the old one serves until every passage has a vector of the new
    one; `upkeep` sees to that.
    """

    def __init__(
        self,
        store: Store,
        folder: Path,
        embedder: Embedder,
        clock: Clock,
        who: str,
        *,
        older: Older = lambda _id: None,
        least_cosine: float | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self._store = store
        self._folder = folder
        self._embedder = embedder
        self._clock = clock
        self._who = who
        self._older = older
        self._least_cosine = least_cosine
        self._limits = limits
        self._indexes: dict[str, SegmentIndex] = {}
        self._opened: dict[str, Embedder] = {embedder.id: embedder}
        self._serves, self._chosen = embedder.id, float("-inf")

    async def add(self, path: Path, source: str, told: Told) -> Added:
        """Read a file or folder; what is known already costs nothing, what is gone goes."""
        ingest = Ingest(self._store, self._serving(), self._clock, self._who)
        return await ingest.read(source, read_source(path, source), pieces_of, told)

    async def add_pack(self, read: Read, source: str, told: Told) -> Added:
        """Keep what was read of a pack, instead of what another version of it said."""
        pieces = {article.place.path: pieces_in(article) for article in read.articles}
        items: list[Document | Skipped] = [*read.skipped]
        items += (document_of(article, source) for article in read.articles)
        ingest = Ingest(self._store, self._serving(), self._clock, self._who)
        return await ingest.read(source, items, lambda document: pieces[document.path], told)

    async def add_starter(self) -> Added:
        """What twinsmith knows from the beginning, if this version of it is not here yet."""
        embedder = Remembered(self._serving())
        ingest = Ingest(self._store, embedder, self._clock, self._who)
        return await ingest.read(SOURCE, documents(), whole, lambda _done, _path: None)

    def has_starter(self) -> bool:
        """Whether what is kept of it is what this version ships."""
        shipped = {document.path: document.digest for document in documents()}
        return self._store.known(SOURCE) == shipped

    async def keep(self, made: Built) -> str:
        """Keep a verified program, once for each run; in words, what became of it."""
        ingest = Ingest(self._store, self._serving(), self._clock, self._who)
        return await keep_program(made, self._store, ingest)

    async def search(
        self, query: str, k: int, language: str = "", channel: Channel | None = None
    ) -> tuple[Hit, ...]:
        """The passages that answer a question, best first; nothing where there is only noise."""
        query, k = query.strip()[:LONGEST_QUERY], min(k, MOST_HITS)
        if not query or k <= 0:
            return ()
        channel, found = channel or channel_for(query), list[tuple[int, float]]()
        if channel == "lexical":
            found = await asyncio.to_thread(self._store.lexical, query, k, language)
        if found:
            return self._hits(found, language, channel)[:k]
        embedder, most = self._serving(), k * OVERFETCH if language else k
        vector = (await embedder.embed([query]))[0]
        while True:
            found = await self._nearest(embedder, vector, most)
            hits = self._hits(found, language, "dense")
            if len(hits) >= k or len(found) < most or most > MOST_LOOKED_AT:
                return hits[:k]
            # Other languages have more to say about this: look further down.
            most *= OVERFETCH

    def remove(self, source: str) -> int:
        """Forget a source; the number of documents that went."""
        return self._store.drop(source)

    def stats(self) -> StoreFigures:
        """How much is kept."""
        return self._store.stats()

    def sources(self) -> list[str]:
        """What was added, by name."""
        return [figures.source for figures in self._store.sources()]

    def passages_by_source(self) -> dict[str, int]:
        """How many passages there are of each source."""
        return {figures.source: figures.passages for figures in self._store.sources()}

    def embedders(self) -> dict[str, int]:
        """How many passages have a vector of each embedder."""
        return self._store.embedders()

    def messages(self) -> list[str]:
        """What was left out of the index, and why, since this was last asked."""
        return [message for index in self._indexes.values() for message in index.messages()]

    def due(self) -> bool:
        """Whether `upkeep` has anything to do."""
        if is_due(self._store, self._embedder.id):
            return True
        return self._followed(self._embedder).due(self._store)

    async def upkeep(self, bar: Bar) -> None:
        """Give every passage a vector of the embedder in force, then merge what is worth it."""
        await self._embed_missing(bar)
        index = await asyncio.to_thread(self._followed, self._embedder)
        if await asyncio.to_thread(index.due, self._store):
            await asyncio.to_thread(index.merge, self._store)
        self._forget_others()

    async def rebuild(self, bar: Bar) -> None:
        """Make the index anew from the store of record, whatever is there of it."""
        self._indexes.clear()
        shutil.rmtree(self._folder / "index", ignore_errors=True)
        await self._embed_missing(bar)
        index = await asyncio.to_thread(self._followed, self._embedder)
        await asyncio.to_thread(index.merge, self._store, wait=True)
        self._forget_others()

    async def snapshot(self, file: Path, bar: Bar) -> None:
        """Everything that is known, in one file."""
        await asyncio.to_thread(write_snapshot, self._store, file, bar)

    async def restore(self, file: Path, bar: Bar) -> None:
        """Know what a snapshot knows, and nothing else; all of it or nothing changes."""
        await asyncio.to_thread(read_snapshot, file, self._store, bar)
        self._chosen = float("-inf")

    async def close(self) -> None:
        """Let everything go."""
        for embedder in self._opened.values():
            await embedder.close()
        self._store.close()

    def _hits(
        self, found: list[tuple[int, float]], language: str, channel: Channel
    ) -> tuple[Hit, ...]:
        known = {p.number: p for p in self._store.passages([number for number, _ in found])}
        return tuple(
            Hit(passage=known[number], score=round(score, 4), channel=channel)
            for number, score in found
            if number in known and language in ("", known[number].language)
        )

    async def _nearest(self, by: Embedder, vector: Vectors, k: int) -> list[tuple[int, float]]:
        index = await asyncio.to_thread(self._followed, by)
        found = await asyncio.to_thread(index.search, vector, k)
        least = self._least_cosine
        least = least_cosine(index.count) if least is None else least
        return [(number, score) for number, score in found if score >= least]

    def _followed(self, by: Embedder) -> SegmentIndex:
        """An embedder's index, with everything that the store has."""
        if by.id not in self._indexes:
            folder = self._folder / "index" / hashlib.sha256(by.id.encode()).hexdigest()[:16]
            self._indexes[by.id] = SegmentIndex(folder, by.id, by.dimensions, self._limits)
        index = self._indexes[by.id]
        index.refresh(self._store)
        return index

    def _serving(self) -> Embedder:
        """The embedder that has most of the vectors; the one in force, when it has all."""
        if self._clock.seconds() - self._chosen > CHOICE_SECONDS:
            self._serves, self._chosen = self._most_complete(), self._clock.seconds()
        return self._opened[self._serves]

    def _most_complete(self) -> str:
        have, own = self._store.embedders(), self._embedder.id
        for name in sorted(have, key=lambda name: (-have[name], name != own)):
            if name in self._opened:
                return name
            older = self._older(name)
            if older is not None:
                self._opened[name] = older
                return name
        return own

    async def _embed_missing(self, bar: Bar) -> None:
        await embed_missing(self._store, self._embedder, self._store.stats().passages, bar)

    def _forget_others(self) -> None:
        forget_others(self._store, self._embedder.id)
        self._chosen = float("-inf")
