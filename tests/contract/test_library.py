"""The library with the real embedder, and with the one that only hashes words."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.models import installed
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.knowledge.embedder import Embedder, HashedEmbedder, Vectors
from twinsmith.adapters.knowledge.library import Library
from twinsmith.adapters.knowledge.minilm import MiniLm
from twinsmith.adapters.knowledge.segments import LIMITS, Limits
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.adapters.knowledge.starter_vectors import FILE, starter_texts

# Questions that nothing of the starter knowledge answers, and questions that something does.
OFF_TOPIC = (
    *("best recipe for apple pie", "what is the capital of France", "price of gold today"),
    *("who won the football world cup", "weather tomorrow in Berlin", "the plot of Hamlet"),
    *("how to grow tomatoes on a balcony", "lyrics of a love song", "cheap flights to Tokyo"),
)
ON_TOPIC = {
    "store passwords safely": "assword",
    "check a JWT token and its expiry": "JWT",
    "limit concurrency of asyncio tasks": "asyncio",
    "parse command line arguments with subcommands": "argparse",
    "Dockerfile for a Go service without root": "Container file for a Go service",
    "retry with backoff and jitter": "Retry",
    "graceful shutdown of a web server": "shutdown",
    "iterator invalidation while erasing": "iterators",
}


class Counting:
    """An embedder that counts what it is given."""

    dimensions = 256

    def __init__(self, name: str = "counting@256") -> None:
        self.id = name
        self._words = HashedEmbedder()
        self.texts = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return await self._words.embed(texts)

    async def close(self) -> None:
        return None


def library_at(
    folder: Path,
    embedder: Embedder,
    *,
    limits: Limits = LIMITS,
    older: Callable[[str], Embedder | None] = lambda _id: None,
) -> Library:
    store = SqliteStore(folder / "knowledge.db")
    return Library(store, folder, embedder, SystemClock(), "user:test", limits=limits, older=older)


def nobody(_done: int, _of: object) -> None:
    """Nobody looks at the progress."""


@pytest.fixture(scope="module")
def files() -> tuple[Path, Path]:
    return installed("minilm-l6-v2"), installed("minilm-l6-v2-tokenizer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("library")


@pytest.fixture
async def library(files: tuple[Path, Path], folder: Path) -> AsyncIterator[Library]:
    """With the starter knowledge, which is read by the first test that asks."""
    made = library_at(folder, MiniLm(*files, threads=2))
    if not made.has_starter():
        await made.add_starter()
    yield made
    await made.close()


@pytest.mark.xdist_group("library")
class TestWithTheRealEmbedder:
    async def test_what_ships_is_read_once(self, library: Library) -> None:
        assert library.has_starter()
        assert library.stats().passages >= 120
        again = await library.add_starter()
        assert (again.new, again.changed, again.removed) == (0, 0, 0)

    @pytest.mark.parametrize("query", OFF_TOPIC)
    async def test_an_off_topic_question_gets_nothing_rather_than_noise(
        self, library: Library, query: str
    ) -> None:
        assert await library.search(query, 5) == ()

    @pytest.mark.parametrize("query", ON_TOPIC)
    async def test_a_question_finds_what_answers_it(self, library: Library, query: str) -> None:
        hits = await library.search(query, 3)
        assert any(ON_TOPIC[query] in hit.passage.symbol for hit in hits), hits
        assert all(hit.channel == "dense" and hit.score >= 0.28 for hit in hits)
        assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)

    async def test_names_and_errors_are_found_by_their_words(self, library: Library) -> None:
        (hit, *_) = await library.search("error[E0382]: borrow of moved value", 3)
        assert (hit.channel, "E0382" in hit.passage.symbol) == ("lexical", True)
        (hit, *_) = await library.search("compare_digest", 3)
        assert "compare_digest" in hit.passage.text

    async def test_one_language_only(self, library: Library) -> None:
        hits = await library.search("write a file atomically", 3, "perl")
        assert hits
        assert {hit.passage.language for hit in hits} == {"perl"}
        assert await library.search("write a file atomically", 3, "cobol") == ()

    async def test_odd_questions_are_answered_sensibly(self, library: Library) -> None:
        assert await library.search("", 5) == ()
        assert await library.search("   \n", 5) == ()
        assert len(await library.search("password " * 12_500, 1)) <= 1
        assert await library.search("store passwords safely", 0) == ()
        assert len(await library.search("store passwords safely", 10_000)) <= 100
        assert await library.search('" OR 1=1 -- NEAR( *', 5) is not None


async def test_what_was_added_is_written_into_a_segment_once_it_is_enough(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(
        "".join(
            f"def number_{n}():\n    return 'a value that is long enough, {n}'\n\n\n"
            for n in range(60)
        )
    )
    few = replace(LIMITS, fresh=20)
    library = library_at(tmp_path / "library", Counting(), limits=few)
    await library.add(tmp_path / "many.py", "many", nobody)
    assert library.due()
    await library.upkeep(nobody)
    written = [path.stat().st_size for path in (tmp_path / "library" / "index").glob("*/*")]
    assert max(written) > 10_000
    assert not library.due()
    await library.close()


async def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.py").write_text("def alpha():\n    return 'first'\n")
    (source / "b.py").write_text("def beta():\n    return 'second'\n")
    (source / "c.bin").write_bytes(b"\0\1")
    embedder = Counting()
    library = library_at(tmp_path / "library", embedder)
    name = str(source)
    first = await library.add(source, name, nobody)
    assert (first.new, first.passages, len(first.skipped)) == (2, 2, 1)
    told = embedder.texts
    again = await library.add(source, name, nobody)
    assert (again.new, again.changed, again.unchanged, embedder.texts) == (0, 0, 2, told)
    (source / "a.py").write_text("def gamma():\n    return 'third'\n")
    (source / "b.py").unlink()
    third = await library.add(source, name, nobody)
    assert (third.changed, third.removed, embedder.texts - told) == (1, 1, 1)
    assert [h.passage.symbol for h in await library.search("gamma()", 3)] == ["gamma"]
    assert await library.search("beta()", 3) == ()
    (hit,) = await library.search("gamma()", 1)
    assert (hit.passage.source, hit.passage.path, hit.passage.who) == (name, "a.py", "user:test")
    assert library.sources() == [name]
    assert library.remove(name) == 1
    assert await library.search("gamma()", 3) == ()
    await library.close()


async def test_what_ships_needs_no_embedding_and_is_what_the_embedder_would_give(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    embedder = MiniLm(*files, threads=2)
    with np.load(FILE, allow_pickle=False) as kept:
        assert str(kept["embedder"]) == embedder.id
        texts = starter_texts()
        assert len(kept["vectors"]) == len(texts)
        some = range(0, len(texts), 25)
        fresh = await embedder.embed([texts[at] for at in some])
        cosines = (fresh * kept["vectors"][list(some)].astype(np.float32)).sum(axis=1)
    assert cosines.min() > 0.99
    await embedder.close()
    counted = Counting(embedder.id)
    counted.dimensions = 384
    library = library_at(tmp_path, counted)
    await library.add_starter()
    assert (library.has_starter(), counted.texts) == (True, 0)
    await library.close()


class TestAnotherEmbedder:
    """The old one serves until the new one has seen everything."""

    async def filled(self, folder: Path) -> None:
        library = library_at(folder / "library", Counting("old@256"))
        (folder / "a.py").write_text("def alpha():\n    return 'high tide at the harbour'\n")
        await library.add(folder / "a.py", "a", nobody)
        await library.close()

    async def test_the_old_one_serves_until_upkeep_is_done(self, tmp_path: Path) -> None:
        await self.filled(tmp_path)
        old, new = Counting("old@256"), Counting("new@256")
        library = library_at(
            tmp_path / "library", new, older=lambda name: old if name == "old@256" else None
        )
        assert len(await library.search("high tide at the harbour", 3)) == 1
        assert (old.texts, new.texts) == (1, 0)
        (tmp_path / "b.py").write_text("def beta():\n    return 'low tide at the pier'\n")
        await library.add(tmp_path / "b.py", "b", nobody)
        assert len(await library.search("low tide at the pier", 1)) == 1
        assert library.due()
        await library.upkeep(nobody)
        assert (new.texts, library.embedders()) == (2, {"new@256": 2})
        asked = old.texts
        assert len(await library.search("low tide at the pier", 3)) == 2
        assert (old.texts, new.texts, library.due()) == (asked, 3, False)
        await library.close()

    async def test_where_the_old_one_is_gone_the_new_one_answers_with_what_it_has(
        self, tmp_path: Path
    ) -> None:
        await self.filled(tmp_path)
        new = Counting("new@256")
        library = library_at(tmp_path / "library", new)
        assert await library.search("high tide at the harbour", 3) == ()
        assert [hit.passage.symbol for hit in await library.search("alpha()", 3)] == ["alpha"]
        await library.upkeep(nobody)
        assert len(await library.search("high tide at the harbour", 3)) == 1
        await library.close()


async def test_a_damaged_index_is_told_and_made_again(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(
        "".join(f"def number_{n}():\n    return 'a long enough value, {n}'\n\n" for n in range(60))
    )
    few = replace(LIMITS, fresh=20)
    library = library_at(tmp_path / "library", Counting(), limits=few)
    await library.add(tmp_path / "many.py", "many", nobody)
    await library.upkeep(nobody)
    await library.close()
    (segment,) = (tmp_path / "library" / "index").glob("*/*.faiss")
    segment.write_bytes(segment.read_bytes()[:-100])
    library = library_at(tmp_path / "library", Counting(), limits=few)
    assert len(await library.search("a long enough value", 5)) == 5
    (message,) = library.messages()
    assert "is left out and built again from the store" in message
    await library.rebuild(nobody)
    assert (library.messages(), library.due()) == ([], False)
    assert len(await library.search("a long enough value", 5)) == 5
    await library.close()


async def test_a_snapshot_is_restored_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def alpha():\n    return 'high tide at the harbour'\n")
    library = library_at(tmp_path / "one", Counting())
    await library.add(tmp_path / "a.py", "a", nobody)
    await library.snapshot(tmp_path / "known.zip", nobody)
    await library.close()
    other = library_at(tmp_path / "two", Counting())
    (tmp_path / "b.py").write_text("def beta():\n    return 'nothing of it stays'\n")
    await other.add(tmp_path / "b.py", "b", nobody)
    await other.search("nothing of it stays", 1)
    await other.restore(tmp_path / "known.zip", nobody)
    assert other.sources() == ["a"]
    assert [h.passage.symbol for h in await other.search("high tide at the harbour", 3)] == [
        "alpha"
    ]
    assert await other.search("beta()", 3) == ()
    await other.close()
