"""The journal over chains of lines, wherever they lie: masked, each key once, checked.

The system's chain anchors the length and the last hash of every run that ended, so that cutting
lines off the end of a run, or removing its chain, shows as well. Where the system's own chain ends,
whoever stored an anchor elsewhere knows; and the database, where it keeps heads.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace

from twinsmith.adapters.journal.chains import Chains
from twinsmith.adapters.journal.checking import ANCHORED, Checked, Known, break_of, note_of
from twinsmith.adapters.journal.heads import Heads, HeadsAway
from twinsmith.core.anchor import Anchor, missed
from twinsmith.core.events import SYSTEM, Entry, Event, Json, seal, to_line
from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.ports import Clock


class ChainedJournal:
    """Keeps events in chains; any number of processes may write."""

    def __init__(
        self,
        chains: Chains,
        clock: Clock,
        masking: Masking = NOTHING_KNOWN,
        heads: Heads | None = None,
    ) -> None:
        self._chains = chains
        self._clock = clock
        self._masking = masking
        self._heads = heads
        self._started: dict[str, None] = {}
        self._read = 0
        self._reading = threading.Lock()

    async def append(self, event: Event) -> None:
        """Keep an event: masked, in its place in the chain, synced."""
        data = self._masking.json(dict(event.data))
        assert isinstance(data, dict)
        masked = replace(event, data=data, who=self._masking.text(event.who))

        def next_line(end: Anchor) -> str:
            at = self._clock.now()
            return to_line(seal(masked, seq=end.lines + 1, at=at, prev=end.head))

        self._chains.append(event.run, event.key, next_line)

    def entries(self, run: str) -> list[Entry]:
        """All readable events of a run, in order."""
        return self.entries_since(run, 0)[0]

    def entries_since(self, run: str, offset: int) -> tuple[list[Entry], int]:
        """Events behind an offset, and where to read on; what an offset counts, the chains know."""
        return self._chains.since(run, offset)

    def runs(self) -> list[str]:
        """Every run the system's chain knows, oldest first."""
        # Asked with every request of a server: only what is new is read.
        with self._reading:
            fresh, self._read = self.entries_since(SYSTEM, self._read)
            begun = (each.event.data for each in fresh if each.event.kind == "run.started")
            self._started |= dict.fromkeys(str(data.get("run")) for data in begun)
            return list(self._started)

    def unanchored(self) -> list[Event]:
        """The ends of runs that the system's chain does not know of: a kill came between."""
        ended = self._told("run.ended")
        open_runs = [run for run in self.runs() if run not in ended]
        lasts = [entry.event for run in open_runs for entry in self.entries(run)]
        return [event for event in lasts if event.kind == "run.ended"]

    def anchor(self, run: str) -> Anchor:
        """Length and last hash of a run's chain."""
        return self._chains.end(run)

    async def anchor_all(self, who: str) -> Anchor:
        """Put the ends of all chains that have none in the system's into it; how that ends then."""
        ended = self._told("run.ended")
        heads: dict[str, Json] = {}
        for run in dict.fromkeys((*self.runs(), *self._kept_runs())):
            if run not in ended:
                anchor = self.anchor(run)
                heads[run] = [anchor.lines, anchor.head]
        await self.append(Event(run=SYSTEM, kind=ANCHORED, who=who, data={"heads": heads}))
        return self.anchor(SYSTEM)

    def check(self, run: str) -> Checked:
        """Follow one chain from its beginning to its end."""
        return self._check(run, self._known())

    def check_all(self, against: Iterable[Anchor] = ()) -> list[Checked]:
        """Follow every chain, the system's first and against anchors that were stored elsewhere."""
        known = self._known()
        names = dict.fromkeys((*self.runs(), *known.runs, *(known.heads or ())))
        system = self._check(SYSTEM, known)
        lines = self._chains.lines(SYSTEM)
        for anchor in against:
            broken = system.broken or missed(anchor, lines, "the anchor that was stored")
            system = replace(system, broken=broken)
        return [system, *(self._check(run, known) for run in names if run != SYSTEM)]

    def _check(self, run: str, known: Known) -> Checked:
        lines = self._chains.lines(run)
        broken = break_of(run, lines, known) or self._chains.misfiled(run)
        note = note_of(run, len(lines), known) if broken is None else ""
        path = self._chains.place(run)
        return Checked(run=run, path=path, lines=len(lines), broken=broken, note=note)

    def _known(self) -> Known:
        heads: Mapping[str, Anchor] | None = None
        away = ""
        try:
            heads = self._heads.all() if self._heads else None
        except HeadsAway as error:
            heads, away = {}, self._masking.text(str(error))
        return Known(
            runs=tuple(self._kept_runs()),
            system=tuple(entry.event for entry in self.entries(SYSTEM)),
            unanchored=frozenset(event.run for event in self.unanchored()),
            heads=heads,
            away=away,
        )

    def _told(self, kind: str) -> dict[str, Event]:
        """What the system's chain says of this kind, by run."""
        events = [entry.event for entry in self.entries(SYSTEM) if entry.event.kind == kind]
        return {str(event.data.get("run")): event for event in events}

    def _kept_runs(self) -> list[str]:
        """The runs whose chains have lines."""
        return [name for name in self._chains.names() if name != SYSTEM]
