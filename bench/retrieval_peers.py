"""Chroma and LanceDB on given vectors; run by an interpreter that has them, without twinsmith.

    python retrieval_peers.py chroma|lancedb EFFORT VECTORS.npy QUESTIONS.npy TRUTH.npy FOLDER

builds FOLDER if it is not there; else opens it and asks all questions. Prints one line of JSON.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Ask = Callable[[Vectors], list[int]]
K = 10
BATCH = 5_000
COLUMN, TABLE = "vector", "bench"


def chroma(vectors: Vectors, folder: Path, effort: str) -> Ask:
    """Its one kind of index, HNSW, built as it is by default; the effort is `ef_search`."""
    client = import_module("chromadb").PersistentClient(str(folder))
    if TABLE not in [each.name for each in client.list_collections()]:
        made = client.create_collection(TABLE, configuration={"hnsw": {"space": "ip"}})
        for first in range(0, len(vectors), BATCH):
            rows = np.asarray(vectors[first : first + BATCH])
            made.add(ids=[str(first + n) for n in range(len(rows))], embeddings=rows)
    collection = client.get_collection(TABLE)
    # It takes effect before the first question of a process, and never after that.
    collection.modify(configuration={"hnsw": {"ef_search": int(effort)}})

    def ask(question: Vectors) -> list[int]:
        found = collection.query(query_embeddings=[question], n_results=K, include=[])
        return [int(each) for each in found["ids"][0]]

    return ask


def lancedb(vectors: Vectors, folder: Path, effort: str) -> Ask:
    """Lists with a graph over 8-bit numbers in each; the effort is `nprobes,ef,refine_factor`."""
    probes, ef, refine = map(int, effort.split(","))
    database = import_module("lancedb").connect(str(folder))
    if TABLE not in database.list_tables().tables:
        made = database.create_table(TABLE, _batches(vectors))
        kind = import_module("lancedb.index").HnswSq(distance_type="dot")
        made.create_index(COLUMN, config=kind)
    table: Any = database.open_table(TABLE)

    def ask(question: Vectors) -> list[int]:
        search = table.search(question, vector_column_name=COLUMN).distance_type("dot")
        search = search.nprobes(probes).ef(ef)
        search = search.refine_factor(refine) if refine > 1 else search
        wanted = search.select(["id", "_distance"]).limit(K)
        ids: list[int] = wanted.to_arrow()["id"].to_pylist()
        return ids

    return ask


def _batches(vectors: Vectors) -> object:
    """As Arrow reads them, one after the other: all at once would take the memory twice."""
    arrow = import_module("pyarrow")
    width = vectors.shape[1]
    schema = arrow.schema([("id", arrow.int64()), (COLUMN, arrow.list_(arrow.float32(), width))])

    def made() -> Iterator[object]:
        for first in range(0, len(vectors), BATCH):
            rows = np.asarray(vectors[first : first + BATCH])
            ids = arrow.array(np.arange(first, first + len(rows)))
            column = arrow.FixedSizeListArray.from_arrays(arrow.array(rows.reshape(-1)), width)
            yield arrow.RecordBatch.from_arrays([ids, column], schema=schema)

    return arrow.RecordBatchReader.from_batches(schema, made())


PEERS = {"chroma": chroma, "lancedb": lancedb}
MODULES = {"chroma": "chromadb", "lancedb": "lancedb"}


def measured(ask: Ask, questions: Vectors, truth: NDArray[np.int64]) -> dict[str, float]:
    """Recall, and the time of one question, of the processor and of the clock."""
    for question in questions:
        ask(question)
    began, worked = time.perf_counter(), time.process_time()
    found = [ask(question) for question in questions]
    spent, cpu = time.perf_counter() - began, time.process_time() - worked
    right = sum(len({*row.tolist()} & {*each}) for row, each in zip(truth, found, strict=True))
    return {
        "recall": right / truth.size,
        "cpu_ms": cpu / len(questions) * 1e3,
        "wall_ms": spent / len(questions) * 1e3,
    }


def main() -> None:
    name, effort, *files, where = sys.argv[1:]
    vectors, questions, truth = (np.load(file, mmap_mode="r") for file in files)
    folder, part = Path(where), Path(f"{where}.part")
    import_module(MODULES[name])
    began, worked = time.perf_counter(), time.process_time()
    if not folder.exists():
        # A child that is killed leaves nothing that looks finished.
        shutil.rmtree(part, ignore_errors=True)
        PEERS[name](vectors, part, effort)
        part.rename(folder)
        print(json.dumps({"build_cpu_s": time.process_time() - worked}))
        return
    ask = PEERS[name](vectors, folder, effort)
    ask(questions[0])
    opened = time.perf_counter() - began
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    seen = measured(ask, questions, truth)
    print(json.dumps({"open_s": opened, "bytes": size, **seen}))


if __name__ == "__main__":
    main()
