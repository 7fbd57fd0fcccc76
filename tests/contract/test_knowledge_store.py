"""What every store of record must do: SQLite, and a real PostgreSQL."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.stores import E, Place, all_numbers, document, new_place, ones, pieces, put
from twinsmith.adapters.knowledge.index import SegmentIndex
from twinsmith.adapters.knowledge.store import Store, Vectors, split_identifiers
from twinsmith.core.errors import ConfigError

pytestmark = pytest.mark.xdist_group("durable")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return new_place(request.param, request, tmp_path)


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    opened = place.open()
    yield opened
    opened.close()


def test_what_was_put_is_found_with_its_lineage_after_reopening(place: Place) -> None:
    store = place.open()
    numbers = put(store, document(), "def one(): pass", "def two(): pass")
    identity = store.identity
    store.close()
    again = place.open()
    second, first = again.passages([numbers[1], 999, numbers[0]])
    assert (first.text, first.symbol, first.first_line) == ("def one(): pass", "f0", 0)
    assert (second.path, second.source, second.licence) == ("a.py", "s", "MIT")
    assert (second.version, second.who, second.added) == ("1", "me", "2026")
    assert again.known("s") == {"a.py": "1"}
    assert again.known("other") == {}
    assert again.identity == identity
    again.close()


def test_a_new_version_replaces_the_old_and_leaves_tombstones(store: Store) -> None:
    old = put(store, document(), "alpha", "beta")
    before = store.changed_since(0)
    new = put(store, document(digest="2"), "gamma")
    after = store.changed_since(before.generation)
    assert before.deleted == ()
    assert after.deleted == old
    assert after.newest == new[0] > max(old)
    assert store.changed_since(after.generation).deleted == ()
    assert store.known("s") == {"a.py": "2"}
    assert store.passages(old) == []
    assert store.lexical("alpha beta", 5) == []
    assert all_numbers(store) == list(new)


def test_what_is_known_comes_with_the_oldest_first(store: Store) -> None:
    for path in ("z.py", "b.py", "y.py", "a.py"):
        put(store, document(path), "alpha")
    store.drop("s", "y.py")
    put(store, document("b.py", digest="2"), "beta")
    assert list(store.known("s").items()) == [("z.py", "1"), ("a.py", "1"), ("b.py", "2")]


def test_numbers_are_never_used_twice(store: Store) -> None:
    old = put(store, document(), "alpha")
    store.drop("s")
    assert put(store, document(), "alpha")[0] > old[0]


def test_drop_takes_one_document_or_all_of_a_source(store: Store) -> None:
    put(store, document("a.py"), "alpha")
    put(store, document("b.py"), "alpha", "beta")
    kept = put(store, document("a.py", source="t"), "alpha")
    assert store.drop("s", "none.py") == 0
    assert store.drop("s", "a.py") == 1
    assert store.drop("s") == 1
    assert [number for number, _ in store.lexical("alpha", 5)] == list(kept)
    assert [(s.source, s.documents, s.passages) for s in store.sources()] == [("t", 1, 1)]
    figures = store.stats()
    assert (figures.sources, figures.documents, figures.passages, figures.deleted) == (1, 1, 1, 3)
    assert figures.bytes > 0


def test_a_document_without_pieces_is_known_all_the_same(store: Store) -> None:
    nothing = np.empty((0, 0), dtype=np.float32)
    assert store.put(document(), [], nothing, embedder=E, who="me", added="2026") == ()
    assert store.known("s") == {"a.py": "1"}
    assert store.embedders() == {}
    assert store.without_vector(E, 10) == []


def test_vectors_come_back_in_order_bit_by_bit(store: Store) -> None:
    made = np.random.default_rng(1).normal(size=(5000, 4)).astype(np.float32)
    numbers = store.put(document(), pieces(*["x"] * 5000), made, embedder=E, who="me", added="2026")
    batches = list(store.vectors(E))
    assert len(batches) > 1
    assert np.concatenate([vectors for _, vectors in batches]).tobytes() == made.tobytes()
    assert all_numbers(store) == list(numbers)
    ((some, _),) = store.vectors(E, after=numbers[9], upto=numbers[19])
    assert some.tolist() == list(numbers[10:20])
    assert store.count(E) == 5000
    assert store.count(E, numbers[9], numbers[19]) == 10
    assert list(store.vectors("another")) == []


@pytest.mark.parametrize("bad", [ones(1), ones(2, float("nan")), ones(2, float("inf"))])
def test_vectors_that_do_not_fit_are_refused(store: Store, bad: Vectors) -> None:
    with pytest.raises(ValueError, match="2 pieces need as many finite vectors"):
        store.put(document(), pieces("a", "b"), bad, embedder=E, who="me", added="2026")
    with pytest.raises(ValueError, match="2 passages need as many finite vectors"):
        store.add_vectors(E, [1, 2], bad)


def test_an_embedder_keeps_its_dimensions(store: Store) -> None:
    kept = put(store, document(), "alpha")
    wide = np.ones((1, 8), dtype=np.float32)
    with pytest.raises(ConfigError, match="gave 8 dimensions"):
        store.put(document(), pieces("a"), wide, embedder=E, who="me", added="2026")
    with pytest.raises(ConfigError, match="gave 8 dimensions"):
        store.add_vectors(E, kept, wide)
    assert store.passages(kept)
    store.put(document("b.py"), pieces("a"), wide, embedder="other", who="me", added="2026")
    assert store.known("s") == {"a.py": "1", "b.py": "1"}


def test_old_passages_get_vectors_of_another_embedder(store: Store) -> None:
    old = put(store, document(), "alpha", "beta", "gamma", "delta")
    assert store.without_vector(E, 10) == []
    lacking = store.without_vector("new", 3)
    assert lacking == [(old[0], "f0", "alpha"), (old[1], "f1", "beta"), (old[2], "f2", "gamma")]
    assert store.embedders() == {E: 4}
    assert store.add_vectors("new", old[:2], ones(2, 2.0)) == 2
    assert store.add_vectors("new", old[:2], ones(2, 9.0)) == 0, "twice is harmless"
    new = put(store, document("b.py"), "epsilon", embedder="new")
    assert [number for number, _, _ in store.without_vector("new", 10)] == list(old[2:])
    assert [number for number, _, _ in store.without_vector(E, 10)] == list(new)
    store.drop("s", "a.py")
    assert store.add_vectors("new", old, ones(4)) == 0, "deleted meanwhile"
    assert store.without_vector("new", 10) == []
    assert store.embedders() == {"new": 1}
    assert store.add_vectors("new", [], ones(0)) == 0


def test_the_first_value_of_a_vector_stays(store: Store) -> None:
    numbers = put(store, document(), "alpha")
    store.add_vectors("new", numbers, ones(1, 2.0))
    store.add_vectors("new", numbers, ones(1, 3.0))
    ((_, vectors),) = store.vectors("new")
    assert vectors.tolist() == [[2.0] * 4]


def test_a_vector_given_twice_at_once_is_kept_once(store: Store) -> None:
    numbers = put(store, document(), "alpha", "beta")
    assert store.add_vectors("new", [numbers[1], numbers[0], numbers[1]], ones(3)) == 2
    assert all_numbers(store, "new") == list(numbers)


def test_sources_come_by_name_whatever_the_database_thinks_of_letters(store: Store) -> None:
    for source in ("é", "b", "B", "a b", "ab", "Z", "\N{GRINNING FACE}", "\uffee"):
        put(store, document(source=source), "alpha", "beta")
    found = [(figures.source, figures.passages) for figures in store.sources()]
    names = ["B", "Z", "a b", "ab", "b", "é", "\uffee", "\N{GRINNING FACE}"]
    assert found == [(name, 2) for name in names]


def test_an_embedder_is_forgotten_and_may_come_back(store: Store) -> None:
    numbers = put(store, document(), "alpha", "beta")
    store.add_vectors("new", numbers, ones(2))
    before = store.lineage(E)
    store.drop_embedder(E)
    store.drop_embedder("never seen")
    assert (store.embedders(), store.count(E), list(store.vectors(E))) == ({"new": 2}, 0, [])
    assert [number for number, _, _ in store.without_vector(E, 10)] == list(numbers)
    assert store.passages(numbers)
    put(store, document("b.py"), "gamma")
    assert store.lineage(E) != before


def test_the_lineage_changes_when_old_passages_get_vectors_and_only_then(store: Store) -> None:
    old = put(store, document(), "alpha", "beta")
    first = store.lineage(E)
    put(store, document("b.py"), "gamma")
    store.drop("s", "b.py")
    assert store.add_vectors("new", old[:1], ones(1)) == 1
    assert store.lineage(E) == first
    new = store.lineage("new")
    store.add_vectors("new", old[:1], ones(1))
    assert store.lineage("new") == new
    store.add_vectors("new", old[1:], ones(1))
    assert store.lineage("new") != new


def test_an_index_does_not_miss_what_old_passages_got_later(store: Store, tmp_path: Path) -> None:
    vectors = np.eye(4, dtype=np.float32)
    old = store.put(document(), pieces(*"abcd"), vectors, embedder=E, who="me", added="2026")
    store.add_vectors("new", old[1:2], vectors[1:2])
    one = SegmentIndex(tmp_path / "index", "new", 4)
    two = SegmentIndex(tmp_path / "index", "new", 4)
    for index in (one, two):
        index.refresh(store)
        assert [number for number, _ in index.search(vectors[0], 9)] == [old[1]]
    one.merge(store)
    store.add_vectors("new", old, vectors)
    for index in (one, two, SegmentIndex(tmp_path / "index", "new", 4)):
        index.refresh(store)
        assert index.search(vectors[0], 1) == [(old[0], 1.0)]
        assert len(index.search(vectors[0], 9)) == 4
    assert one.due(store)
    assert one.merge(store)
    two.refresh(store)
    assert (one.segments, [s.count for s in one.segments]) == (two.segments, [4])
    store.drop_embedder("new")
    for index in (one, two):
        index.refresh(store)
        assert index.search(vectors[0], 9) == []


@pytest.mark.parametrize(
    "query",
    [
        *("parse", "json", "parse_json", "FILE", "readFile", "io.readFile", "std::vector"),
        *("vector", "größe", "GROßE", "cafe", "CAFÉ"),
    ],
)
def test_a_name_is_found_by_its_parts_and_as_a_whole(store: Store, query: str) -> None:
    put(store, document("noise.py"), "nothing to see", "here neither")
    wanted = put(store, document(), "x = parse_json(io.readFile(größe)); std::vector<int> café;")
    ((number, score),) = store.lexical(query, 5)
    assert number == wanted[0]
    assert score > 0


def test_the_rarer_word_counts_more_and_the_language_filters(store: Store) -> None:
    put(store, document(), *[f"value common{n}" for n in range(20)])
    rare = put(store, document("b.py"), "value unusual")
    assert store.lexical("value unusual", 3)[0][0] == rare[0]
    assert len(store.lexical("value", 3)) == 3
    assert store.lexical("value", 0) == []
    assert store.lexical("value unusual", 3, "python")[0][0] == rare[0]
    assert store.lexical("value", 3, "rust") == []


def test_what_says_it_more_often_and_more_briefly_comes_first(store: Store) -> None:
    filler = " ".join(f"filler{n}" for n in range(300))
    texts = (f"needle {filler}", "needle thread", "needle needle", filler)
    long, short, twice, _ = put(store, document(), *texts)
    assert [number for number, _ in store.lexical("needle", 5)] == [twice, short, long]


def test_words_that_are_everywhere_are_scored_only_when_there_is_nothing_rarer(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinsmith.adapters.knowledge.store.MOST_MATCHES", 10)
    put(store, document(), *[f"value common{n}" for n in range(20)])
    rare = put(store, document("b.py"), "unusual", "unusual common3")
    assert {number for number, _ in store.lexical("value unusual", 30)} == set(rare)
    assert len(store.lexical("value", 30)) == 20
    assert len(store.lexical("common3 unusual", 30)) == 3


@pytest.mark.parametrize(
    "query",
    [
        *('"', "'", "*", "val*", "NEAR(", "NEAR(value other, 5)", "text:value", "words:value"),
        *("- value", "value AND", "^value", "{text} : value", "value + other", "(", ")", "\0"),
        *('"value" OR "', "value;DROP TABLE words", "", "   ", "value " * 20_000, "a." * 50_000),
        *("x" * 100_000, "(" * 100_000, " ".join(f"w{n}" for n in range(20_000)), "\ud800 値"),
        *("value:*", "!value", "value <-> other", "'value' & !'x'", "value\\", "%s value"),
    ],
    ids=lambda query: repr(query[:12]),
)
def test_a_question_is_data(store: Store, query: str) -> None:
    found = put(store, document(), "value")
    expected = [found[0]] if "value" in split_identifiers(query) else []
    assert [number for number, _ in store.lexical(query, 5)] == expected
    assert store.lexical("value", 5), "the table is still there"


def test_what_no_database_takes_is_replaced(store: Store) -> None:
    odd = document("\ud800/\0.py", source="s\udfff")
    numbers = put(store, odd, "alpha \ud83d \0 beta\\x", "'quoted' \\ %s \t\n")
    first, second = store.passages(numbers)
    assert (first.source, first.path) == ("s\ufffd", "\ufffd/\ufffd.py")
    assert (first.text, second.text) == (
        "alpha \ufffd \ufffd beta\\x",
        "'quoted' \\ %s \t\n",
    )
    assert store.known("s\udfff") == {"\ufffd/\ufffd.py": "1"}
    assert put(store, odd, "again") != numbers
    assert store.passages(numbers) == []
    assert store.lexical("again", 1, "\ud800") == []
    assert store.drop("s\udfff", "\ud800/\0.py") == 1


def test_what_is_very_long_is_kept(store: Store) -> None:
    path, text = "p" * 9_000, " ".join(f"word{n}" for n in range(120_000))
    numbers = put(store, document(path), text, "needle " * 20_000)
    assert [len(passage.text) for passage in store.passages(numbers)] == [len(text), 140_000]
    assert store.lexical("word7", 1)[0][0] == numbers[0]
    assert store.lexical("needle", 1)[0][0] == numbers[1]
    assert put(store, document(path), "short") != numbers
    assert store.stats().documents == 1


def test_threads_share_a_store(store: Store) -> None:
    def add(name: str) -> None:
        for n in range(10):
            put(store, document(f"{name}{n}"), "alpha", "beta")
            assert store.lexical("alpha", 1)

    threads = [threading.Thread(target=add, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.stats().passages == 80


WRITER = """
    name, most = sys.argv[3], int(sys.argv[4])
    for n in range(most):
        print(n, *put(store, document(str(n % 50), str(n), name), *["alpha beta"] * 3), flush=True)
