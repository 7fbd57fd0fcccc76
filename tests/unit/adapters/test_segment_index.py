"""Segments: which kind, how near, what a crash or a damaged file leaves, and deletions."""

import json
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from twinsmith.adapters.knowledge import manifest
from twinsmith.adapters.knowledge.index import Load, SegmentIndex, merge_from
from twinsmith.adapters.knowledge.manifest import MANIFEST
from twinsmith.adapters.knowledge.segments import Kind, Limits, kind_for, lists_for, recipe
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.adapters.knowledge.store import Vectors
from twinsmith.core.errors import EngineError
from twinsmith.core.knowing.knowledge import Document, Piece

E = "minilm"
WIDE = 128
ONLY: dict[Kind, Limits] = {
    "flat": Limits(),
    "hnsw": Limits(hnsw_from=1),
    "ivf": Limits(hnsw_from=1, ivf_from=1),
}
PIECE = Piece(text="x", symbol="f", first_line=1, last_line=2)


def clustered(count: int, seed: int = 0) -> Vectors:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(40, WIDE))
    made = centres[rng.integers(0, 40, count)] + 0.7 * rng.normal(size=(count, WIDE))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype(np.float32)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "knowledge.db")
    yield opened
    opened.close()


def put(store: SqliteStore, path: str, vectors: Vectors) -> tuple[int, ...]:
    document = Document(source="s", path=path, text="", digest="1", language="python")
    return store.put(document, [PIECE] * len(vectors), vectors, embedder=E, who="me", added="2026")


def opened(
    store: SqliteStore, tmp_path: Path, limits: Limits = ONLY["flat"], embedder: str = E
) -> SegmentIndex:
    index = SegmentIndex(tmp_path / "index", embedder, WIDE, limits)
    index.refresh(store)
    return index


def recall(store: SqliteStore, index: SegmentIndex, k: int = 10, asked: int = 40) -> float:
    numbers, vectors = zip(*store.vectors(E), strict=True)
    names, all_vectors = np.concatenate(numbers), np.concatenate(vectors)
    questions = clustered(asked, seed=7)
    right = 0
    for question in questions:
        wanted = set(names[np.argsort(-(all_vectors @ question))[:k]].tolist())
        right += len(wanted & {number for number, _ in index.search(question, k)})
    return right / (k * asked)


def test_the_kind_goes_by_the_count() -> None:
    kinds = [kind_for(count) for count in (0, 19_999, 20_000, 499_999, 500_000, 10_000_000)]
    assert kinds == ["flat", "flat", "hnsw", "hnsw", "ivf", "ivf"]
    assert recipe("ivf", 1_000_000) == "IVF1024,RaBitQfs,Refine(SQ8)"
    assert [lists_for(count) for count in (0, 1, 100, 4_000_000)] == [1, 1, 2, 2048]


@pytest.mark.parametrize(
    ("loads", "fresh", "first"),
    [
        ([], 5, 0),
        ([(100, 100)], 5, 1),
        ([(100, 100)], 50, 0),
        ([(100, 100), (20, 20), (6, 6)], 3, 2),
        ([(100, 100), (20, 20), (6, 6)], 5, 1),
        ([(100, 100), (20, 20)], 0, 2),
        ([(100, 74), (20, 20)], 0, 0),
        ([(100, 76), (20, 14)], 0, 1),
    ],
)
def test_small_and_outdated_segments_are_merged(
    loads: list[tuple[int, int]], fresh: int, first: int
) -> None:
    assert merge_from([Load(count=count, live=live) for count, live in loads], fresh) == first


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
def test_every_kind_agrees_with_comparing_all(
    store: SqliteStore, tmp_path: Path, kind: Kind
) -> None:
    put(store, "a", clustered(4000))
    index = opened(store, tmp_path, ONLY[kind])
    assert recall(store, index) == 1.0, "what is fresh is compared one by one"
    assert index.merge(store)
    assert [(s.kind, s.count) for s in index.segments] == [(kind, 4000)]
    assert recall(store, index) >= 0.95
    again = opened(store, tmp_path, ONLY[kind])
    assert again.messages() == []
    assert recall(store, again) >= 0.95
    ((number, score),) = again.search(clustered(4000)[17], 1)
    assert number == 18
    assert score == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
def test_what_is_deleted_never_comes_back(store: SqliteStore, tmp_path: Path, kind: Kind) -> None:
    vectors = clustered(3000)
    near = np.argsort(-(vectors @ vectors[0]))
    put(store, "near", vectors[near[:600]])
    put(store, "far", vectors[near[600:]])
    index = opened(store, tmp_path, ONLY[kind])
    index.merge(store)
    gone = set(range(1, 601))
    assert {number for number, _ in index.search(vectors[0], 20)} <= gone
    store.drop("s", "near")
    others = [index, opened(store, tmp_path, ONLY[kind])]
    index.refresh(store)
    for one in others:
        found = [number for number, _ in one.search(vectors[0], 20)]
        assert len(found) == 20, "more is asked for when all that is near is gone"
        assert not gone & set(found)
    assert not index.due(store), "a fifth of it is deleted"
    put(store, "near", vectors[near[:600]])
    store.drop("s", "near")
    index.refresh(store)
    index.merge(store)
    assert not gone & {number for number, _ in index.search(vectors[0], 2400)}


