"""The store of record in one SQLite file."""

from pathlib import Path

from twinsmith.adapters.knowledge.dialect import Connection
from twinsmith.adapters.knowledge.records import RecordStore
from twinsmith.adapters.knowledge.sqlite_connection import SqliteConnection
from twinsmith.adapters.knowledge.store import MOST_MATCHES, asked_words, worth_scoring


class SqliteStore(RecordStore):
    """A store that needs no server; words are ranked by FTS5's BM25."""

    def __init__(self, path: Path) -> None:
        super().__init__(SqliteConnection(path), _lexical)


def _lexical(connection: Connection, query: str, k: int, language: str) -> list[tuple[int, float]]:
    # Every word is quoted: what a person asks is never read as FTS5's own language.
    asked = ['"' + word.replace('"', '""') + '"' for word in asked_words(query)]
    count = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
    counted = [(connection.rows(count, (word, MOST_MATCHES))[0][0], word) for word in asked]
    wanted = " OR ".join(word for _, word in worth_scoring(counted))
    if not wanted:
        return []
    if not language:
        rows = connection.rows(
            "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (wanted, k),
        )
    else:
        rows = connection.rows(
            "SELECT w.rowid, -w.rank FROM words w JOIN passages p ON p.number = w.rowid "
            "JOIN documents d ON d.number = p.document "
            "WHERE words MATCH ? AND d.language = ? ORDER BY w.rank LIMIT ?",
            (wanted, language, k),
        )
    return [(int(number), float(score)) for number, score in rows]
