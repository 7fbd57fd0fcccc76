"""The behaviour of models over all runs, without reading again what was read before."""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from twinsmith.core.behaviour import Conduct, after, judged, total
from twinsmith.core.board import Board
from twinsmith.core.board import advance as board_after
from twinsmith.core.events import Entry
from twinsmith.core.progress import ENDED
from twinsmith.runs.book import Book
from twinsmith.runs.glance import Glance

MOST_RUNS = 500
"""So many of the latest runs are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    conduct: Conduct
    offset: int
    ended: bool = False


class Behaviour:
    """What the journal told so far of models; all of it can be read anew."""

    def __init__(self, book: Book, glance: Glance) -> None:
        self._book = book
        self._glance = glance
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, run: str) -> Conduct:
        """The behaviour of models in one run."""
        with self._lock:
            known = self._known.pop(run, None) or _Known(conduct=Conduct(), offset=0)
            if not known.ended:
                known = self._read(run, known)
            self._known[run] = known
            if len(self._known) > MOST_RUNS:
                self._known.popitem(last=False)
            return known.conduct

    def all(self) -> Conduct:
        """The behaviour of models in the latest runs."""
        return total(map(self.of, self._book.journal.runs()[-MOST_RUNS:]))

    def _read(self, run: str, known: _Known) -> _Known:
        entries, offset = self._book.journal.entries_since(run, known.offset)
        if not entries:
            return known
        board = self._glance.board(run) if known.offset else _board(run, entries)
        end = next((each for each in reversed(entries) if each.event.kind == "run.ended"), None)
        state = str(end.event.data.get("state", "")) if end is not None else ""
        conduct = judged(
            after(known.conduct, entries), board, ended=state in ENDED, solved=state == "solved"
        )
        return _Known(conduct=conduct, offset=offset, ended=state in ENDED)


def _board(run: str, entries: list[Entry]) -> Board:
    """What a run has come to, whose candidates are not kept: there may be many such runs."""
    board = Board(run=run)
    for entry in entries:
        board = board_after(board, entry)
    return board
