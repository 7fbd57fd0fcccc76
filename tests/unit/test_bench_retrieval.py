"""The pieces of the bench of retrieval, on tiny sizes and without a model."""

import sys
from pathlib import Path

import numpy as np
import pytest

from bench import retrieval_index, retrieval_mixed, retrieval_peers, retrieval_queries
from bench.retrieval_index import Case, calculated, ours, peers
from bench.retrieval_mixed import Answered, fused, interval, reciprocal, ruled
from bench.retrieval_pieces import PIECES, sentences
from bench.retrieval_programs import Found, Hit, at, judged
from bench.retrieval_queries import Query, error_queries, name_queries
from bench.retrieval_texts import as_embedded, cosqa
from bench.retrieval_vectors import DIMENSIONS, QUESTIONS, Bed, Rows, nearest_rows, recall
from twinsmith.adapters.knowledge.starter import documents, entries
from twinsmith.adapters.knowledge.store import Vectors


def rows(count: int, seed: int) -> Vectors:
    made = np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)
    unit: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    """With vectors in its folder that no model has to make."""
    np.save(tmp_path / "library-60-0.npy", rows(60, 1))
    np.save(tmp_path / "questions-0.npy", rows(20, 2))
    return Bed(cache=tmp_path, data=tmp_path / "nowhere", pieces=60)


def test_vectors_are_made_once_and_lie_around_real_ones(bed: Bed) -> None:
    made = bed.like_real(300)
    assert made.shape == (300, DIMENSIONS)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    assert (made @ bed.real.T).max(axis=1).mean() > 3 * (rows(50, 3) @ bed.real.T).max(
        axis=1
    ).mean()
    again = Bed(cache=bed.cache, data=bed.data, pieces=60).like_real(300)
    assert np.array_equal(made, again)
    hard, questions = bed.hard(100)
    assert (hard.shape, questions.shape) == ((100, DIMENSIONS), (QUESTIONS, DIMENSIONS))


def test_the_true_nearest_are_found_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.retrieval_vectors.BLOCK", 7)
    vectors, questions = rows(50, 4), rows(5, 5)
    found = nearest_rows(vectors, questions, 3)
    assert found.tolist() == np.argsort(-(questions @ vectors.T), axis=1)[:, :3].tolist()
    assert recall(found, [row.tolist() for row in found]) == 1.0
    assert recall(found, [[*row.tolist()[:1], -1, -2] for row in found]) == pytest.approx(1 / 3)
    some = Rows(vectors)
    assert [numbers.tolist() for numbers, _ in some.vectors("x", 40)] == [
        [*range(41, 48)],
        [48, 49, 50],
    ]
    assert (some.count("x", 40), some.changed_since(0).newest) == (10, 50)


def test_our_index_is_built_opened_and_asked(bed: Bed, capsys: pytest.CaptureFixture[str]) -> None:
    case = retrieval_index.like_real(bed, 400)
    seen = ours(case, bed.cache)
    assert (seen.recall, seen.what) == (1.0, "flat")
    assert seen.megabytes > 400 * DIMENSIONS * 4 / 1e6
    larger = calculated(seen, 400, 100)
    assert larger.megabytes == pytest.approx(100 * seen.megabytes)
    retrieval_index.table([("a", seen), ("b", larger)])
    assert "calculated" in capsys.readouterr().out


def test_peers_that_are_not_installed_are_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval_peers, "MODULES", {"chroma": "no_such_module"})
    questions = rows(2, 6)
    case = Case(name="x", vectors=questions, questions=questions, truth=np.zeros((2, 1), np.int64))
    assert list(peers(case, tmp_path, sys.executable, 0.9)) == []
    assert "chroma: skipped, not in" in capsys.readouterr().out


def test_absent_data_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cosqa(tmp_path, "test") is None
    assert "CoSQA: skipped" in capsys.readouterr().out
    assert as_embedded("def alpha(x):\n    return x\n").startswith("alpha\ndef alpha")


def test_every_error_has_its_entry_and_both_halves_differ() -> None:
    titles = [entry.title for entry in entries()]
    seen, unseen = (error_queries(split, titles) for split in ("dev", "test"))
    assert min(len(seen), len(unseen)) >= 40
    assert not {query.text for query in seen} & {query.text for query in unseen}
    with pytest.raises(ValueError, match="no entry of the starter"):
        error_queries("dev", ["something else"])


def test_names_are_typed_as_people_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval_queries, "NAMES", 40)
    sources = [
        f"def read_part_{n}(path):\n    return os.path.{n * 'x'}y(path)\n" for n in range(30)
    ]
    made = name_queries(sources, 3)
    assert len(made) == 40
    assert made == name_queries(sources, 3) != name_queries(sources, 4)
    assert any("os.path." in query.text for query in made)
    assert any(query.text.startswith("read part") for query in made)


def test_ranks_and_ways() -> None:
    query = Query(group="names", text="read_text", answers=frozenset({"b"}))
    each = Answered(query=query, dense=["a", "b"], lexical=["b", "c"])
    assert [reciprocal(query, found) for found in (each.dense, each.lexical, [])] == [0.5, 1.0, 0.0]
    assert fused(each)[0] == "b"
    assert ruled(each) == each.lexical
    assert ruled(Answered(query=query, dense=["a"], lexical=[])) == ["a"]
    assert set(retrieval_mixed.WAYS) == {"dense", "lexical", "fused", "rule"}


def test_the_interval_knows_a_difference_from_chance() -> None:
    rng = np.random.default_rng(0)
    one, noise = rng.random(200), rng.normal(0, 0.01, 200)
    low, high = interval([one], [one - 0.1 + noise], seed=0)
    assert 0.09 < low < high < 0.11
    low, high = interval([one], [one + noise], seed=0)
    assert low < 0 < high


def test_every_piece_has_a_right_passage_that_is_there() -> None:
    titles = [document.path.partition("#")[2] for document in documents()]
    for question in (*PIECES, *sentences()):
        assert not question.right or any(judged(question, title) for title in titles), question
    assert sum(bool(question.right) for question in PIECES) == 40


def test_a_threshold_counts_who_is_helped_and_who_is_only_misled() -> None:
    def found(*hits: tuple[float, bool]) -> Found:
        rows = tuple(Hit(score=s, name="", right=right, pack=False) for s, right in hits)
        return Found(asked=PIECES[0], hits=rows)

    all_of_them = [found((0.6, False), (0.5, True)), found((0.5, False)), found((0.4, True))]
    assert at(all_of_them, 0.5, 3, pack=False) == (1, 1, 3, 2)
    assert at(all_of_them, 0.5, 1, pack=False) == (0, 2, 2, 2)
    assert at(all_of_them, 0.4, 1, pack=True) == (0, 0, 0, 0)
