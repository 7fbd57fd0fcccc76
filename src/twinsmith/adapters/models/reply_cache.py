"""A cache of answers to questions that were asked before, in a bounded SQLite file.

It also knows which call paid for an answer. A call that is made again, because the process died
before its answer was recorded, gets that answer back as the paid one that it is.
"""

import json
import sqlite3
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from twinsmith.adapters.wal import use_wal
from twinsmith.core.model import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheFigures:
    """Figures about the cache: its size, and how often it had an answer."""

    entries: int
    bytes: int
    hits: int
    misses: int

    @property
    def hit_rate(self) -> float:
        """The share of look-ups that found an answer."""
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else 0.0


class ReplyCache:
    """Keeps the most recently used answers, up to a size in bytes; 0 keeps none."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._most = most_bytes
        self._database: sqlite3.Connection | None = None
        self._hits = self._misses = self._bytes = 0
        if most_bytes <= 0:
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        database = sqlite3.connect(path, timeout=30, isolation_level=None)
        path.chmod(0o600)
        use_wal(database)
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS replies(key TEXT PRIMARY KEY, "
            "reply TEXT NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL)"
        )
        database.execute(
            "CREATE TABLE IF NOT EXISTS figures(name TEXT PRIMARY KEY, value INTEGER NOT NULL)"
        )
        database.execute(
            "CREATE TABLE IF NOT EXISTS versions(model TEXT PRIMARY KEY, version TEXT NOT NULL)"
        )
        # A table of its own: files of earlier releases get it too, and two runs that asked the
        # same at the same time have both paid.
        database.execute(
            "CREATE TABLE IF NOT EXISTS payers(key TEXT NOT NULL, call TEXT NOT NULL, "
            "PRIMARY KEY(key, call)) WITHOUT ROWID"
        )
        # `used` orders what to let go; without an index its maximum is a scan a question.
        database.execute("CREATE INDEX IF NOT EXISTS replies_used ON replies(used)")
        self._database = database
        self._bytes = self._stored()

    def get(self, key: str) -> Reply | None:
        """The cached answer to a question, marked as cached; None where there is none."""
        if self._database is None:
            return None
        row = self._database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        if row is None:
            self._misses += 1
            return None
        self._hits += 1
        self._database.execute(
            "UPDATE replies SET used = (SELECT max(used) + 1 FROM replies) WHERE key = ?", (key,)
        )
        return replace(
            _read(row[0]), cached=True, usd=0.0, first_token_seconds=0.0, failed_attempts=()
        )

    def paid(self, key: str, call: str) -> Reply | None:
        """The answer to a question as it was billed, if this very call paid for it."""
        if self._database is None:
            return None
        row = self._database.execute(
            "SELECT reply FROM replies JOIN payers USING (key) WHERE key = ? AND call = ?",
            (key, call),
        ).fetchone()
        return _read(row[0]) if row else None

    def put(self, key: str, reply: Reply, call: str) -> None:
        """Keep an answer with the call that paid for it; the longest unused ones make room."""
        if self._database is None:
            return
        text = json.dumps(asdict(reply), ensure_ascii=False)
        size = len(text.encode())
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute(
                "INSERT OR REPLACE INTO replies VALUES "
                "(?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM replies))",
                (key, text, size),
            )
            self._database.execute("INSERT OR IGNORE INTO payers VALUES (?, ?)", (key, call))
        self._bytes += size
        if self._bytes > self._most:
            self._evict()

    def version(self, model: str) -> str:
        """The version behind a model's name when it last answered; empty before that."""
        if self._database is None:
            return ""
        row = self._database.execute(
            "SELECT version FROM versions WHERE model = ?", (model,)
        ).fetchone()
        return str(row[0]) if row else ""

    def note_version(self, model: str, version: str) -> None:
        """Note a model's version, so that answers of another version are not given again."""
        if self._database is not None and version != self.version(model):
            self._database.execute(
                "INSERT OR REPLACE INTO versions VALUES (?, ?)", (model, version)
            )

    def figures(self) -> CacheFigures:
        """The size of the cache and its use so far."""
        if self._database is None:
            return CacheFigures(entries=0, bytes=0, hits=0, misses=0)
        entries, size = self._database.execute(
            "SELECT count(*), coalesce(sum(size), 0) FROM replies"
        ).fetchone()
        counted = dict(self._database.execute("SELECT name, value FROM figures").fetchall())
        return CacheFigures(
            entries=entries,
            bytes=size,
            hits=counted.get("hits", 0) + self._hits,
            misses=counted.get("misses", 0) + self._misses,
        )

    def close(self) -> None:
        """Save the figures and close the file."""
        if self._database is None:
            return
        for name, count in (("hits", self._hits), ("misses", self._misses)):
            self._database.execute(
                "INSERT INTO figures VALUES (?, ?) "
                "ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
                (name, count),
            )
        self._database.close()
        self._database = None

    def _evict(self) -> None:
        """Delete the longest unused answers, a tenth more than needed, to have room for a while."""
        assert self._database is not None
        self._database.execute(
            "DELETE FROM replies WHERE key IN (SELECT key FROM (SELECT key, sum(size) OVER "
            "(ORDER BY used DESC) AS total FROM replies) WHERE total > ?)",
            (self._most * 9 // 10,),
        )
        self._database.execute("DELETE FROM payers WHERE key NOT IN (SELECT key FROM replies)")
        self._bytes = self._stored()

    def _stored(self) -> int:
        assert self._database is not None
        (size,) = self._database.execute("SELECT coalesce(sum(size), 0) FROM replies").fetchone()
        return int(size)


def _read(text: str) -> Reply:
    raw = json.loads(text)
    return Reply(**{**raw, "failed_attempts": tuple(raw["failed_attempts"])})
