"""Texts to measure with: CoSQA's questions and functions, Python's own library, the embedder."""

import gzip
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.models import FOLDER
from twinsmith.adapters.knowledge.ingest import pieces_of, text_of
from twinsmith.adapters.knowledge.minilm import MiniLm
from twinsmith.adapters.knowledge.sources import read_source
from twinsmith.adapters.models import catalogue
from twinsmith.adapters.models.install import ModelStore
from twinsmith.core.knowing.knowledge import Document

DATA = Path(__file__).parents[2] / "shared" / "data" / "cosqa"
FILES = ("minilm-l6-v2", "minilm-l6-v2-tokenizer")
# Tests of a library are no code that somebody looks for.
_TESTS = re.compile(r"(?:^|/)(?:tests?|idle_test|lib2to3|site-packages|dist-packages)(?:/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosqa:
    """Questions that people asked a search engine, and the function that answers each."""

    functions: list[str]
    """As the product embeds them."""
    sources: list[str]
    queries: list[str]
    answers: list[int]


def cosqa(folder: Path, split: str) -> Cosqa | None:
    """One split; None, with a line that says so, where the data is not."""
    questions = folder / f"cosqa-retrieval-{split}-500.json.gz"
    if not questions.exists():
        print(f"CoSQA: skipped, {questions} is not there; name its folder with --data")
        return None
    with gzip.open(folder / "code_idx_map.txt.gz", "rt") as file:
        numbers: dict[str, int] = json.load(file)
    with gzip.open(questions, "rt") as file:
        rows = json.load(file)
    sources = sorted(numbers, key=lambda source: numbers[source])
    return Cosqa(
        functions=[as_embedded(source) for source in sources],
        sources=sources,
        queries=[row["doc"] for row in rows],
        answers=[row["retrieval_idx"] for row in rows],
    )


def as_embedded(source: str) -> str:
    """What the embedder reads of a short Python file: its first piece names it."""
    return text_of(pieces_of(python(source))[0].symbol, source)


def python(text: str, path: str = "x.py") -> Document:
    return Document(source="bench", path=path, text=text, digest="", language="python")


def python_documents(folder: Path) -> list[Document]:
    """Files of a Python library, without its tests."""
    found = (each for each in read_source(folder, "bench") if isinstance(each, Document))
    return [each for each in found if each.language == "python" and not _TESTS.search(each.path)]


def python_pieces(folder: Path) -> list[str]:
    """What the embedder reads of them."""
    return texts_of(python_documents(folder))


def texts_of(documents: Iterable[Document]) -> list[str]:
    return [text_of(part.symbol, part.text) for each in documents for part in pieces_of(each)]


def embedder(threads: int) -> MiniLm:
    """The default one, as the tests have it installed."""
    store = ModelStore(FOLDER)
    weights, tokenizer = (store.path(catalogue.find(name)) for name in FILES)
    if weights is None or tokenizer is None:
        print(f"{' and '.join(FILES)} are not in {FOLDER}; the tests install them", file=sys.stderr)
        raise SystemExit(2)
    return MiniLm(weights, tokenizer, threads=threads)
