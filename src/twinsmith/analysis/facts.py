"""Facts of a journal in DuckDB, brought up to date block by block, in bounded memory.

Nothing in here is kept for good: whoever opens it reads the journal from its beginning, once, and
after that only what is new. It is thrown away with the process.
"""

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from twinsmith.analysis.lines import picked
from twinsmith.analysis.tables import MADE, OF_RUNS, READ, TAKEN
from twinsmith.analysis.truths import SEEN, SETTLED
from twinsmith.core.behaviour.figures import Read
from twinsmith.core.blocks import Block
from twinsmith.core.events import SYSTEM

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Value = str | int | float | None
SPOOL_BYTES = 32 * 1024 * 1024
"""So much of picked lines is handed to DuckDB at once."""


class Facts:
    """What the journal told so far of models; for one thread at a time."""

    def __init__(self, *, memory_mb: int = 512, threads: int = 2) -> None:
        import duckdb

        folder = tempfile.mkdtemp(prefix="twinsmith-analysis-")
        # Whoever holds this forgets it when the process ends, or earlier; either is a clean end.
        self._removed = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._spool = Path(folder) / "lines.jsonl"
        # What does not fit into memory goes to this folder, and away with it.
        self._database: DuckDBPyConnection = duckdb.connect(
            config={
                "memory_limit": f"{memory_mb}MB",
                "threads": threads,
                "temp_directory": folder,
                "enable_external_access": True,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "preserve_insertion_order": False,
            }
        )
        for statement in (*MADE, *SETTLED, *SEEN):
            self._database.execute(statement)
        self._offsets: dict[str, int] = {}
        self._read: dict[str, Read] = {}
        self._version = self._settled = 0

    @property
    def offsets(self) -> Mapping[str, int]:
        """How far each chain was read."""
        return self._offsets

    @property
    def read(self) -> Read:
        """What was read so far."""
        all_read = self._read.values()
        return Read(
            lines=sum(each.lines for each in all_read),
            torn=sum(each.torn for each in all_read),
            altered=sum(each.altered for each in all_read),
        )

    @property
    def version(self) -> int:
        """A number that grows whenever something was told."""
        return self._version

    def take(self, blocks: Iterable[Block]) -> None:
        """Read blocks, whatever chains they are of."""
        spooled = 0
        with self._spool.open("wb") as spool:
            for block in blocks:
                if block.anew:
                    self._forget(block.chain)
                kept, read = picked(block.text)
                self._count(block, read)
                for line in kept:
                    spool.write(line + b"\n")
                    spooled += len(line) + 1
                if spooled >= SPOOL_BYTES:
                    spool.flush()
                    self._parse()
                    spool.seek(0)
                    spool.truncate()
                    spooled = 0
            spool.flush()
            if spooled:
                self._parse()

    def ask(self, words: str, values: Sequence[Value] = ()) -> list[tuple[object, ...]]:
        """The rows that answer a question in SQL."""
        if self._settled != self._version:
            for statement in SETTLED:
                self._database.execute(statement)
            self._settled = self._version
        return self._database.execute(words, list(values)).fetchall()

    def close(self) -> None:
        """Throw everything away."""
        self._database.close()
        self._removed()

    def _parse(self) -> None:
        self._version += 1
        self._database.execute(READ, {"file": str(self._spool)})
        for statement in TAKEN:
            self._database.execute(statement)

    def _count(self, block: Block, read: Read) -> None:
        before = self._read.get(block.chain, Read())
        self._offsets[block.chain] = block.offset
        self._read[block.chain] = replace(
            before,
            lines=before.lines + read.lines,
            torn=before.torn + read.torn,
            altered=before.altered + read.altered,
        )

    def _forget(self, chain: str) -> None:
        """Read a chain from its beginning: it is not the one that it was."""
        self._version += 1
        self._read.pop(chain, None)
        for table in OF_RUNS:
            self._database.execute(f"DELETE FROM {table} WHERE chain = ?", [chain])
        if chain == SYSTEM:
            self._database.execute("DELETE FROM incidents")