def test_outdated_segments_are_due_and_shrink(store: SqliteStore, tmp_path: Path) -> None:
    put(store, "a", clustered(300))
    put(store, "b", clustered(700, seed=1))
    index = opened(store, tmp_path)
    assert index.merge(store)
    assert not index.merge(store), "nothing to do"
    store.drop("s", "a")
    index.refresh(store)
    assert index.due(store)
    assert index.merge(store)
    assert [segment.count for segment in index.segments] == [700]
    store.drop("s")
    index.refresh(store)
    assert index.search(clustered(1)[0], 5) == []
    assert index.merge(store)
    assert index.segments == ()
    assert index.search(clustered(1)[0], 5) == []


def test_segments_stay_few_while_documents_come_and_go(store: SqliteStore, tmp_path: Path) -> None:
    index = opened(store, tmp_path, Limits(fresh=50))
    for n in range(40):
        put(store, str(n % 30), clustered(20, seed=n))
        index.refresh(store)
        if index.due(store):
            assert index.merge(store)
        assert recall(store, index, asked=3) == 1.0
    assert 1 <= len(index.segments) <= 5
    assert len(list((tmp_path / "index").glob("*.faiss"))) == len(index.segments)


def test_too_much_for_memory_is_merged_at_once(store: SqliteStore, tmp_path: Path) -> None:
    put(store, "a", clustered(500))
    index = opened(store, tmp_path, Limits(memory=400, hnsw_from=450))
    assert [(segment.kind, segment.count) for segment in index.segments] == [("flat", 500)]
    assert recall(store, index) == 1.0
    assert index.due(store), "a graph is built when there is time"
    assert index.merge(store)
    assert [(segment.kind, segment.count) for segment in index.segments] == [("hnsw", 500)]
    assert not index.due(store)


def test_some_are_skipped_and_little_is_asked_of_little(store: SqliteStore, tmp_path: Path) -> None:
    vectors = clustered(30)
    numbers = put(store, "a", vectors)
    index = opened(store, tmp_path)
    for _ in range(2):
        assert len(index.search(vectors[0], 100)) == 30
        assert index.search(vectors[0], 0) == []
        left = index.search(vectors[0], 5, skip=set(numbers[:27]))
        assert {number for number, _ in left} == set(numbers[27:])
        index.merge(store)
    assert index.segments


def test_what_is_fresh_is_deleted_too(store: SqliteStore, tmp_path: Path) -> None:
    put(store, "a", clustered(30))
    index = opened(store, tmp_path)
    new = put(store, "a", clustered(10))
    index.refresh(store)
    assert {number for number, _ in index.search(clustered(1)[0], 50)} == set(new)


