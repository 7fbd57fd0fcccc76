"""Checks of the journal's chains: the lines of one and what is known about it in, a finding out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinsmith.core.anchor import Anchor, missed
from twinsmith.core.events import SYSTEM, Broken, Event, first_break

ANCHORED = "journal.anchored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check of one chain found; what is only worth knowing is a note."""

    run: str
    path: str
    lines: int
    broken: Broken | None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known about the ends of chains besides the chains themselves."""

    runs: tuple[str, ...]
    """The runs whose chains have lines."""
    system: tuple[Event, ...]
    """What the system's chain tells."""
    unanchored: frozenset[str]
    """The runs that ended without the system's chain being told."""
    heads: Mapping[str, Anchor] | None
    """Where the database says that chains end; None where it keeps no heads of this journal."""
    away: str
    """Why the database does not tell any heads, or nothing."""


def break_of(run: str, lines: Sequence[str], known: Known) -> Broken | None:
    """The first line of a chain that is altered, moved or missing, or None."""
    broken = first_break(lines)
    if broken is None and run == SYSTEM and not lines and known.runs:
        broken = Broken(line=1, reason="is missing: there are runs, but the system's chain is gone")
    if broken is None and run != SYSTEM:
        broken = _beyond_anchors(run, lines, known.system)
    if broken is None and known.heads and run in known.heads:
        broken = missed(known.heads[run], lines, "the database")
    return broken


def note_of(run: str, lines: int, known: Known) -> str:
    """What is not wrong with a whole chain, but leaves a gap in what could be shown."""
    if run in known.unanchored:
        return f"ended, but the system's chain does not say so; twinsmith resume {run} mends it"
    if known.heads is None or not lines:
        return ""
    if known.away:
        return f"the database does not tell where it ends: {known.away}"
    if run not in known.heads:
        return "the database does not know where it ends: it is older, or that was removed"
    newer = lines - known.heads[run].lines
    return f"the database does not know the last {newer} of its lines yet" if newer else ""


def _beyond_anchors(run: str, lines: Sequence[str], system: Sequence[Event]) -> Broken | None:
    """A whole chain may still be too short: compare it with what the system noted."""
    for event in system:
        if event.data.get("run") == run and not lines:
            return Broken(line=1, reason="is missing: the whole chain was emptied or removed")
        anchor = _anchored(run, event)
        broken = missed(anchor, lines, "the system's chain") if anchor else None
        if broken is not None:
            return broken
    return None


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
