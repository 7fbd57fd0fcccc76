"""Questions of three kinds put to both channels: which one, or which rule, answers best.

The library holds CoSQA's functions and the starter knowledge. The rule was made with one half of
the questions; the figures that count are those of the other half.
"""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from bench.retrieval_queries import (
    OFF_TOPIC,
    STARTER_TOPIC,
    Group,
    Query,
    error_queries,
    name_queries,
    web_queries,
)
from bench.retrieval_texts import cosqa, embedder, python
from bench.retrieval_vectors import Bed
from twinsmith.adapters.knowledge.ingest import pieces_of, text_of, whole
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.adapters.knowledge.starter import documents
from twinsmith.adapters.knowledge.store import Vectors
from twinsmith.core.knowing.channel import channel_for
from twinsmith.core.knowing.knowledge import Piece

K = 10
FUSED_AT = 60
SAMPLES = 10_000
Ranks = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question and what each channel found for it, best first."""

    query: Query
    dense: list[str]
    lexical: list[str]


class Shelf:
    """CoSQA's functions and the starter knowledge, to be asked through both channels."""

    def __init__(self, folder: Path, functions: list[str], vectors: Vectors) -> None:
        self._store = SqliteStore(folder / "knowledge.db")
        self._model = embedder(threads=2)
        self._names: dict[int, str] = {}
        starter = list(documents())
        self.titles = [each.path.partition("#")[2] for each in starter]
        cut = [(str(number), pieces_of(python(text))) for number, text in enumerate(functions)]
        entries = [(title, whole(each)) for title, each in zip(self.titles, starter, strict=True)]
        texts = [text_of(part.symbol, part.text) for _, parts in entries for part in parts]
        self._vectors = np.concatenate([vectors, asyncio.run(self._model.embed(texts))])
        self._documents = [name for name, _ in (*cut, *entries)]
        self._put([*cut, *entries])

    def answers(self, queries: list[Query]) -> list[Answered]:
        """What both channels find for each question."""
        asked = self.embedded([query.text for query in queries])
        made = []
        for query, scores in zip(queries, asked @ self._vectors.T, strict=True):
            top = np.argsort(-scores, kind="stable")[:K].tolist()
            found = [self._names[number] for number, _ in self._store.lexical(query.text, 2 * K)]
            made.append(
                Answered(
                    query=query,
                    dense=[self._documents[at] for at in top],
                    lexical=list(dict.fromkeys(found))[:K],
                )
            )
        return made

    def best_cosines(self, texts: Sequence[str], *, starter: bool) -> Vectors:
        """How near the nearest passage is to each text, of the starter knowledge or of all."""
        rows = self._vectors[-len(self.titles) :] if starter else self._vectors
        best: Vectors = (self.embedded(texts) @ rows.T).max(axis=1)
        return best

    def embedded(self, texts: Sequence[str]) -> Vectors:
        return asyncio.run(self._model.embed(texts))

    def close(self) -> None:
        """Let the store go."""
        self._store.close()

    def _put(self, cut: list[tuple[str, tuple[Piece, ...]]]) -> None:
        """As one document: six thousand would wait for the disk as often."""
        owners = [at for at, (_, parts) in enumerate(cut) for _ in parts]
        parts = [part for _, parts in cut for part in parts]
        rows = self._vectors[owners]
        name = self._model.id
        numbers = self._store.put(python(""), parts, rows, embedder=name, who="bench", added="")
        self._names = {n: cut[at][0] for n, at in zip(numbers, owners, strict=True)}


def halves(shelf: Shelf, data: Path) -> tuple[list[Query], list[Query]]:
    """The questions that the rule was made with, and those that it is judged by."""
    made = []
    for seed, split in enumerate(("dev", "test")):
        found = cosqa(data, split)
        assert found is not None
        web = web_queries(found.queries, found.answers)
        names = name_queries(found.sources, seed)
        made.append([*web, *names, *error_queries(split, shelf.titles)])
    tuning = {query.text for query in made[0]}
    return made[0], [query for query in made[1] if query.text not in tuning]


