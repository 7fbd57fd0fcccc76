"""What only a SQLite store can get wrong: its file, older formats, a full disk."""

import os
import sqlite3
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.stores import E, Place, all_numbers, document, ones, put, put_until_it_fails
from tests.strictness import elsewhere
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.core.errors import EngineError


def test_the_files_are_for_their_owner_only(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "k" / "knowledge.db")
    put(store, document(), "alpha")
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "k").iterdir()}
    store.close()
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("garbage", [b"not a database at all" * 500, b"SQLite format 3\0" * 500])
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "knowledge.db"
    path.write_bytes(garbage)
    with pytest.raises(EngineError, match=r"knowledge\.db is damaged .* add your sources again"):
        SqliteStore(path)


def test_damage_inside_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.db"
    store = SqliteStore(path)
    put(store, document(), *["alpha beta gamma " * 50] * 200)
    store.close()
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xaa" * (len(raw) - 4096)
    path.write_bytes(raw)
    store = SqliteStore(path)
    with pytest.raises(EngineError) as told:
        store.passages(range(200))
    store.close()
    assert "\n" not in str(told.value)
    assert "is damaged" in str(told.value)


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.db"
    SqliteStore(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version=99")
    database.close()
    with pytest.raises(EngineError, match="has format 99, this version reads 2"):
        SqliteStore(path)


FORMAT_1 = """
CREATE TABLE documents(number INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL,
  digest TEXT NOT NULL, language TEXT NOT NULL, licence TEXT NOT NULL, embedder TEXT NOT NULL,
  added TEXT NOT NULL, who TEXT NOT NULL, UNIQUE(source, path));
CREATE TABLE passages(number INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, text TEXT NOT NULL,
  symbol TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL);
CREATE INDEX passages_document ON passages(document);
CREATE TABLE embedders(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL);
CREATE TABLE vectors(passage INTEGER NOT NULL REFERENCES passages ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders, raw BLOB NOT NULL,
  UNIQUE(passage, embedder));
CREATE TABLE tombstones(number INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE INDEX tombstones_generation ON tombstones(generation);
CREATE TABLE state(identity TEXT NOT NULL, generation INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(text,
  tokenize = "unicode61 remove_diacritics 2 tokenchars '_.:'");
INSERT INTO documents VALUES (1, 's', 'a.py', '1', 'python', 'MIT', 'minilm', '2026', 'me');
INSERT INTO documents VALUES (2, 's', 'b.py', '2', 'python', 'MIT', 'other', '2026', 'me');
INSERT INTO passages VALUES (1, 1, 'alpha', 'f0', 1, 2), (3, 2, 'beta', 'f1', 3, 4);
INSERT INTO words(rowid, text) VALUES (1, 'f0 alpha'), (3, 'f1 beta');
INSERT INTO embedders VALUES (1, 'minilm', 4), (2, 'other', 4);
INSERT INTO tombstones VALUES (2, 3);
INSERT INTO state VALUES ('the same', 3);
PRAGMA user_version=1;
"""


@pytest.fixture
def format_1(tmp_path: Path) -> Path:
    path = tmp_path / "knowledge.db"
    database = sqlite3.connect(path)
    database.executescript(FORMAT_1)
    raw = np.arange(4, dtype="<f4").tobytes()
    database.execute("INSERT INTO vectors VALUES (1, 1, ?), (3, 2, ?)", (raw, raw))
    database.commit()
    database.close()
    return path


def test_a_file_of_format_1_is_brought_up_to_date(format_1: Path) -> None:
    for _ in range(2):
        store = SqliteStore(format_1)
        assert store.identity == "the same"
        assert store.known("s") == {"a.py": "1", "b.py": "2"}
        assert store.embedders() == {"minilm": 1, "other": 1}
        assert store.without_vector(E, 10) == [(3, "f1", "beta")]
        assert [n for n, _ in store.lexical("beta", 5)] == [3]
        ((_, vectors),) = store.vectors(E)
        assert vectors.tolist() == [[0, 1, 2, 3]]
        assert store.changed_since(0).deleted == (2,)
        store.close()
    store = SqliteStore(format_1)
    assert store.add_vectors(E, [3], ones(1)) == 1
    assert put(store, document(digest="3"), "gamma") == (4,)
    assert store.without_vector(E, 10) == []
    store.close()


def test_what_goes_wrong_on_the_way_leaves_format_1(format_1: Path) -> None:
    database = sqlite3.connect(format_1)
    database.execute("ALTER TABLE embedders ADD COLUMN complete INTEGER")
    before = list(database.iterdump())
    with pytest.raises(EngineError, match="duplicate column name"):
        SqliteStore(format_1)
    assert list(database.iterdump()) == before
    assert database.execute("PRAGMA user_version").fetchone() == (1,)
    database.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        elsewhere("a small disk cannot be mounted here; run as root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_one_line_and_loses_nothing(small_disk: Path) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(bytes(1_000_000))
    store = SqliteStore(small_disk / "knowledge.db")
    said, told = put_until_it_fails(store, "alpha " * 1000)
    assert "full; make room on its disk" in told
    assert "\n" not in told
    assert said == len(store.known("s")) == len(all_numbers(store)) > 3
    filler.unlink()
    put(store, document("after"), "beta")
    store.close()
    again = SqliteStore(small_disk / "knowledge.db")
    assert len(again.known("s")) == said + 1
    assert len(again.lexical("alpha", 10_000)) == said
    again.close()


def test_a_file_that_may_not_grow_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    place = Place(address=str(tmp_path / "knowledge.db"))
    child = place.child("""
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        print(*put_until_it_fails(store, "alpha " * 1000), sep="\\n")
    """)
    said, told = child.communicate(timeout=60)[0].splitlines()
    assert "make room on its disk" in told
    store = place.open()
    assert len(store.known("s")) == int(said) > 3
    put(store, document("after"), "beta")
    store.close()
