"""What the knowledge base finds, and what that takes, beside Chroma and LanceDB.

    python -m bench.retrieval vectors   100k and 1M vectors: recall, time, disk; peers; hard case
    python -m bench.retrieval growth    1k to 1M, and what 100M would take, by calculation
    python -m bench.retrieval ingest    pieces a second, and what is not embedding
    python -m bench.retrieval cosqa     500 web queries for 6,267 functions
    python -m bench.retrieval mixed     web queries, names, error messages: which channel; threshold

How the vectors are made is told in retrieval_vectors.py; they are kept in --cache. Chroma and
LanceDB are no dependencies: `--peer PYTHON` names an interpreter that has them.
"""

import argparse
import asyncio
import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.retrieval_index import calculated, hard, like_real, ours, peers, table
from bench.retrieval_mixed import K, mixed
from bench.retrieval_texts import DATA, cosqa, embedder
from bench.retrieval_vectors import Bed, nearest_rows
from bench.sandbox import target
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.knowledge.embedder import Vectors
from twinsmith.adapters.knowledge.library import Library
from twinsmith.adapters.knowledge.minilm import MiniLm
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore

CORES = len(os.sched_getaffinity(0))
SIZES = (1_000, 10_000, 100_000, 1_000_000)
TIMES_LARGER = 100
LEAST_MRR = 0.528
# By how many there are: the least recall, the most processor time of a question in ms.
TARGETS = {100_000: (0.98, 0.5), 1_000_000: (0.95, 1.5)}
MOST_MEGABYTES, MOST_OPENING = 700.0, 0.2
LEAST_PIECES, MOST_OVERHEAD = 60.0, 0.1


def vectors(bed: Bed, sizes: Sequence[int], peer: str) -> None:
    for count in sizes:
        case = like_real(bed, count)
        here = ours(case, bed.cache)
        others = list(peers(case, bed.cache, peer, here.recall))
        without = hard(bed, count)
        print(f"{count} vectors, {len(case.questions)} questions one by one")
        table(
            [
                ("twinsmith", here),
                *((other.what.partition(",")[0], other) for other in others),
                ("twinsmith, hard case", ours(without, bed.cache)),
            ]
        )
        if count in TARGETS:
            least, most = TARGETS[count]
            target(f"recall@10 at {count}", here.recall, least=least)
            target(f"ms of a question at {count}", here.cpu_ms, most=most)
        for other in others:
            target(f"times quicker than {other.what}", other.cpu_ms / here.cpu_ms, least=1.0)
    target("MB on disk", here.megabytes, most=MOST_MEGABYTES)
    target("s to open", here.open_s, most=MOST_OPENING)


def growth(bed: Bed, sizes: Sequence[int]) -> None:
    rows = [(f"{count}", ours(like_real(bed, count), bed.cache)) for count in sizes]
    most = calculated(rows[-1][1], sizes[-1], TIMES_LARGER)
    table([*rows, (f"{sizes[-1] * TIMES_LARGER}", most)])


class Timed:
    """An embedder that counts its texts and the processor time that they take."""

    def __init__(self, model: MiniLm) -> None:
        self.id, self.dimensions = model.id, model.dimensions
        self.seconds, self.texts = 0.0, 0
        self._model = model

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """As the model does; nothing else goes on meanwhile."""
        began = time.process_time()
        made = await self._model.embed(texts)
        self.seconds += time.process_time() - began
        self.texts += len(texts)
        return made

    async def close(self) -> None:
        """Let the model go."""
        await self._model.close()


async def ingest(folder: Path) -> None:
    """Read real code into a new library."""
    model = Timed(embedder(threads=CORES))
    await model.embed(["it is read when the first text comes"])
    with tempfile.TemporaryDirectory() as home:
        store = SqliteStore(Path(home) / "knowledge.db")
        library = Library(store, Path(home), model, SystemClock(), "bench")
        model.seconds, began, worked = 0.0, time.perf_counter(), time.process_time()
        added = await library.add(folder, "bench", lambda _done, _path: None)
        await library.upkeep(lambda _done, _all: None)
        wall, cpu = time.perf_counter() - began, time.process_time() - worked
        size = library.stats().bytes
        await library.close()
    count = added.passages
    print(f"{folder}: {added.new} files, {count} pieces on {CORES} cores, {size / 1e6:.0f} MB")
    print(f"wall {wall:.1f} s; CPU a piece {cpu / count * 1e3:.1f} ms, of it embedding", end=" ")
    print(f"{model.seconds / count * 1e3:.1f} ms; by CPU {CORES * count / cpu:.0f} pieces/s")
    target("pieces a second", count / wall, least=LEAST_PIECES)
    target("beyond embedding, of it", (cpu - model.seconds) / model.seconds, most=MOST_OVERHEAD)


def cosqa_figures(bed: Bed) -> None:
    """Every function as the product embeds it, every question as it is asked."""
    for split in ("dev", "test"):
        found = cosqa(bed.data, split)
        if found is None:
            return
        asked = asyncio.run(embedder(threads=CORES).embed(found.queries))
        near = nearest_rows(bed.functions(found), asked, K).tolist()
        pairs = zip(near, found.answers, strict=True)
        ranks = [1 / (rows.index(answer) + 1) if answer in rows else 0.0 for rows, answer in pairs]
        error = np.std(ranks) / len(ranks) ** 0.5
        print(f"{split}: MRR@10 {np.mean(ranks):.4f} (standard error {error:.3f})")
    target("CoSQA test, MRR@10", round(float(np.mean(ranks)), 3), least=LEAST_MRR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["vectors", "growth", "ingest", "cosqa", "mixed"])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "retrieval")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of CoSQA")
    parser.add_argument("--peer", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--sizes", type=int, nargs="+", default=[])
    parser.add_argument("--seed", type=int, default=0)
    library = Path(sysconfig.get_paths()["stdlib"]) / "asyncio"
    parser.add_argument("--folder", type=Path, default=library, help="what is read by `ingest`")
    options = parser.parse_args()
    bed = Bed(cache=options.cache, data=options.data, seed=options.seed)
    match options.what:
        case "vectors":
            vectors(bed, options.sizes or [*TARGETS], options.peer)
        case "growth":
            growth(bed, options.sizes or SIZES)
        case "ingest":
            asyncio.run(ingest(options.folder))
        case "cosqa":
            cosqa_figures(bed)
        case _:
            means = mixed(bed, options.seed)
            if means is not None:
                best = max(means["dense"], means["lexical"])
                target("the rule, times the better channel", means["rule"] / best, least=1.0)


if __name__ == "__main__":
    main()