"""


def test_processes_write_at_once_even_at_the_very_first_time(place: Place) -> None:
    children = [place.child(WRITER, name, "20") for name in "abc"]
    said = [child.communicate() for child in children]
    assert [told for _, told in said] == ["", "", ""]
    given = [line.split()[1:] for lines, _ in said for line in lines.splitlines()]
    numbers = [number for line in given for number in line]
    assert len(set(numbers)) == len(numbers) == 3 * 20 * 3
    store = place.open()
    assert store.stats().passages == 3 * 20 * 3
    assert store.changed_since(0).generation == 60
    store.close()


def test_whoever_sees_a_number_sees_all_lower_ones(place: Place) -> None:
    """A reader that remembers the highest number it saw must never have missed one."""
    store = place.open()
    children = [place.child(WRITER, name, "40") for name in "abc"]
    seen: list[int] = []
    while any(child.poll() is None for child in children):
        after = seen[-1] if seen else 0
        seen += [n for numbers, _ in store.vectors(E, after) for n in numbers.tolist()]
        time.sleep(0.001)
    for child in children:
        assert child.communicate()[1] == ""
    seen += [
        n for numbers, _ in store.vectors(E, seen[-1] if seen else 0) for n in numbers.tolist()
    ]
    assert seen == all_numbers(store) == list(range(1, 361))
    store.close()


@pytest.mark.parametrize("lines", [1, 30, 130])
def test_nothing_acknowledged_is_lost_when_killed(place: Place, lines: int) -> None:
    with place.child(WRITER, "s", "100000") as child:
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(lines)]
        child.kill()
        said += [line for line in child.stdout if line.endswith("\n")]
    store = place.open()
    known = store.known("s")
    last = {str(n % 50): n for n in range(len(said))}
    for document_path, n in last.items():
        # One more may have been written than was said.
        assert int(known[document_path]) in (n, n + 50)
    kept = all_numbers(store)
    assert len(kept) == 3 * len(known), "a document is there as a whole or not at all"
    assert {number for number, _ in store.lexical("alpha", 10_000)} == set(kept)
    gone = set(store.changed_since(0).deleted)
    assert not gone & set(kept)
    spoken = {int(number) for line in said for number in line.split()[1:]}
    assert spoken <= gone | set(kept)
    assert put(store, document("after"), "alpha")[0] > max(spoken)
    store.close()
    if not place.schema:
        checked = sqlite3.connect(place.address)
        assert checked.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        checked.execute("INSERT INTO words(words) VALUES ('integrity-check')")
        checked.close()
