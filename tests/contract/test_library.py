"""The library with the real embedder, and with the one that only hashes words."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.models import installed
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.knowledge.embedder import HashedEmbedder, Vectors
from twinsmith.adapters.knowledge.library import LEAST_COSINE, Library
from twinsmith.adapters.knowledge.minilm import MiniLm
from twinsmith.adapters.knowledge.segments import LIMITS

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

    id = "counting@256"
    dimensions = 256

    def __init__(self) -> None:
        self._words = HashedEmbedder()
        self.texts = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return await self._words.embed(texts)

    async def close(self) -> None:
        return None


@pytest.fixture(scope="module")
def files() -> tuple[Path, Path]:
    return installed("minilm-l6-v2"), installed("minilm-l6-v2-tokenizer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("library")


@pytest.fixture
async def library(files: tuple[Path, Path], folder: Path) -> AsyncIterator[Library]:
    """With the starter knowledge, which is read by the first test that asks."""
    made = Library(folder, MiniLm(*files, threads=2), SystemClock(), "user:test")
    if not made.has_starter():
        await made.add_starter(lambda _path: None)
    yield made
    await made.close()


@pytest.mark.xdist_group("library")
class TestWithTheRealEmbedder:
    async def test_what_ships_is_read_once(self, library: Library) -> None:
        assert library.has_starter()
        assert library.stats().passages >= 120
        again = await library.add_starter(pytest.fail)
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
        assert all(hit.channel == "dense" and hit.score >= LEAST_COSINE for hit in hits)
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
    library = Library(tmp_path / "library", Counting(), SystemClock(), "user:test", few)
    await library.add(tmp_path / "many.py", "many", lambda _path: None)
    written = [path.stat().st_size for path in (tmp_path / "library" / "index").iterdir()]
    assert max(written) > 10_000
    await library.close()


async def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.py").write_text("def alpha():\n    return 'first'\n")
    (source / "b.py").write_text("def beta():\n    return 'second'\n")
    (source / "c.bin").write_bytes(b"\0\1")
    embedder = Counting()
    library = Library(tmp_path / "library", embedder, SystemClock(), "user:test")
    name = str(source)
    first = await library.add(source, name, lambda _path: None)
    assert (first.new, first.passages, len(first.skipped)) == (2, 2, 1)
    told = embedder.texts
    again = await library.add(source, name, lambda _path: None)
    assert (again.new, again.changed, again.unchanged, embedder.texts) == (0, 0, 2, told)
    (source / "a.py").write_text("def gamma():\n    return 'third'\n")
    (source / "b.py").unlink()
    third = await library.add(source, name, lambda _path: None)
    assert (third.changed, third.removed, embedder.texts - told) == (1, 1, 1)
    assert [h.passage.symbol for h in await library.search("gamma()", 3)] == ["gamma"]
    assert await library.search("beta()", 3) == ()
    (hit,) = await library.search("gamma()", 1)
    assert (hit.passage.source, hit.passage.path, hit.passage.who) == (name, "a.py", "user:test")
    assert library.sources() == [name]
    assert library.remove(name) == 1
    assert await library.search("gamma()", 3) == ()
    await library.close()
