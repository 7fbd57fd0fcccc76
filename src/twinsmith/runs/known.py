"""What is known and what was learned, as people look it up and add to it."""

import tempfile
from pathlib import Path

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import SYSTEM
from twinsmith.core.knowing.insight import Insight
from twinsmith.core.knowing.knowledge import Figures, Hit
from twinsmith.runs.book import Book

ENDING = ".md"


async def search(book: Book, text: str, k: int, language: str = "") -> tuple[Hit, ...]:
    """The passages that answer best; nothing where nothing fits."""
    from twinsmith.wiring.knowledge import opened_library

    async with opened_library(book.settings) as library:
        return await library.search(text, k, language)


async def figures(book: Book) -> Figures:
    """How much is known; ModelUnavailable where the embedder is not installed."""
    from twinsmith.wiring.knowledge import opened_library

    async with opened_library(book.settings) as library:
        stats = library.stats()
        return Figures(
            documents=stats.documents,
            passages=stats.passages,
            sources=library.passages_by_source(),
            messages=tuple(library.messages()),
        )


async def teach(book: Book, title: str, text: str) -> int:
    """Keep a text under a title; the number of its passages."""
    from twinsmith.wiring.knowledge import opened_library

    plain = "".join(c if c.isalnum() else "-" for c in title.lower()).strip("-")[:60]
    if not plain or not text.strip():
        raise ConfigError("a title and a text are needed; say what it is about, and what is so")
    masked = book.settings.masking.text(text)
    with tempfile.TemporaryDirectory(prefix="twinsmith-taught-") as folder:
        path = Path(folder) / f"{plain}{ENDING}"
        path.write_text(f"# {' '.join(title.split())}\n\n{masked}\n", encoding="utf-8")
        async with opened_library(book.settings) as library:
            added = await library.add(path, f"taught: {plain}", lambda _done, _path: None)
    await book.tell(SYSTEM, "knowledge.taught", {"title": title, "passages": added.passages})
    return added.passages


async def insights(book: Book, about: str, language: str, most: int) -> tuple[Insight, ...]:
    """What was learned, what helps most first."""
    from twinsmith.flow.insights import insights as look_up
    from twinsmith.wiring.graph import opened_graph

    async with opened_graph(book.settings) as graph:
        return await look_up(graph, about=about, language=language, limit=most)
