"""The journal on disk: one chain of JSON lines a run, and one for the system itself.

The system's chain anchors the length and the last hash of every run that ended, so that cutting
lines off the end of a run, or removing its file, shows as well. Where the chains end, the system's
too, the database knows; and whoever stored an anchor elsewhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from twinsmith.adapters.journal.chain import Chain, read_entries, read_lines
from twinsmith.adapters.journal.heads import Heads, HeadsAway
from twinsmith.core.anchor import Anchor, missed
from twinsmith.core.events import SYSTEM, Broken, Entry, Event, Json, first_break
from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.ports import Clock

ANCHORED = "journal.anchored"
SHORTEST_PAUSE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check of one chain found; what is only worth knowing is a note."""

    run: str
    path: str
    lines: int
    broken: Broken | None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What is known about the ends of chains besides the chains themselves."""

    heads: Mapping[str, Anchor]
    away: str
    """Why the database does not tell any, or nothing."""
    unanchored: frozenset[str]


class FileJournal:
    """Keeps events under one folder; any number of processes may write."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        masking: Masking = NOTHING_KNOWN,
        heads: Heads | None = None,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._masking = masking
        self._heads = heads
        self._ask_again = 0.0
        self._chains: dict[str, Chain] = {}

    async def append(self, event: Event) -> None:
        """Keep an event: masked, in its place in the chain, synced."""
        data = self._masking.json(dict(event.data))
        assert isinstance(data, dict)
        who = self._masking.text(event.who)
        chain = self._chain(event.run)
        before = chain.append(replace(event, data=data, who=who))
        if before is not None:
            self._move_head(event.run, before, chain.seen)

    def entries(self, run: str) -> list[Entry]:
        """All readable events of a run, in order."""
        return self.entries_since(run, 0)[0]

    def entries_since(self, run: str, offset: int) -> tuple[list[Entry], int]:
        """Events behind an offset, and where to read on."""
        return read_entries(self._path(run), offset)

    def runs(self) -> list[str]:
        """Every run the system's chain knows, oldest first."""
        return list(self._told("run.started"))

    def unanchored(self) -> list[Event]:
        """The ends of runs that the system's chain does not know of: a kill came between."""
        ended = self._told("run.ended")
        open_runs = [run for run in self.runs() if run not in ended]
        lasts = [entry.event for run in open_runs for entry in self.entries(run)]
        return [event for event in lasts if event.kind == "run.ended"]

    def anchor(self, run: str) -> Anchor:
        """Length and last hash of a run's chain."""
        return self._chain(run).anchor()

    async def anchor_all(self, who: str) -> Anchor:
        """Put the ends of all chains that have none in the system's into it; how that ends then."""
        ended = self._told("run.ended")
        heads: dict[str, Json] = {}
        for run in self._all_runs():
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
        runs = [run for run in dict.fromkeys((*self._all_runs(), *known.heads)) if run != SYSTEM]
        system = self._check(SYSTEM, known)
        lines = read_lines(self._path(SYSTEM))
        for anchor in against:
            broken = system.broken or missed(anchor, lines, "the anchor that was stored")
            system = replace(system, broken=broken)
        return [system, *(self._check(run, known) for run in runs)]

    def _check(self, run: str, known: _Known) -> Checked:
        path = self._path(run)
        lines = read_lines(path)
        broken = first_break(lines)
        if broken is None and run == SYSTEM and not lines and self._has_runs():
            broken = Broken(
                line=1, reason="is missing: there are runs, but the system's chain is gone"
            )
        if broken is None and run != SYSTEM:
            broken = self._beyond_anchors(run, lines)
        if broken is None and run in known.heads:
            broken = missed(known.heads[run], lines, "the database")
        note = self._note(run, len(lines), known) if broken is None else ""
        return Checked(run=run, path=str(path), lines=len(lines), broken=broken, note=note)

    def _note(self, run: str, lines: int, known: _Known) -> str:
        """What is not wrong, but leaves a gap in what could be shown."""
        if run in known.unanchored:
            return f"ended, but the system's chain does not say so; twinsmith resume {run} mends it"
        if self._heads is None or not lines:
            return ""
        if known.away:
            return f"the database does not tell where it ends: {known.away}"
        if run not in known.heads:
            return "the database does not know where it ends: it is older, or that was removed"
        newer = lines - known.heads[run].lines
        return f"the database does not know the last {newer} of its lines yet" if newer else ""

    def _beyond_anchors(self, run: str, lines: list[str]) -> Broken | None:
        """A whole chain may still be too short: compare it with what the system noted."""
        for entry in self.entries(SYSTEM):
            data = entry.event.data
            anchor = _anchored(run, entry.event)
            if data.get("run") == run and not lines:
                return Broken(line=1, reason="is missing: the whole file was emptied or removed")
            broken = missed(anchor, lines, "the system's chain") if anchor else None
            if broken is not None:
                return broken
        return None

    def _move_head(self, run: str, before: Anchor, after: Anchor) -> None:
        """Tell the database where a chain ends now; one that is behind catches up."""
        if self._heads is None or self._clock.seconds() < self._ask_again:
            return
        began = self._clock.seconds()
        try:
            if not self._heads.move(run, before, after):
                head = self._heads.all().get(run)
                # One that does not lie on the chain stays: the chain was cut or forged.
                if head and head.lines < after.lines and not self._strays(run, head):
                    self._heads.move(run, head, after)
        except HeadsAway:
            # A later line takes the head along; who takes long to say no is seldom asked.
            now = self._clock.seconds()
            self._ask_again = now + SHORTEST_PAUSE + (now - began) * 20

    def _strays(self, run: str, head: Anchor) -> bool:
        return missed(head, read_lines(self._path(run)), "") is not None

    def _known(self) -> _Known:
        heads: Mapping[str, Anchor] = {}
        away = ""
        try:
            heads = self._heads.all() if self._heads else {}
        except HeadsAway as error:
            away = self._masking.text(str(error))
        ended = frozenset(event.run for event in self.unanchored())
        return _Known(heads=heads, away=away, unanchored=ended)

    def _told(self, kind: str) -> dict[str, Event]:
        """What the system's chain says of this kind, by run."""
        events = [entry.event for entry in self.entries(SYSTEM) if entry.event.kind == kind]
        return {str(event.data.get("run")): event for event in events}

    def _all_runs(self) -> list[str]:
        on_disk = sorted(path.stem for path in self._folder.glob("runs/*.jsonl"))
        return list(dict.fromkeys((*self.runs(), *on_disk)))

    def _has_runs(self) -> bool:
        return any(self._folder.glob("runs/*.jsonl"))

    def _chain(self, run: str) -> Chain:
        if run not in self._chains:
            self._chains[run] = Chain(self._path(run), self._clock)
        return self._chains[run]

    def _path(self, run: str) -> Path:
        if run == SYSTEM:
            return self._folder / f"{SYSTEM}.jsonl"
        return self._folder / "runs" / f"{run}.jsonl"


def _anchored(run: str, event: Event) -> Anchor | None:
    """What an event of the system's chain says about the end of a run's."""
    lines, head = event.data.get("lines"), event.data.get("head")
    if event.kind == ANCHORED:
        heads = event.data.get("heads")
        known = heads.get(run) if isinstance(heads, dict) else None
        lines, head = known if isinstance(known, list) and len(known) == 2 else (None, None)
    elif event.kind != "run.ended" or event.data.get("run") != run:
        return None
    return Anchor(lines=lines, head=str(head)) if isinstance(lines, int) else None
