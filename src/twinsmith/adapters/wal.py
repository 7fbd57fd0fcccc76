"""SQLite for several processes at once: readers beside a writer."""

import sqlite3
import time

LONGEST_WAIT = 30.0
PAUSE = 0.02


def use_wal(database: sqlite3.Connection) -> None:
    """Turn write-ahead logging on.

    The first process to open a new file changes it alone. Others are refused at once, whatever
    timeout they were given, so they try again here.
    """
    end = time.monotonic() + LONGEST_WAIT
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(PAUSE)
        else:
            return
