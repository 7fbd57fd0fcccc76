"""What every embedder must do: the hashed fake, MiniLM on this machine, two wire formats."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from tests.embedding_server import DIMENSIONS, KEY, EmbeddingServer, Fault, serving, vector
from tests.models import installed
from twinsmith.adapters.clock import ManualClock, SystemClock
from twinsmith.adapters.knowledge.embedder import Embedder, HashedEmbedder, Vectors
from twinsmith.adapters.knowledge.minilm import MiniLm
from twinsmith.adapters.knowledge.remote import BATCH_TEXTS, RemoteEmbedder, Service
from twinsmith.adapters.models import catalogue
from twinsmith.core.errors import ModelUnavailable

WIRES = ("openai", "google")
ARGON2 = """def hash_password(password: str) -> str:
    from argon2 import PasswordHasher
    return PasswordHasher().hash(password)
"""
QUICKSORT = """def quicksort(xs):
    if len(xs) < 2:
        return xs
    pivot, *rest = xs
    return quicksort([x for x in rest if x < pivot]) + [pivot] + quicksort(
        [x for x in rest if x >= pivot])
"""
TEXTS = [QUICKSORT, "short", ARGON2, "a sentence about nothing in particular", "x " * 100]
ODD = ["漢字 и кириллица", "🙂🙂", "e\u0301", "\x00\x07", "\ud800 half", "\u202eright to left"]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as made:
        yield made


@pytest.fixture(scope="session")
def minilm_files() -> tuple[Path, Path]:
    return installed("minilm-l6-v2"), installed("minilm-l6-v2-tokenizer")


def service(wire: str, server: EmbeddingServer) -> Service:
    known: dict[str, tuple[Literal["openai", "google"], str]] = {
        "openai": ("openai", f"{server.url}/v1"),
        "google": ("google", server.url),
    }
    provider, url = known[wire]
    return Service(
        provider=provider, model="wire-model", url=url, key=KEY, dimensions=DIMENSIONS, retries=2
    )


@pytest.fixture(params=["hashed", "minilm", *WIRES])
def made(request: pytest.FixtureRequest, server: EmbeddingServer) -> Embedder:
    if request.param == "hashed":
        return HashedEmbedder()
    if request.param == "minilm":
        return MiniLm(*request.getfixturevalue("minilm_files"), threads=2)
    return RemoteEmbedder(service(request.param, server), SystemClock())


@pytest.fixture
async def embedder(made: Embedder) -> AsyncIterator[Embedder]:
    yield made
    await made.close()


def check(vectors: Vectors, embedder: Embedder, count: int) -> None:
    assert vectors.shape == (count, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_every_text_has_a_row_of_length_one(embedder: Embedder) -> None:
    check(await embedder.embed(TEXTS), embedder, len(TEXTS))
    assert "@" in embedder.id


async def test_the_same_texts_give_the_same_vectors(embedder: Embedder) -> None:
    assert np.array_equal(await embedder.embed(TEXTS), await embedder.embed(TEXTS))


async def test_a_text_has_its_vector_alone_and_in_any_company(embedder: Embedder) -> None:
    # More than one batch, in an order that is not that of their lengths.
    many = [f"{TEXTS[n % len(TEXTS)]} {n}" for n in range(BATCH_TEXTS + 6)]
    together = await embedder.embed(many)
    backwards = (await embedder.embed(many[::-1]))[::-1]
    assert ((together * backwards).sum(axis=1) > 0.99).all()
    for place in (0, 1, len(many) - 1):
        (alone,) = await embedder.embed([many[place]])
        assert alone @ together[place] > 0.99


async def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    check(await embedder.embed([]), embedder, 0)


async def test_blank_texts_have_vectors_too(embedder: Embedder) -> None:
    vectors = await embedder.embed(["", "word", " \n\t "])
    check(vectors, embedder, 3)
    assert vectors[0] @ vectors[2] > 0.99 > vectors[0] @ vectors[1]


async def test_of_a_very_long_text_the_beginning_counts(embedder: Embedder) -> None:
    vectors = await embedder.embed(["word " * 1_000_000, "word " * 2_000, "漢" * 100_000])
    check(vectors, embedder, 3)
    assert vectors[0] @ vectors[1] > 0.99


async def test_any_character_is_welcome(embedder: Embedder) -> None:
    check(await embedder.embed(ODD), embedder, len(ODD))


async def test_it_can_be_used_at_once_from_many_places_and_after_closing(
    embedder: Embedder,
) -> None:
    found = await asyncio.gather(*[embedder.embed([text]) for text in TEXTS])
    await embedder.close()
    again = await embedder.embed(TEXTS)
    assert ((np.vstack(found) * again).sum(axis=1) > 0.99).all()
    await embedder.close()
    await embedder.close()


async def test_a_question_is_near_its_answer(minilm_files: tuple[Path, Path]) -> None:
    model = MiniLm(*minilm_files, threads=1)
    question, argon2, quicksort = await model.embed(
        ["how to store passwords safely", ARGON2, QUICKSORT]
    )
    assert question @ argon2 > question @ quicksort + 0.2
    weights = catalogue.find("minilm-l6-v2").sha256
    assert (model.id, model.dimensions) == (f"minilm-l6-v2-w8a8@{weights[:12]}", 384)


async def test_of_a_text_the_first_256_tokens_are_read(minilm_files: tuple[Path, Path]) -> None:
    model = MiniLm(*minilm_files, threads=1)
    whole, other, shorter = await model.embed(
        ["dog " * 254 + "cat " * 500, "dog " * 254 + "tax law", "dog " * 253 + "tax law"]
    )
    # 254 words and the marks at both ends.
    assert np.allclose(whole, other, atol=1e-5)
    assert not np.allclose(whole, shorter, atol=1e-3)


@pytest.mark.parametrize("which", [0, 1])
async def test_a_damaged_file_is_one_line(
    minilm_files: tuple[Path, Path], tmp_path: Path, which: int
) -> None:
    files = [*minilm_files]
    files[which] = tmp_path / "damaged"
    files[which].write_bytes(minilm_files[which].read_bytes()[:100_000])
    with pytest.raises(ModelUnavailable, match=f"cannot read {files[which]}: .*install") as told:
        await MiniLm(*files, threads=1).embed(["x"])
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("wire", WIRES)
class TestRemote:
    async def test_vectors_are_those_of_the_service(
        self, wire: str, server: EmbeddingServer
    ) -> None:
        embedder = RemoteEmbedder(service(wire, server), ManualClock())
        found = await embedder.embed(["b", "", "a"])
        for row, text in ((found[0], "b"), (found[2], "a")):
            assert row @ np.array(vector(text)) == pytest.approx(np.linalg.norm(vector(text)))
        assert embedder.id == f"{wire}:wire-model@{DIMENSIONS}"
        await embedder.embed([str(n) for n in range(BATCH_TEXTS + 1)])
        assert len(server.requests) == 3
        await embedder.close()

    @pytest.mark.parametrize(
        ("fault", "least", "most"),
        [
            (Fault(status=429, headers={"retry-after": "7"}), 7.0, 7.0),
            (
                Fault(status=503, headers={"retry-after": "Thu, 01 Jan 2026 00:00:20 GMT"}),
                20.0,
                20.0,
            ),
            (Fault(status=429, headers={"retry-after": "soon"}), 0.25, 0.5),
            (Fault(status=429, headers={"retry-after": "-5"}), 0.25, 0.5),
            (Fault(status=500), 0.25, 0.5),
            (Fault(body='{"data": [', cut=True), 0.25, 0.5),
        ],
    )
    async def test_a_failure_that_may_pass_is_tried_again(
        self, wire: str, server: EmbeddingServer, fault: Fault, least: float, most: float
    ) -> None:
        clock = ManualClock()
        embedder = RemoteEmbedder(service(wire, server), clock)
        server.faults.append(fault)
        check(await embedder.embed(["a", "b"]), embedder, 2)
        assert least <= clock.seconds() <= most
        assert len(server.requests) == 2
        await embedder.close()

    @pytest.mark.parametrize(
        ("fault", "says", "asked"),
        [
            (Fault(status=500, body="broken"), "HTTP 500 broken; try again later", 3),
            (Fault(status=429, headers={"retry-after": "3600"}), "asks to wait 3600 s", 1),
            (Fault(status=429, headers={"retry-after": "inf"}), "asks to wait inf s", 1),
            (Fault(status=401, body=f"bad\nkey {KEY}"), r"HTTP 401 bad key \[masked\]", 1),
            (Fault(status=400, body="x" * 170 + KEY), "HTTP 400 x", 1),
            (Fault(status=404), "HTTP 404; check its address, model and key", 1),
            (Fault(status=302, headers={"location": "/elsewhere"}), "HTTP 302", 1),
            (Fault(body="<html>"), "cannot be read", 1),
            (Fault(body="[]"), "cannot be read", 1),
            (Fault(body='{"data": [{}], "embeddings": [{}]}'), "cannot be read", 1),
            (Fault(body='{"data": null, "embeddings": null}'), "cannot be read", 1),
        ],
    )
    async def test_any_other_failure_is_one_line_without_the_key(
        self, wire: str, server: EmbeddingServer, fault: Fault, says: str, asked: int
    ) -> None:
        embedder = RemoteEmbedder(service(wire, server), ManualClock())
        server.faults.extend([fault] * 3)
        with pytest.raises(ModelUnavailable, match=says) as told:
            await embedder.embed(["a"])
        line = str(told.value)
        assert line.startswith(f"embedder {wire}:wire-model: ")
        assert "\n" not in line
        assert KEY[:12] not in line
        assert len(server.requests) == asked
        await embedder.close()

    @pytest.mark.parametrize(
        ("rows", "says"),
        [
            ([[1.0] * 8], "its vectors have 8 dimensions and 16 are configured; configure 8"),
            ([[1.0] * DIMENSIONS] * 2, "holds 2 vectors, not 1"),
            ([], "holds 0 vectors, not 1"),
            ([1.0], "holds 1 vectors, not 1 of one length"),
            ([[0.0] * DIMENSIONS], "has no direction"),
            ([[float("nan")] * DIMENSIONS], "has no direction"),
            ([[1e300] * DIMENSIONS], "has no direction"),
            ([["a"] * DIMENSIONS], "cannot be read"),
        ],
    )
    async def test_vectors_that_cannot_be_used_are_refused(
        self, wire: str, server: EmbeddingServer, rows: list[object], says: str
    ) -> None:
        embedder = RemoteEmbedder(service(wire, server), ManualClock())
        answer = {
            "data": [{"index": n, "embedding": row} for n, row in enumerate(rows)],
            "embeddings": [{"values": row} for row in rows],
        }
        server.faults.append(Fault(body=json.dumps(answer)))
        with pytest.raises(ModelUnavailable, match=says):
            await embedder.embed(["a"])
        await embedder.close()

    async def test_a_silent_or_absent_service_is_given_up(
        self, wire: str, server: EmbeddingServer
    ) -> None:
        silent = replace(service(wire, server), reply_seconds=0.05, retries=1)
        server.faults.extend([Fault(delay=0.3)] * 2)
        with pytest.raises(ModelUnavailable, match=r"no answer within 0\.05 s; try again later"):
            await RemoteEmbedder(silent, ManualClock()).embed(["a"])
        absent = replace(service(wire, server), url="http://127.0.0.1:9")
        with pytest.raises(ModelUnavailable, match="ConnectError"):
            await RemoteEmbedder(absent, ManualClock()).embed(["a"])

    @pytest.mark.parametrize(
        "odd",
        [{"key": "sk-a\nb"}, {"key": "schlüßel"}, {"url": "ftp://x"}, {"url": "http://x:port"}],
    )
    async def test_what_cannot_be_sent_is_one_line(
        self, wire: str, server: EmbeddingServer, odd: dict[str, str]
    ) -> None:
        changed = replace(service(wire, server), **odd)  # type: ignore[arg-type]
        with pytest.raises(ModelUnavailable, match="address or key cannot be sent") as told:
            await RemoteEmbedder(changed, ManualClock()).embed(["a"])
        assert changed.key not in str(told.value)
        assert changed.key not in repr(changed)