def reciprocal(query: Query, found: list[str]) -> float:
    """One over the place of the first answer among ten; 0 where there is none."""
    ranks = [rank for rank, name in enumerate(found[:K], 1) if name in query.answers]
    return 1 / ranks[0] if ranks else 0.0


def fused(each: Answered) -> list[str]:
    """Both channels with equal weight, by reciprocal rank."""
    scores: dict[str, float] = {}
    for found in (each.dense, each.lexical):
        for rank, name in enumerate(found, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (FUSED_AT + rank)
    return sorted(scores, key=lambda name: -scores[name])


def ruled(each: Answered) -> list[str]:
    """What the product's rule gives; by meaning where the words find nothing."""
    lexical = channel_for(each.query.text) == "lexical"
    return each.lexical if lexical and each.lexical else each.dense


WAYS: dict[str, Callable[[Answered], list[str]]] = {
    "dense": lambda each: each.dense,
    "lexical": lambda each: each.lexical,
    "fused": fused,
    "rule": ruled,
}


def compare(answered: list[Answered], seed: int) -> dict[str, float]:
    """A table of MRR@10 by kind of question; the means over kinds, by way."""
    groups: dict[Group, list[Answered]] = {
        group: [each for each in answered if each.query.group == group] for group in get_args(Group)
    }
    print(f"{'':<10}" + "".join(f"{f'{g} ({len(groups[g])})':>14}" for g in groups) + f"{'all':>8}")
    ranks = {way: _ranks(groups, give) for way, give in WAYS.items()}
    means = {}
    for way, by_group in ranks.items():
        means[way] = float(np.mean([each.mean() for each in by_group]))
        cells = "".join(f"{each.mean():14.3f}" for each in by_group)
        print(f"{way:<10}{cells}{means[way]:8.3f}")
    for other in ("dense", "lexical", "fused"):
        low, high = interval(ranks["rule"], ranks[other], seed)
        gain = means["rule"] - means[other]
        print(f"rule - {other}: {gain:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}")
    return means


def _ranks(
    groups: dict[Group, list[Answered]], give: Callable[[Answered], list[str]]
) -> list[Ranks]:
    return [
        np.array([reciprocal(each.query, give(each)) for each in some]) for some in groups.values()
    ]


def interval(one: list[Ranks], other: list[Ranks], seed: int) -> tuple[float, float]:
    """Paired bootstrap: questions are drawn again within each kind, kinds weigh the same."""
    rng = np.random.default_rng(seed)
    total = np.zeros(SAMPLES)
    for a, b in zip(one, other, strict=True):
        drawn = rng.integers(0, len(a), (SAMPLES, len(a)))
        total += (a - b)[drawn].mean(axis=1) / len(one)
    low, high = np.percentile(total, [2.5, 97.5])
    return float(low), float(high)


def mixed(bed: Bed, seed: int) -> dict[str, float] | None:
    """Both halves; the means of the half that the rule has not seen."""
    found = cosqa(bed.data, "test")
    if found is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder), found.sources, bed.functions(found))
        tuning, judged = halves(shelf, bed.data)
        print("the half that the rule was made with: MRR@10")
        compare(shelf.answers(tuning), seed)
        print("the half that it had not seen: MRR@10")
        means = compare(shelf.answers(judged), seed)
        thresholds(shelf, STARTER_TOPIC, starter=True)
        thresholds(shelf, [each.text for each in judged if each.group == "web"], starter=False)
        shelf.close()
    return means


def thresholds(shelf: Shelf, on_topic: Sequence[str], *, starter: bool) -> None:
    """How many questions about anything else get an answer, and how many real ones get none."""
    off = shelf.best_cosines(OFF_TOPIC, starter=starter)
    on = shelf.best_cosines(on_topic, starter=starter)
    print(f"{'starter alone' if starter else 'all'}: {len(off)} off-topic, {len(on)} on-topic")
    print(f"{'threshold':>10}{'off-topic answered':>20}{'on-topic unanswered':>21}")
    for least in np.arange(0.20, 0.50, 0.02):
        print(f"{least:10.2f}{(off >= least).mean():20.1%}{(on < least).mean():21.1%}")
