"""How far runs have come, without reading again what was read before."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from twinsmith.core.board import Board
from twinsmith.core.board import advance as board_after
from twinsmith.core.progress import Progress, advance
from twinsmith.runs.book import Book

MOST_KEPT = 400


@dataclass(slots=True)
class _Known:
    progress: Progress
    board: Board
    offset: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Glance:
    """What the journal told so far of runs that somebody looked at; all of it can be read anew."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def progress(self, run: str) -> Progress:
        """How far a run has come; one that nobody drives any more is interrupted."""
        return self.progresses([run])[0]

    def progresses(self, runs: Iterable[str]) -> list[Progress]:
        """How far runs have come, in their order."""
        found = [self._read(run).progress for run in runs]
        if not any(each.state == "running" for each in found):
            return found
        names = {each.name for each in self._book.workers()}
        driven = {
            each.run
            for each in self._book.driving.listed()
            if each.state == "driven" and each.worker in names
        }
        return [
            replace(each, state="interrupted")
            if each.state == "running" and each.run not in driven
            else each
            for each in found
        ]

    def board(self, run: str) -> Board:
        """What lies on the table of a run: candidates, checks, results."""
        return self._read(run).board

    def _read(self, run: str) -> _Known:
        with self._lock:
            known = self._known.pop(run, None) or _Known(Progress(run=run), Board(run=run))
            self._known[run] = known
            if len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)
        with known.lock:
            entries, offset = self._book.journal.entries_since(run, known.offset)
            for entry in entries:
                known.progress = advance(known.progress, entry)
                known.board = board_after(known.board, entry)
            known.offset = offset
            return _Known(known.progress, known.board)
