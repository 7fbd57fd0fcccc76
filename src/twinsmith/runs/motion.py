"""What moves in the system, read from the ends of the journal's chains as they grow."""

import threading
from collections import OrderedDict, deque
from collections.abc import Collection

from twinsmith.core.events import SYSTEM
from twinsmith.core.motion import Motion, advance
from twinsmith.runs.book import Book
from twinsmith.runs.glance import Glance

LATEST = 8
MOST_FOLLOWED = 60


class Following:
    """What every part did last; all of it can be read anew, by any other server too."""

    def __init__(self, book: Book, glance: Glance) -> None:
        self._book = book
        self._glance = glance
        self._motion = Motion()
        self._system = 0
        self._offsets: OrderedDict[str, int] = OrderedDict()
        self._latest: deque[str] = deque(maxlen=LATEST)
        self._lock = threading.Lock()

    def now(self, driven: Collection[str]) -> Motion:
        """What moved up to now: in the system's own chain, in driven runs, in the latest ones."""
        with self._lock:
            self._system = self._read(SYSTEM, self._system)
            # The latest are followed to their ends, which come when nobody drives them any more.
            for run in dict.fromkeys((*self._latest, *driven)):
                self._offsets[run] = self._read(run, self._offsets.pop(run, 0))
            while len(self._offsets) > MOST_FOLLOWED:
                self._offsets.popitem(last=False)
            return self._motion

    def latest(self) -> tuple[str, ...]:
        """The runs that were begun last, newest first."""
        with self._lock:
            self._system = self._read(SYSTEM, self._system)
            return tuple(reversed(self._latest))

    def _read(self, chain: str, offset: int) -> int:
        entries, offset = self._book.journal.entries_since(chain, offset)
        for entry in entries:
            self._motion = advance(self._motion, entry, self._ensemble_of)
            if chain == SYSTEM and entry.event.kind == "run.started":
                self._latest.append(str(entry.event.data.get("run", "")))
        return offset

    def _ensemble_of(self, run: str, candidate: int | None) -> int:
        """The ensemble that wrote a candidate of a run, or its winner; 0 where nobody knows."""
        board = self._glance.board(run)
        number = board.winner if candidate is None else candidate
        found = board.candidate(number) if number is not None else None
        if found is not None and found.ensemble:
            return found.ensemble
        return next(
            (
                each.number
                for each in self._glance.progress(run).ensembles
                if number in each.candidates
            ),
            0,
        )
