"""The journal on disk: one chain of JSON lines a run, and one for the system itself.

The system's chain anchors the length and the last hash of every run that ended, so that cutting
lines off the end of a run, or removing its file, shows as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from twinsmith.adapters.journal.chain import Anchor, Chain, read_entries, read_lines
from twinsmith.core.events import SYSTEM, Broken, Entry, Event, first_break
from twinsmith.core.masking import mask, mask_json
from twinsmith.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check of one chain found."""

    run: str
    path: str
    lines: int
    broken: Broken | None


class FileJournal:
    """Keeps events under one folder; any number of processes may write."""

    def __init__(self, folder: Path, clock: Clock, secrets: Iterable[str] = ()) -> None:
        self._folder = folder
        self._clock = clock
        self._secrets = tuple(secrets)
        self._chains: dict[str, Chain] = {}

    async def append(self, event: Event) -> None:
        """Keep an event: masked, in its place in the chain, synced."""
        data = mask_json(dict(event.data), self._secrets)
        assert isinstance(data, dict)
        who = mask(event.who, self._secrets)
        self._chain(event.run).append(replace(event, data=data, who=who))

    def entries(self, run: str) -> list[Entry]:
        """All readable events of a run, in order."""
        return self.entries_since(run, 0)[0]

    def entries_since(self, run: str, offset: int) -> tuple[list[Entry], int]:
        """Events behind an offset, and where to read on."""
        return read_entries(self._path(run), offset)

    def runs(self) -> list[str]:
        """Every run the system's chain knows, oldest first."""
        started = (e.event for e in self.entries(SYSTEM) if e.event.kind == "run.started")
        return list(dict.fromkeys(str(event.data.get("run")) for event in started))

    def anchor(self, run: str) -> Anchor:
        """Length and last hash of a run's chain."""
        return self._chain(run).anchor()

    def check(self, run: str) -> Checked:
        """Follow one chain from its beginning to its end."""
        path = self._path(run)
        lines = read_lines(path)
        broken = first_break(lines)
        if broken is None and run == SYSTEM and not lines and self._has_runs():
            broken = Broken(
                line=1, reason="is missing: there are runs, but the system's chain is gone"
            )
        if broken is None and run != SYSTEM:
            broken = self._beyond_anchor(run, lines)
        return Checked(run=run, path=str(path), lines=len(lines), broken=broken)

    def check_all(self) -> list[Checked]:
        """Follow every chain, the system's first."""
        on_disk = sorted(path.stem for path in self._folder.glob("runs/*.jsonl"))
        known = self.runs()
        strangers = [run for run in on_disk if run not in known]
        return [self.check(run) for run in (SYSTEM, *known, *strangers)]

    def _beyond_anchor(self, run: str, lines: list[str]) -> Broken | None:
        """A whole chain may still be too short: compare it with what the system noted."""
        for entry in self.entries(SYSTEM):
            data = entry.event.data
            if data.get("run") != run:
                continue
            if not lines:
                return Broken(line=1, reason="is missing: the whole file was emptied or removed")
            if entry.event.kind != "run.ended":
                continue
            length = data.get("lines")
            if not isinstance(length, int) or length < 1:
                continue
            if len(lines) < length:
                return Broken(
                    line=len(lines) + 1, reason=f"is missing: {length} lines were written"
                )
            if f'"hash":"{data.get("head")}"' not in lines[length - 1]:
                return Broken(line=length, reason="was replaced: the system noted another hash")
        return None

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
