"""Our index and others on the same vectors: what was found, and what it took."""

import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import retrieval_peers
from bench.retrieval_vectors import DIMENSIONS, Bed, K, Rows, recall
from twinsmith.adapters.knowledge.index import SegmentIndex
from twinsmith.adapters.knowledge.segments import Segment, lists_for
from twinsmith.adapters.knowledge.store import Numbers, Vectors

EFFORTS = {
    "chroma": ("10", "20", "50", "100", "200", "400", "800"),
    "lancedb": ("1,20,1", "1,50,1", "2,50,2", "2,100,2", "4,100,2", "8,200,4"),
}
PEER_INSTALL = "python3 -m venv PEER && PEER/bin/pip install chromadb lancedb"
OPENED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Vectors, questions and true answers; each has a file for those who run elsewhere."""

    name: str
    vectors: Vectors
    questions: Vectors
    truth: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one index took; times of a question are means."""

    what: str
    recall: float
    cpu_ms: float
    wall_ms: float
    megabytes: float
    open_s: float
    build_cpu_s: float = float("nan")
    memory_mb: float = float("nan")
    """Of its own: what is mapped from a file can go at any time."""


def like_real(bed: Bed, count: int) -> Case:
    vectors = bed.like_real(count)
    truth = bed.truth("like", vectors, bed.questions)
    return Case(name=f"like-{count}", vectors=vectors, questions=bed.questions, truth=truth)


def hard(bed: Bed, count: int) -> Case:
    vectors, questions = bed.hard(count)
    truth = bed.truth("hard", vectors, questions)
    return Case(name=f"hard-{count}", vectors=vectors, questions=questions, truth=truth)


def ours(case: Case, cache: Path) -> Figures:
    """The product's own index: built if it is not there, then opened anew and asked."""
    folder, rows = cache / f"ours-{case.name}", Rows(case.vectors)
    build = built(folder, rows)
    index, _ = opened(folder, rows, case.questions[0])
    before = anonymous_mb()
    # The first of a process also takes what every program with FAISS in it takes once.
    again = [opened(folder, rows, case.questions[0]) for _ in range(OPENED)]
    memory = (anonymous_mb() - before) / OPENED
    for question in case.questions:  # What they touch is mapped from then on.
        index.search(question, K)
    began, worked = time.perf_counter(), time.process_time()
    found = [[number - 1 for number, _ in index.search(q, K)] for q in case.questions]
    spent, cpu = time.perf_counter() - began, time.process_time() - worked
    return Figures(
        what=", ".join(described(segment) for segment in index.segments) or "compared one by one",
        recall=recall(case.truth, found),
        cpu_ms=cpu / len(found) * 1e3,
        wall_ms=spent / len(found) * 1e3,
        megabytes=folder_bytes(folder) / 1e6,
        open_s=statistics.median(seconds for _, seconds in again),
        build_cpu_s=build,
        memory_mb=memory,
    )


def opened(folder: Path, rows: Rows, question: Vectors) -> tuple[SegmentIndex, float]:
    """An index that has answered its first question, and the seconds until then."""
    began = time.perf_counter()
    index = SegmentIndex(folder, "bench", DIMENSIONS)
    index.refresh(rows)
    index.search(question, K)
    return index, time.perf_counter() - began


def built(folder: Path, rows: Rows) -> float:
    """Processor seconds of building it; remembered beside it."""
    note = folder.with_suffix(".json")
    if not note.exists():
        shutil.rmtree(folder, ignore_errors=True)
        worked = time.process_time()
        index = SegmentIndex(folder, "bench", DIMENSIONS)
        index.merge(rows, wait=True)
        note.write_text(json.dumps(time.process_time() - worked))
    return float(json.loads(note.read_text()))


def described(segment: Segment) -> str:
    lists = f" of {lists_for(segment.count)} lists" if segment.kind == "ivf" else ""
    return f"{segment.kind}{lists}"


def peers(case: Case, cache: Path, python: str, least: float) -> Iterator[Figures]:
    """The others, each with the first effort that finds as much as we do, or its last."""
    for name, module in retrieval_peers.MODULES.items():
        if subprocess.call([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL):
            print(f"{name}: skipped, not in {python}; {PEER_INSTALL}; then --peer PEER/bin/python")
            continue
        yield peer(name, case, cache, python, least)


def peer(name: str, case: Case, cache: Path, python: str, least: float) -> Figures:
    folder = cache / f"{name}-{case.name}"
    files = [cache / f"asked-{case.name}-{part}.npy" for part in ("vectors", "questions", "truth")]
    if not files[-1].exists():
        np.save(files[0], case.vectors)
        np.save(files[1], case.questions)
        np.save(files[2], case.truth)
    note = folder.with_suffix(".json")
    for effort in EFFORTS[name]:
        line = [python, retrieval_peers.__file__, name, effort, *map(str, files), str(folder)]
        if not folder.exists():
            note.write_text(_last_line(line))
        seen = json.loads(_last_line(line))
        shown = Figures(
            what=f"{name}, effort {effort}",
            recall=seen["recall"],
            cpu_ms=seen["cpu_ms"],
            wall_ms=seen["wall_ms"],
            megabytes=seen["bytes"] / 1e6,
            open_s=seen["open_s"],
            build_cpu_s=json.loads(note.read_text())["build_cpu_s"],
        )
        if shown.recall >= least:
            break
    return shown


def _last_line(line: list[str]) -> str:
    said = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return said.stdout.decode().strip().splitlines()[-1]


def calculated(largest: Figures, count: int, times: int) -> Figures:
    """So many times as much, by arithmetic: every part that is scanned or kept grows with it."""
    return replace(
        largest,
        what=f"ivf of {lists_for(count * times)} lists, calculated",
        recall=float("nan"),
        cpu_ms=largest.cpu_ms * times,
        wall_ms=largest.wall_ms * times,
        megabytes=largest.megabytes * times,
        open_s=float("nan"),
        build_cpu_s=largest.build_cpu_s * times * times**0.5,
        memory_mb=largest.memory_mb * times,
    )


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def anonymous_mb() -> float:
    """Memory of this process that no file stands behind."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("RssAnon"))
    return int(kilobytes) / 1e3


def table(rows: list[tuple[str, Figures]]) -> None:
    print(
        f"{'':<30}{'recall@10':>10}{'CPU ms':>9}{'wall ms':>9}{'disk MB':>9}{'memory':>8}"
        f"{'open s':>8}{'build CPU s':>13}"
    )
    for name, row in rows:
        print(
            f"{name[:29]:<30}{row.recall:10.3f}{row.cpu_ms:9.2f}{row.wall_ms:9.2f}"
            f"{row.megabytes:9.0f}{row.memory_mb:8.0f}{row.open_s:8.2f}{row.build_cpu_s:13.0f}"
            f"  {row.what}"
        )