def garble(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def forge(path: Path) -> None:
    named = json.loads(path.read_text())
    named["body"]["segments"][0]["count"] = "many"
    path.write_text(json.dumps(named))


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
@pytest.mark.parametrize("harm", [garble, truncate, Path.unlink])
def test_a_damaged_segment_is_left_out_and_built_again(
    store: SqliteStore, tmp_path: Path, kind: Kind, harm: Callable[[Path], object]
) -> None:
    put(store, "a", clustered(2000))
    opened(store, tmp_path, ONLY[kind]).merge(store)
    (path,) = (tmp_path / "index").glob("*.faiss")
    harm(path)
    index = opened(store, tmp_path, ONLY[kind])
    (message,) = index.messages()
    assert path.name in message
    assert message.endswith("it is left out and built again from the store")
    assert index.segments == ()
    assert recall(store, index) == 1.0
    assert index.due(store)
    assert index.merge(store)
    again = opened(store, tmp_path, ONLY[kind])
    assert (again.messages(), len(again.segments), again.due(store)) == ([], 1, False)
    assert not path.exists()
    assert recall(store, again) >= 0.95


@pytest.mark.parametrize("harm", [truncate, forge, garble])
def test_a_damaged_manifest_is_built_again(
    store: SqliteStore, tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    put(store, "a", clustered(200))
    opened(store, tmp_path).merge(store)
    harm(tmp_path / "index" / MANIFEST)
    index = opened(store, tmp_path)
    assert recall(store, index) == 1.0
    assert index.merge(store)
    assert opened(store, tmp_path).messages() == []


def test_only_what_follows_the_damage_is_read_again(store: SqliteStore, tmp_path: Path) -> None:
    index = opened(store, tmp_path)
    for name, count in (("a", 1000), ("b", 300), ("c", 100)):
        put(store, name, clustered(count, seed=count))
        index.merge(store)
    assert [segment.count for segment in index.segments] == [1000, 300, 100]
    garble(tmp_path / "index" / index.segments[1].name)
    again = opened(store, tmp_path)
    assert [segment.count for segment in again.segments] == [1000]
    assert recall(store, again) == recall(store, index) == 1.0, "who has it open never sees it"


def test_an_index_of_another_store_or_embedder_is_not_used(
    store: SqliteStore, tmp_path: Path
) -> None:
    put(store, "a", clustered(200))
    opened(store, tmp_path).merge(store)
    stranger = opened(store, tmp_path, embedder="another")
    assert "is of embedder 'minilm', not 'another'" in stranger.messages()[0]
    assert stranger.search(clustered(1)[0], 3) == []
    other = SqliteStore(tmp_path / "other.db")
    index = opened(other, tmp_path)
    assert "is of another store" in index.messages()[0]
    assert index.search(clustered(1)[0], 3) == []
    other.close()


def test_another_process_takes_over_what_was_merged(store: SqliteStore, tmp_path: Path) -> None:
    put(store, "a", clustered(500))
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    one.merge(store)
    put(store, "b", clustered(400, seed=3))
    two.refresh(store)
    assert two.segments == one.segments
    assert two.merge(store)
    put(store, "a", clustered(50, seed=4))
    one.refresh(store)
    assert one.segments == two.segments
    assert recall(store, one) == 1.0
    two.merge(store)
    garble(tmp_path / "index" / two.segments[0].name)
    put(store, "c", clustered(2000, seed=6))
    for index in (opened(store, tmp_path), one):
        index.refresh(store)
        assert len(index.messages()) == 1
        assert recall(store, index) == 1.0
        assert len({*index.search(clustered(1)[0], 5000)}) == store.count(E)


def test_a_manifest_that_is_switched_while_it_is_followed_is_no_damage(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "a", clustered(50))
    one = opened(store, tmp_path)
    one.merge(store)
    stale = (tmp_path / "index" / MANIFEST).read_bytes()
    put(store, "b", clustered(50))
    one.merge(store)
    two = SegmentIndex(tmp_path / "index", E, WIDE)
    read, stales = manifest.read, [stale]
    monkeypatch.setattr(
        "twinsmith.adapters.knowledge.index.read",
        lambda folder: stales.pop() if stales else read(folder),
    )
    two.refresh(store)
    assert (two.messages(), two.segments) == ([], one.segments)


def test_searches_go_on_while_others_merge(store: SqliteStore, tmp_path: Path) -> None:
    put(store, "a", clustered(500))
    index, other = opened(store, tmp_path), opened(store, tmp_path)
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            index.refresh(store)
            assert len(index.search(clustered(1)[0], 10)) == 10

    with ThreadPoolExecutor(2) as pool:
        searching = [pool.submit(search) for _ in range(2)]
        for n in range(12):
            put(store, str(n), clustered(60, seed=n))
            (index, other)[n % 2].merge(store, wait=True)
        stop.set()
        for one in searching:
            one.result()
    assert index.messages() == other.messages() == []
    index.refresh(store)
    assert recall(store, index) == 1.0


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="cannot be made"):
        SegmentIndex(tmp_path / "file" / "index", E, WIDE)


MERGER = """
    import os, signal, sys
    from pathlib import Path
    from twinsmith.adapters.knowledge.index import SegmentIndex
    from twinsmith.adapters.knowledge.sqlite_store import SqliteStore

    folder, nth, when = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    rename, calls = Path.rename, []

    def deadly(self, target):
        calls.append(target)
        if len(calls) == nth and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if len(calls) == nth and when == "half":
            os.truncate(self, 100)
            os.kill(os.getpid(), signal.SIGKILL)
        rename(self, target)
        if len(calls) == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    Path.rename = deadly
    store = SqliteStore(folder / "knowledge.db")
    SegmentIndex(folder / "index", "minilm", 128).merge(store)
"""


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("when", ["half", "before", "after"])
def test_killed_while_merging_it_is_old_or_new(
    store: SqliteStore, tmp_path: Path, nth: int, when: str
) -> None:
    put(store, "a", clustered(300))
    put(store, "b", clustered(300, seed=1))
    before = opened(store, tmp_path)
    before.merge(store)
    put(store, "a", clustered(300, seed=2))
    command = [sys.executable, "-c", textwrap.dedent(MERGER), str(tmp_path), str(nth), when]
    assert subprocess.run(command, check=False).returncode == -9
    index = opened(store, tmp_path)
    assert index.messages() == []
    assert (index.segments != before.segments) == (nth == 2 and when == "after")
    assert recall(store, index) == 1.0
    put(store, "c", clustered(600, seed=5))
    assert index.merge(store)
    assert {p.name for p in (tmp_path / "index").iterdir()} == {
        *("lock", MANIFEST, *(segment.name for segment in index.segments))
    }
