"""Several processes open a new database at the same moment."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from twinsmith.adapters import wal
from twinsmith.adapters.wal import use_wal

OPEN = """
import sqlite3, sys
from twinsmith.adapters.wal import use_wal
for n in range(30):
    database = sqlite3.connect(f"{sys.argv[1]}/{n}.db", timeout=30, isolation_level=None)
    use_wal(database)
    database.execute("CREATE TABLE IF NOT EXISTS t(n)")
    database.execute("INSERT INTO t VALUES (1)")
    database.close()
"""


def test_all_of_them_get_it(tmp_path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, "-c", OPEN, str(tmp_path)], stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    assert [child.communicate()[1] for child in children] == [b"", b"", b""]
    with closing(sqlite3.connect(tmp_path / "29.db")) as database:
        assert database.execute("SELECT count(*) FROM t").fetchone() == (3,)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_who_never_gets_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal, "LONGEST_WAIT", 0.1)
    path = tmp_path / "held.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with (
            closing(sqlite3.connect(path, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            use_wal(other)


def test_a_file_that_is_no_database_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("this is no database" * 100)
    with (
        closing(sqlite3.connect(path)) as database,
        pytest.raises(sqlite3.DatabaseError, match="not a database"),
    ):
        use_wal(database)
