"""The store of record: versions, deletions, words, crashes and company."""

import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from twinsmith.adapters.knowledge.store import KnowledgeStore, Vectors, split_identifiers
from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.knowledge import Document, Piece

E = "minilm"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = KnowledgeStore(tmp_path / "k" / "knowledge.db")
    yield opened
    opened.close()


def document(path: str = "a.py", digest: str = "1", source: str = "s") -> Document:
    return Document(
        source=source, path=path, text="", digest=digest, language="python", licence="MIT"
    )


def pieces(*texts: str) -> list[Piece]:
    return [
        Piece(text=text, symbol=f"f{n}", first_line=n, last_line=n + 1)
        for n, text in enumerate(texts)
    ]


def ones(count: int, value: float = 1.0) -> Vectors:
    return np.full((count, 4), value, dtype=np.float32)


def put(store: KnowledgeStore, of: Document, *texts: str) -> tuple[int, ...]:
    return store.put(of, pieces(*texts), ones(len(texts)), embedder=E, who="me", added="2026")


def all_numbers(store: KnowledgeStore) -> list[int]:
    return [number for numbers, _ in store.vectors(E) for number in numbers.tolist()]


def test_what_was_put_is_found_with_its_lineage_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.db"
    store = KnowledgeStore(path)
    numbers = put(store, document(), "def one(): pass", "def two(): pass")
    store.close()
    again = KnowledgeStore(path)
    second, first = again.passages([numbers[1], 999, numbers[0]])
    assert (first.text, first.symbol, first.first_line) == ("def one(): pass", "f0", 0)
    assert (second.path, second.source, second.licence) == ("a.py", "s", "MIT")
    assert (second.version, second.who, second.added) == ("1", "me", "2026")
    assert again.known("s") == {"a.py": "1"}
    assert again.known("other") == {}
    again.close()


def test_a_new_version_replaces_the_old_and_leaves_tombstones(store: KnowledgeStore) -> None:
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


def test_numbers_are_never_used_twice(store: KnowledgeStore) -> None:
    old = put(store, document(), "alpha")
    store.drop("s")
    assert put(store, document(), "alpha")[0] > old[0]


def test_drop_takes_one_document_or_all_of_a_source(store: KnowledgeStore) -> None:
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


def test_a_document_without_pieces_is_known_all_the_same(store: KnowledgeStore) -> None:
    nothing = np.empty((0, 0), dtype=np.float32)
    assert store.put(document(), [], nothing, embedder=E, who="me", added="2026") == ()
    assert store.known("s") == {"a.py": "1"}
    assert store.known("s", "another") == {}


def test_vectors_come_back_in_order_bit_by_bit(store: KnowledgeStore) -> None:
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
def test_vectors_that_do_not_fit_are_refused(store: KnowledgeStore, bad: Vectors) -> None:
    with pytest.raises(ValueError, match="2 pieces need as many finite vectors"):
        store.put(document(), pieces("a", "b"), bad, embedder=E, who="me", added="2026")


def test_an_embedder_keeps_its_dimensions(store: KnowledgeStore) -> None:
    kept = put(store, document(), "alpha")
    wide = np.ones((1, 8), dtype=np.float32)
    with pytest.raises(ConfigError, match="gave 8 dimensions"):
        store.put(document(), pieces("a"), wide, embedder=E, who="me", added="2026")
    assert store.passages(kept)
    store.put(document("b.py"), pieces("a"), wide, embedder="other", who="me", added="2026")
    assert store.known("s", E) == {"a.py": "1"}


def test_names_are_split_into_their_words() -> None:
    assert split_identifiers("os.readFile(std::vector_map, HTTPServer2)") == [
        *("os.readfile", "os", "readfile", "read", "file"),
        *("std::vector_map", "std", "vector_map", "vector", "map"),
        *("httpserver2", "http", "server2"),
    ]
    assert split_identifiers("__init__ größeÄndern x") == [
        *("__init__", "init", "größeändern", "größe", "ändern", "x")
    ]
    assert split_identifiers("a" * 10_000 + " ... ::  -> \0 'ok'") == ["ok"]


@pytest.mark.parametrize(
    "query",
    ["parse", "json", "parse_json", "FILE", "readFile", "io.readFile", "std::vector", "vector"],
)
def test_a_name_is_found_by_its_parts_and_as_a_whole(store: KnowledgeStore, query: str) -> None:
    put(store, document("noise.py"), "nothing to see", "here neither")
    wanted = put(store, document(), "x = parse_json(io.readFile(name)); std::vector<int> v;")
    ((number, score),) = store.lexical(query, 5)
    assert number == wanted[0]
    assert score > 0


def test_the_rarer_word_counts_more_and_the_language_filters(store: KnowledgeStore) -> None:
    put(store, document(), *[f"value common{n}" for n in range(20)])
    rare = put(store, document("b.py"), "value unusual")
    assert store.lexical("value unusual", 3)[0][0] == rare[0]
    assert len(store.lexical("value", 3)) == 3
    assert store.lexical("value", 0) == []
    assert store.lexical("value unusual", 3, "python")[0][0] == rare[0]
    assert store.lexical("value", 3, "rust") == []


def test_words_that_are_everywhere_are_scored_only_when_there_is_nothing_rarer(
    store: KnowledgeStore, monkeypatch: pytest.MonkeyPatch
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
    ],
    ids=lambda query: repr(query[:12]),
)
def test_a_question_is_data(store: KnowledgeStore, query: str) -> None:
    found = put(store, document(), "value")
    expected = [found[0]] if "value" in split_identifiers(query) else []
    assert [number for number, _ in store.lexical(query, 5)] == expected
    assert store.lexical("value", 5), "the table is still there"


def test_the_files_are_for_their_owner_only(store: KnowledgeStore, tmp_path: Path) -> None:
    put(store, document(), "alpha")
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "k").iterdir()}
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("garbage", [b"not a database at all" * 500, b"SQLite format 3\0" * 500])
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "knowledge.db"
    path.write_bytes(garbage)
    with pytest.raises(EngineError, match=r"knowledge\.db is damaged .* add your sources again"):
        KnowledgeStore(path)


def test_damage_inside_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.db"
    store = KnowledgeStore(path)
    put(store, document(), *["alpha beta gamma " * 50] * 200)
    store.close()
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xaa" * (len(raw) - 4096)
    path.write_bytes(raw)
    with pytest.raises(EngineError) as told:
        KnowledgeStore(path).passages(range(200))
    assert "\n" not in str(told.value)
    assert "is damaged" in str(told.value)


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.db"
    KnowledgeStore(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version=99")
    database.close()
    with pytest.raises(EngineError, match="has format 99, this version reads 1"):
        KnowledgeStore(path)


def test_threads_share_a_store(store: KnowledgeStore) -> None:
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
    import sys
    from pathlib import Path
    import numpy as np
    from twinsmith.adapters.knowledge.store import KnowledgeStore
    from twinsmith.core.knowledge import Document, Piece

    path, name, most = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    store = KnowledgeStore(path)
    piece = Piece(text="alpha beta", symbol="f", first_line=1, last_line=2)
    for n in range(most):
        document = Document(
            source=name, path=str(n % 50), text="", digest=str(n), language="python"
        )
        numbers = store.put(
            document, [piece] * 3, np.ones((3, 4), dtype=np.float32),
            embedder="minilm", who="me", added="2026",
        )
        print(n, *numbers, flush=True)
"""


def writer(path: Path, name: str, most: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path), name, str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_write_at_once_even_at_the_very_first_time(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.db"
    children = [writer(path, name, 20) for name in "abc"]
    given = [line.split()[1:] for child in children for line in child.communicate()[0].splitlines()]
    assert [child.returncode for child in children] == [0, 0, 0]
    numbers = [number for line in given for number in line]
    assert len(set(numbers)) == len(numbers) == 3 * 20 * 3
    store = KnowledgeStore(path)
    assert store.stats().passages == 3 * 20 * 3
    assert store.changed_since(0).generation == 60
    store.close()


@pytest.mark.parametrize("lines", [1, 30, 130])
def test_nothing_acknowledged_is_lost_when_killed(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "knowledge.db"
    with writer(path, "s", 100_000) as child:
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(lines)]
        child.kill()
        said += [line for line in child.stdout if line.endswith("\n")]
    store = KnowledgeStore(path)
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
    store.close()
    checked = sqlite3.connect(path)
    assert checked.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    checked.execute("INSERT INTO words(words) VALUES ('integrity-check')")
    checked.close()
